#include "book/timeline.hpp"

#include <random>
#include <vector>

#include "check.hpp"
#include "search/filling.hpp"
#include "search/node_space.hpp"
#include "search/plan.hpp"

using namespace spillway;

namespace {

using Random = std::mt19937;

std::int64_t below(Random& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(limit));
}

/// A machine with a tree of links, partitions, a licence and a layered resource.
MachinePtr machine_of(Random& random) {
  Facts facts;
  facts.nodes = 1 + below(random, 130);
  const std::int64_t storages = below(random, 5);
  for (std::int64_t place = 0; place < storages; place++) facts.storage_bytes.push_back(10 + place);
  facts.link_rates = {40, 30, 30};
  facts.link_parents = {-1, 0, 0};
  for (std::int64_t node = 0; node < facts.nodes; node++) {
    facts.node_link.push_back(node % 7 == 0 ? -1 : static_cast<std::int32_t>(1 + node % 2));
    facts.own.push_back(static_cast<std::int32_t>(storages));
    for (std::int64_t rank = 0; rank < storages; rank++) {
      facts.nearest.push_back(static_cast<std::int32_t>((node / 9 + rank) % storages));
    }
  }
  std::vector<std::int32_t> low, high;
  for (std::int32_t node = 0; node < facts.nodes; node++) (node % 3 ? low : high).push_back(node);
  facts.partitions = {low, high};
  facts.pools.resize(3);
  facts.pools[0].count = 5;
  for (std::size_t layer = 1; layer < 3; layer++) {
    facts.pools[layer].count = 6;
    facts.pools[layer].resource = 0;
    facts.pools[layer].mode = static_cast<std::int32_t>(1 + below(random, 3));
    facts.pools[layer].nodes = layer == 1 ? low : high;
  }
  facts.pools[2].mode = facts.pools[1].mode;
  facts.node_order = static_cast<NodeOrder>(below(random, 3));
  facts.storage_order = static_cast<StorageOrder>(below(random, 10));
  return std::make_shared<Machine>(facts);
}

Job job_of(Random& random, const Machine& machine, bool lives) {
  Job job;
  job.nodes = 1 + below(random, machine.facts().nodes);
  job.walltime_s = static_cast<double>(1 + below(random, 50));
  job.bb_bytes = below(random, 2) ? below(random, 9) : 0;
  job.stripes = job.bb_bytes && below(random, 3) == 0 ? 1 + below(random, 3) : 0;
  job.io_rate = below(random, 2) ? below(random, 6) : 0;
  if (below(random, 3) == 0) job.partitions = {static_cast<std::int32_t>(below(random, 2))};
  if (below(random, 3) == 0) job.pools = {below(random, 3), below(random, 2), 0};
  if (job.pools.size() == 3) job.pools[2] = job.pools[1];
  if (lives && below(random, 3) == 0) job.lives = Lives{1.5, -0.5, 2.0};
  return job;
}

}  // namespace

CORE_TEST(what_a_timeline_finds_it_can_book) {
  Random random(1);
  for (int world = 0; world < 60; world++) {
    const MachinePtr machine = machine_of(random);
    Timeline timeline(machine, 5.0);
    const Snapshot empty = timeline.snapshot();
    struct Booked {
      double start_s, end_s;
      Allocation allocation;
    };
    std::vector<Booked> booked;
    Refusal why;
    for (int step = 0; step < 40; step++) {
      const Job job = job_of(random, *machine, true);
      Allocation found;
      const double first_s = 5.0 + static_cast<double>(below(random, 40));
      const double start_s =
          timeline.earliest_fit(job, job.walltime_s, first_s, NEVER, ALL_KINDS, found);
      if (start_s < NEVER) {
        const double end_s = start_s + job.walltime_s;
        EXPECT(timeline.reserve(start_s, end_s, found, ALL_KINDS, why));
        EXPECT(!timeline.reserve(start_s, end_s, found, NODES, why));
        EXPECT(why.fault == Fault::NODE);
        booked.push_back({start_s, end_s, found});
      }
      EXPECT(timeline.check().empty());
    }
    Timeline copy(timeline);
    for (const Booked& one : booked) {
      EXPECT(timeline.release(one.start_s, one.end_s, one.allocation, ALL_KINDS, why));
    }
    EXPECT(timeline.size() == 1 && timeline.check().empty());
    timeline.restore(empty);
    EXPECT(timeline.free_nodes_now() == machine->facts().nodes);
    if (machine->storages) {
      copy.drain(0, 4);
      EXPECT(copy.check().empty());
      copy.close({0}, {0});
      copy.reopen({0}, {0});
    }
    copy.take(6.0, 9.0, {0}, {3}, {1});
    EXPECT(copy.advance(7.0) && copy.check().empty());
  }
}

