// Plans: an order of jobs is planned by placing each in turn at its earliest start; annealing
// searches for a better order.
//
// The score of a plan is a weighted sum of powers of waiting times, or the latest start. Two
// savings make a score cheap, both exact. A changed order is planned again only from a checkpoint
// before the first changed position: checkpoints of the timeline are kept every `stride` positions,
// in two slots per level (current and trial) that change places when a trial is accepted; rows are
// shared by checkpoints. And a trial is given up as soon as its score, with the least that the jobs
// not yet placed must add, cannot be accepted any more; the random number that decides is drawn
// first.
//
// References: Kopanski, master's thesis 2020, section 3.4 and Algorithm 8; Zheng et al., Exploring
// plan-based scheduling for large-scale computing systems, CLUSTER 2016.
#pragma once
#include <cstdint>
#include <vector>

#include "book/timeline.hpp"
#include "search/demand_keys.hpp"
#include "search/random64.hpp"

namespace spillway {

// A job to plan.
struct PlanJob {
  JobDemand demand;
  Span span;              // its expected duration, and lives of its holdings
  bool apart = false;     // whether these have lives of their own
  double submit_s = 0.0;  // its wait is counted from there to the start of its burst buffer
  double weight = 1.0;    // in the score
};

// How a wait contributes to the score: weight * wait^alpha * (1 + (wait / guard_s)^guard_power).
struct Shape {
  bool latest = false;  // instead, the score is the latest start
  double alpha = 1.0;
  double guard_s = NEVER;  // infinite: no guard
  double guard_power = 1.0;

  double term(double wait_s, double weight) const;
};

// Parameters of annealing.
struct Annealing {
  std::int64_t steps = 0;
  double temperature = 0.0, cooling = 0.9;
  std::int64_t period = 6;
  double coolest = 1.0;
  bool swaps_only = true, delayed_only = false;
};

using Order = std::vector<std::int32_t>;

class Planner {
 public:
  // The timeline stays as it is. stride: positions between two checkpoints, 0: by the number of
  // jobs.
  Planner(const Timeline& timeline, std::vector<PlanJob> jobs, Shape shape, std::int64_t stride);

  std::int64_t size() const { return static_cast<std::int64_t>(jobs_.size()); }
  // Planned start of each job, of the order planned last.
  const std::vector<double>& starts_s() const { return starts_; }
  // The least that each job can add to the score, and its start: planned as if it were the only
  // one.
  const std::vector<double>& least() const { return least_; }
  const std::vector<double>& alone() const { return alone_; }
  // Plan an order; its score.
  double score(const Order& order) { return plan_from(order, 0, NEVER); }
  // Jobs in the order of their starts under EASY backfilling in an order, by totals, without
  // further arrivals.
  Order backfilled(const Order& order) const;

  // Begin annealing from an order; the steps of one run may be done in several calls.
  void begin(const Order& order, double score, const Annealing& how, std::uint64_t seed);
  // Do the steps up to `end`; the step reached, below `end` when no job is delayed, as no plan is
  // better then.
  std::int64_t anneal(std::int64_t end);
  const Order& best() const { return best_; }
  double best_score() const { return best_score_; }

 private:
  struct Level {
    Checkpoint state;
    double score = 0.0, bound = 0.0;  // of the jobs placed before, and their least
  };

  double plan_from(const Order& order, std::int64_t level, double limit);
  double place(std::int64_t job, double not_before_s);
  double not_before(std::int64_t position, std::int64_t job) const;
  void note_placed(std::int64_t position, std::int64_t job, double start_s);
  void hold_nodes(double end_s);
  void plan_alone();
  void sweep();
  std::int64_t delayed_position();
  bool is_delayed(std::int32_t job) const;
  void exchange(std::int64_t first_level);

  MachinePtr machine_;
  bool longer_;
  std::vector<PlanJob> jobs_;
  Shape shape_;
  std::int64_t stride_, levels_;
  DemandKeys keys_;
  std::vector<double> alone_;  // start if no job were placed before
  std::vector<double> least_;  // the least that each job can add to the score

  Steps live_;                // with the jobs placed so far
  std::vector<Level> slots_;  // the first one is the timeline itself, and stays
  std::vector<std::int32_t> current_slots_, trial_slots_;  // by level
  std::vector<double> starts_;                             // by job

  // Jobs placed so far, by position: planned start, key as the smaller one; by block of positions
  // the latest start.
  std::vector<double> placed_s_, latest_s_;
  std::vector<std::uint64_t> placed_keys_;

  Annealing how_;
  Random64 random_{0};
  std::int64_t step_ = 0;
  double current_score_ = 0.0, temperature_ = 0.0, best_score_ = 0.0, total_least_ = 0.0;
  Order best_, current_, trial_;
  std::vector<double> current_starts_;
};

// Start of each job under EASY backfilling from the begin of a timeline on, if no job arrived and
// all took their estimates; only totals of nodes and bytes count. At every release of resources
// jobs start in their order; the first that cannot start reserves its earliest start, and later
// jobs start if they leave this reservation free.
struct TotalsDemand {
  std::int64_t nodes = 0, bytes = 0;
  double duration_s = 0.0;
};
std::vector<double> easy_starts(std::vector<double> times, std::vector<TotalsDemand> free,
                                Order waiting, const std::vector<TotalsDemand>& demands);

}  // namespace spillway
