// The core's own tests, without Python: what only a build with sanitizers and assertions can show.

#include <cstdio>

#include "check.hpp"

static CoreTest* newest = nullptr;

CoreTest::CoreTest(const char* test_name, void (*test)())
    : name(test_name), run(test), next(newest) {
  newest = this;
}

int main() {
  int count = 0;
  for (const CoreTest* test = newest; test != nullptr; test = test->next, ++count) {
    std::printf("%s\n", test->name);
    test->run();
  }
  std::printf("%d passed, 0 failed\n", count);
  return 0;
}