CORE_TEST(plans_are_those_of_the_timeline) {
  Random random(2);
  for (int world = 0; world < 20; world++) {
    const MachinePtr machine = machine_of(random);
    const Timeline timeline(machine, 0.0);
    std::vector<Job> jobs;
    std::vector<PlanJob> planned;
    std::vector<FillJob> filled;
    for (int number = 0; number < 70; number++) {
      jobs.push_back(job_of(random, *machine, false));
      PlanJob one;
      one.demand = timeline.demand_of(jobs.back());
      one.span.duration_s = jobs.back().walltime_s;
      planned.push_back(one);
      filled.push_back({one.demand, jobs.back().walltime_s, 1.0});
    }
    Planner planner(timeline, planned, {false, 2.0, NEVER, 1.0}, 0);
    Order order;
    for (std::int32_t number = 0; number < 70; number++) order.push_back(number);
    const double score = planner.score(order);
    Annealing how;
    how.temperature = 50.0;
    how.swaps_only = false;
    planner.begin(order, score, how, 7);
    EXPECT(planner.anneal(300) == 300);
    EXPECT(planner.best_score() <= score);
    planner.score(planner.best());
    Timeline plain(timeline);
    for (const std::int32_t number : planner.best()) {
      const Job& job = jobs[static_cast<std::size_t>(number)];
      Allocation found;
      Refusal why;
      const double start_s = plain.earliest_fit(job, job.walltime_s, 0.0, NEVER, ALL_KINDS, found);
      EXPECT(planner.starts_s()[static_cast<std::size_t>(number)] == start_s);
      if (start_s < NEVER) plain.reserve(start_s, start_s + job.walltime_s, found, ALL_KINDS, why);
    }
    EXPECT(planner.backfilled(order).size() == order.size());
    Filling filling(timeline, filled, true);
    Filling::Order positions(order.begin(), order.end());
    Filling::Score best;
    EXPECT(filling.climb(positions, 60, best).first <= 60);
  }
}

CORE_TEST(a_space_of_nodes_plans_all_pairs) {
  Random random(3);
  for (int world = 0; world < 40; world++) {
    const std::int64_t words = 1 + below(random, 3);
    const NodeSpace::Words all(static_cast<std::size_t>(words), ~std::uint64_t{0});
    NodeSpace::Words busy(all.size(), 0), idle(all);
    std::vector<NodeSpace::Leaving> running;
    for (int job = 0; job < 6; job++) {
      NodeSpace::Words nodes(all.size(), std::uint64_t{0xFF} << (8 * job));
      for (std::size_t word = 0; word < all.size(); word++) idle[word] &= ~nodes[word];
      running.push_back({60.0 * (1 + job), job, nodes});
    }
    NodeSpace space(0.0, {all}, all, idle);
    space.stack(running, 0, {});
    std::vector<PairRow> rows;
    std::vector<double> durations_s, unreserved_s(50, -NEVER), starts_s(50, NEVER);
    std::vector<std::int64_t> waiting(50, 1), counts(3, 0);
    for (std::int64_t job = 0; job < 50; job++) {
      rows.push_back({job, 1 + below(random, 64 * words), 0, 0, 0});
      durations_s.push_back(60.0 * static_cast<double>(1 + below(random, 20)));
    }
    const PairTable pairs{rows.data(), 50, durations_s.data(), waiting.data()};
    const NodeSpace::Pass pass{unreserved_s.data(), starts_s.data(), counts.data(), 1};
    const PlanRules rules{0.0, 60.0, 1e6, 0.0, 0, 0, 0, false, false, false, false};
    for (std::int64_t pair = space.backfill(pairs, pass, rules, 0); pair < 50;
         pair = space.backfill(pairs, pass, rules, pair + 1)) {
      space.take(space.chosen(), durations_s[static_cast<std::size_t>(pair)], pair);
      waiting[static_cast<std::size_t>(pair)] = 0;
    }
    for (const double start_s : starts_s) EXPECT(start_s >= 0.0);
  }
}
