#include <random>

#include "check.hpp"
#include "search/gang_machine.hpp"
#include "search/gang_matrix.hpp"

using namespace spillway;

namespace {

ColumnSet drawn(std::mt19937_64& random, std::int64_t width, std::int64_t count) {
  ColumnSet columns(width);
  while (columns.count() < count) {
    columns.insert(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(width)));
  }
  return columns;
}

/// Whether each cell has one job, homes are rows of their jobs, and no row exceeds a link.
bool legal(const GangMatrix& matrix, const GangLinks& links) {
  for (std::size_t row = 0; row < matrix.level(); ++row) {
    ColumnSet taken(matrix.width());
    std::vector<std::int64_t> left = links.bytes_per_s;
    for (const GangPlace& place : matrix.places()) {
      if (!(place.rows >> place.home & 1)) return false;
      if (!(place.rows >> row & 1)) continue;
      if (place.columns.empty() || place.columns.meets(taken)) return false;
      taken |= place.columns;
      for (std::size_t link = 0; link < left.size(); ++link) {
        left[link] -= place.columns.count_in(links.below[link]) * place.rate;
        if (left[link] < 0) return false;
      }
    }
  }
  return true;
}

GangRules drawn_rules(std::mt19937_64& random) {
  return {static_cast<GangWhere>(random() % 3), random() % 2 == 0, random() % 2 == 0};
}

}  // namespace

CORE_TEST(gang_matrices_stay_legal) {
  std::mt19937_64 random(3);
  for (int world = 0; world < 200; ++world) {
    const std::size_t level = world % 10 == 0 ? 64 : 1 + random() % 5;
    const std::int64_t width = world % 3 == 0 ? 130 : 6;
    const GangLinks links{{ColumnSet::whole(width), drawn(random, width, 3)}, {width * 20, 50}};
    GangMatrix matrix(level, width, links);
    const GangRules rules = drawn_rules(random);
    std::int64_t number = 0;
    for (int round = 0; round < 12; ++round) {
      std::vector<GangRequest> requests;
      while (requests.size() < 4) {
        const auto size = static_cast<std::int64_t>(1 + random() % 4);
        const std::int64_t rate = random() % 2 ? 25 : 0;
        const bool files = random() % 2 == 0;
        requests.push_back({number++, size, drawn(random, width, files ? size : 0), rate});
      }
      GangQueue queue;
      for (const GangRequest& request : requests) queue.push_back(&request);
      const ColumnSet closed = drawn(random, width, random() % 4 == 0 ? 1 : 0);
      matrix.remove([&](const GangPlace&) { return random() % 4 == 0; });
      const std::size_t before = matrix.places().size();
      const GangOutcome outcome = matrix.recompute(
          queue, rules, 3, closed, [&](const GangRequest& request, const ColumnSet& columns) {
            EXPECT(columns.count() == request.size);
            return random() % 5 != 0;
          });
      EXPECT(matrix.places().size() == before + static_cast<std::size_t>(outcome.started));
      EXPECT(outcome.tasks <= 3 && legal(matrix, links));
    }
  }
}

CORE_TEST(gang_scheduled_jobs_get_their_time) {
  std::mt19937_64 random(9);
  const std::int64_t width = 70, second = 1'000'000;
  for (int world = 0; world < 60; ++world) {
    GangClock clock{static_cast<std::int64_t>(1 + random() % 5),
                    7 * second,
                    30'000,
                    90'000,
                    2 * second,
                    random() % 2 == 0,
                    static_cast<std::int64_t>(random() % 10)};
    std::vector<GangJob> jobs;
    std::int64_t now_us = 0;
    while (jobs.size() < 60) {
      now_us += static_cast<std::int64_t>(random() % 20'000'000);
      const auto size = static_cast<std::int64_t>(1 + random() % 40);
      const auto cpu_us = static_cast<std::int64_t>(1 + random() % 60'000'000);
      const auto number = static_cast<std::int64_t>(jobs.size());
      jobs.push_back({now_us,
                      cpu_us,
                      static_cast<std::int64_t>(random() % 100),
                      {number, size, drawn(random, width, size), 0}});
    }
    const GangRun run = GangMachine(clock, drawn_rules(random), width, jobs).run();
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      EXPECT(run.start_us[job] >= jobs[job].submit_us);
      EXPECT(run.end_us[job] - run.start_us[job] >=
             jobs[job].cpu_us + jobs[job].blocks * clock.local_us);
    }
  }
}

CORE_TEST(gang_service_and_instants_are_inverse) {
  const GangClock clock{5, 200, 0, 0, 0, false, 0};
  for (const RowSet rows : {RowSet{1}, RowSet{0b10110}, RowSet{0b11111}}) {
    for (std::int64_t received = 1; received < 3000; ++received) {
      const std::int64_t instant = clock.instant_us(received, rows);
      EXPECT(clock.service_us(instant, rows) == received);
      EXPECT(clock.service_us(instant - 1, rows) == received - 1);
    }
  }
}
