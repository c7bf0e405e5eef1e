#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the program with the place and the text of an expectation that does not hold.
#define EXPECT(condition)                                                           \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (false)

/// A test by its name; registered before `main` begins.
struct CoreTest {
  CoreTest(const char* name, void (*run)());

  const char* name;
  void (*run)();
  CoreTest* next;
};

#define CORE_TEST(name)                                 \
  static void name();                                   \
  static const CoreTest registered_##name(#name, name); \
  static void name()
