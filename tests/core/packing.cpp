#include "search/packing.hpp"

#include <random>

#include "check.hpp"
#include "search/subset.hpp"

using namespace spillway;

namespace {

/// Whether all units are placed and no bin is overfilled.
bool packs(const Amounts& units, const Amounts& sizes, Amounts capacities, const Amounts& taken) {
  const std::size_t bins = capacities.size();
  for (std::size_t item = 0; item < units.size(); ++item) {
    std::int64_t placed = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const std::int64_t count = taken[item * bins + bin];
      if (count < 0) return false;
      placed += count;
      capacities[bin] -= count * sizes[item];
    }
    if (placed != units[item]) return false;
  }
  for (const std::int64_t left : capacities) {
    if (left < 0) return false;
  }
  return true;
}

Amounts drawn(std::mt19937_64& random, std::size_t count, std::int64_t least, std::int64_t most) {
  Amounts values;
  while (values.size() < count) {
    values.push_back(
        least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1)));
  }
  return values;
}

}  // namespace

CORE_TEST(tightest_fit_keeps_what_it_has_placed) {
  Amounts capacities{20, 5, 9}, taken(3);
  EXPECT(tightest_fit(3, 4, capacities, taken.data()));
  EXPECT(taken == (Amounts{0, 1, 2}) && capacities == (Amounts{20, 1, 1}));
  EXPECT(!tightest_fit(6, 4, capacities, taken.data()));
  EXPECT(taken == (Amounts{5, 0, 0}) && capacities == (Amounts{0, 1, 1}));
}

CORE_TEST(packings_pack_and_budgets_hold) {
  std::mt19937_64 random(11);
  Packer packer;
  int verdicts[3] = {0, 0, 0};
  for (int round = 0; round < 3000; ++round) {
    const std::size_t items = random() % 7;
    const Amounts units = drawn(random, items, 0, 4), sizes = drawn(random, items, 0, 19);
    const Amounts capacities = drawn(random, random() % 6, 0, 40);
    const auto budget = static_cast<std::int64_t>(random() % 200);
    Amounts taken;
    const PackingAnswer answer = packer.pack(units, sizes, capacities, budget, taken);
    EXPECT(answer.steps <= budget + 1);
    EXPECT((answer.verdict == Fits::UNDECIDED) == (answer.steps == budget + 1));
    EXPECT(taken.size() == items * capacities.size());
    if (answer.verdict == Fits::YES && !capacities.empty()) {
      EXPECT(packs(units, sizes, capacities, taken));
    }
    ++verdicts[static_cast<int>(answer.verdict) + 1];
  }
  EXPECT(verdicts[0] > 0 && verdicts[1] > 0 && verdicts[2] > 0);
}

CORE_TEST(chosen_sets_keep_to_their_limits) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 600; ++round) {
    SubsetProblem problem;
    const std::size_t items = random() % 12;
    problem.units = drawn(random, items, 1, 4);
    problem.sizes = drawn(random, items, 0, 8);
    for (const std::int64_t wait : drawn(random, items, 0, 9)) {
      problem.waits.push_back(static_cast<double>(wait) / 3.0);
    }
    problem.free_units = static_cast<std::int64_t>(random() % 14);
    problem.capacities = drawn(random, random() % 4, 0, 20);
    problem.units_first = random() % 2 == 0;
    if (items > 0 && random() % 3 == 0) problem.mandatory.push_back(random() % items);
    problem.loads.push_back(drawn(random, items, 0, 4));
    problem.load_limits.push_back(10);
    const SubsetBudget budget{static_cast<std::int64_t>(random() % 300), 20,
                              random() % 2 ? 2'000'000 : 0};
    std::size_t asked = 0;
    const SubsetChoice choice =
        branch_and_bound(problem, budget, [&](const std::vector<std::size_t>&) {
          ++asked;
          return Settlement{};
        });
    if (!choice.best) {
      EXPECT(!choice.proven || !choice.bound);
      continue;
    }
    std::int64_t free = problem.free_units, load = problem.load_limits[0];
    Amounts units, sizes;
    for (const std::size_t item : choice.best->items) {
      free -= problem.units[item];
      load -= problem.loads[0][item];
      // items without size have no bin
      units.push_back(problem.sizes[item] > 0 ? problem.units[item] : 0);
      sizes.push_back(problem.sizes[item]);
    }
    EXPECT(free >= 0 && load >= 0);
    EXPECT(packs(units, sizes, problem.capacities, choice.best->taken));
    EXPECT(!(choice.proven && asked > 0) || choice.bound);
  }
}
