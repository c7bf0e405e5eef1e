#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/gang_matrix.hpp"

namespace spillway {

/// Slices of a machine whose rows take turns, and costs, in whole microseconds.
///
/// Slice `n` is `[n quantum, (n + 1) quantum)` and belongs to row `n mod level`.
struct GangClock {
  std::int64_t level = 1;
  std::int64_t quantum_us = 1;
  std::int64_t local_us = 0;      // a block on the task's own node
  std::int64_t remote_us = 0;     // a block on another node
  std::int64_t migration_us = 0;  // a restart
  bool at_once = false;    // migrated jobs restart inside the running slice, not with the next
  std::int64_t limit = 0;  // most tasks that migrate in one slice

  /// Time that a job in these rows would have received since time 0.
  std::int64_t service_us(std::int64_t now_us, RowSet rows) const;
  /// The first instant at which the service is this much, more than 0.
  std::int64_t instant_us(std::int64_t service_us, RowSet rows) const;
};

/// A job of a workload.
struct GangJob {
  std::int64_t submit_us = 0;
  std::int64_t cpu_us = 0;
  std::int64_t blocks = 0;  // of its file, which it reads and writes over its life
  GangRequest request;      // numbered from 0 in order of submission
};

/// How the jobs of a workload ran, by their numbers.
struct GangRun {
  std::vector<std::int64_t> start_us;  // place in the matrix
  std::vector<std::int64_t> end_us;
  std::vector<bool> local;  // whether it ended on its file's nodes
  std::int64_t migrations = 0;
};

/// Gang scheduling from one scheduling event to the next, whole cycles at once, without the
/// protocol.
///
/// Between two events the matrix does not change, so each job's service and its end follow from
/// closed formulas, in whole microseconds: no quantum is simulated separately, and no time is lost
/// to rounding. Zhang et al., JSSPP 2003.
class GangMachine {
 public:
  /// @param jobs in order of submission
  GangMachine(const GangClock& clock, const GangRules& rules, std::int64_t width,
              std::vector<GangJob> jobs);

  /// Process the instants at which jobs arrive or end, in order.
  GangRun run();

 private:
  /// An instant after all others.
  static constexpr std::int64_t NEVER_US = std::int64_t{1} << 62;

  /// A job's place as the machine runs it, and its work.
  ///
  /// A job that is `moving` to its place in the matrix with the next slice runs in its old place in
  /// the rest of the running slice (no rows: not in this slice any more).
  struct Running {
    std::int64_t left_us = 0;  // work left at the instant `since_us`
    std::int64_t lag_us = 0;   // rest of a restart that comes before it
    std::int64_t since_us = 0;
    RowSet rows = 0;
    ColumnSet columns;
    bool moving = false;
    std::int64_t end_us = NEVER_US;  // if nothing changes
  };

  Running& running(const GangPlace& place) { return running_[static_cast<std::size_t>(place.job)]; }
  std::int64_t slice(std::int64_t now_us) const { return now_us / clock_.quantum_us; }
  RowSet row_of(std::int64_t now_us) const { return RowSet{1} << slice(now_us) % clock_.level; }
  std::int64_t length_us(const GangPlace& place, bool local) const;

  std::int64_t next_end();
  bool some_moving();
  void take_out(std::int64_t now_us);
  void arrive(std::int64_t now_us);
  void event(std::int64_t now_us);
  void begin(const GangPlace& place, std::int64_t now_us);
  void move(const GangPlace& place, std::int64_t now_us);
  void settle_in(const GangPlace& place);
  void displace(std::int64_t now_us);
  void serve(Running& job, std::int64_t now_us) const;
  void foresee(Running& job) const;

  const GangClock clock_;
  const GangRules rules_;
  const std::vector<GangJob> jobs_;
  const ColumnSet none_;
  GangMatrix matrix_;
  GangQueue queue_;
  std::vector<Running> running_;
  GangRun run_;
  std::int64_t slice_ = -1;  // of the last event
  std::int64_t used_ = 0;    // tasks that have migrated in it
};

}  // namespace spillway
