#include "search/random64.hpp"

#include "check.hpp"

using namespace spillway;

CORE_TEST(random64_has_the_published_numbers) {
  Random64 zero(0);
  EXPECT(zero.next_word() == 0xE220A8397B1DCDAFU);
  EXPECT(zero.next_word() == 0x6E789E6AA1B965F4U);
  Random64 random(42);
  for (int draw = 0; draw < 1000; ++draw) {
    const double fraction = random.uniform();
    const std::int64_t number = random.below(7);
    EXPECT(fraction > 0.0 && fraction < 1.0 && number >= 0 && number < 7);
  }
}
