// Nodes that are planned for waiting jobs over intervals, by the rules of Slurm's two schedulers.
//
// Running jobs and plans are separate: running jobs are expected to leave their nodes one after
// another, reservations cover intervals. A pair is a job in one of its partitions.
//
// Reference: Slurm 22.05, sched/backfill (reservations, next candidates), select/linear and
// select/cons_tres (expected ends, choice of nodes).
#pragma once
#include <cstdint>
#include <vector>

#include "book/bits.hpp"
#include "model/resource.hpp"

namespace spillway {

// A row of the table of pairs: place of the job, its nodes, row of its partition's nodes (0: all),
// its user's number.
struct PairRow {
  std::int64_t job, nodes, set, user, flags;
};

// Flags of a pair.
constexpr std::int64_t PAIR_CALLER = 1;        // the caller decides on it
constexpr std::int64_t PAIR_WITHOUT = 2;       // its job has no buffer yet
constexpr std::int64_t PAIR_STAGING = 4;       // its job's buffer is being filled
constexpr std::int64_t PAIR_NOW_ONLY = 8;      // it gets no reservation
constexpr std::int64_t PAIR_OVERLAPPING = 16;  // its reservation may overlap with others
constexpr std::int64_t PAIR_BUFFER = 32;       // its job requests a buffer

// The pairs of a pass, in order; the arrays are the caller's. A job's state: 0 not waiting, 1
// waiting, 2 waiting with an expected start.
struct PairTable {
  PairRow* rows;
  std::int64_t count;
  const double* durations_s;  // expected, of each pair
  std::int64_t* waiting;      // by place of the job
};

// Parameters of a backfill pass.
struct PlanRules {
  double now_s, resolution_s;
  double until_s;   // last time that gets a reservation
  double linear_s;  // growth of the windows of expected ends; 0: they double
  std::int64_t most_of_set, most_of_user, most_reserved;  // 0: any number
  bool one_each;                                          // whether a job gets only one reservation
  bool ends_up;      // whether ends of reservations are rounded up
  bool in_windows;   // whether jobs leave together, in windows of their expected ends
  bool starts_only;  // whether pairs that cannot start any more are left out
};

class NodeSpace {
 public:
  using Words = std::vector<std::uint64_t>;
  struct Leaving {  // a running job: expected end, number of the job, its nodes
    double end_s;
    std::int64_t number;
    Words nodes;
  };
  struct Window {  // maintenance: begin, end, time at which a job in the way is tried again, nodes
    double begin_s, end_s, again_s;
    Words nodes;
  };

  // The nodes of each partition, at first all nodes; the nodes that are not out, and the idle ones
  // of these.
  NodeSpace(double now_s, std::vector<Words> sets, Words usable, Words idle);

  std::int64_t words() const { return words_; }
  const std::vector<Words>& sets() const { return sets_; }
  const Words& idle() const { return left_[0]; }
  const Words& usable() const { return usable_; }
  const Words& chosen() const { return chosen_; }
  void choose(Words nodes) { chosen_ = std::move(nodes); }
  void prefer(Words nodes) { preferred_ = std::move(nodes); }
  // Whether the caller decides on the pair that a backfill pass has returned.
  bool asks() const { return asks_; }

  // Segments of the time from now on, the last one endless: begins, and nodes without a
  // reservation.
  const std::vector<double>& times() const { return times_; }
  const Words& free(std::int64_t segment) const { return free_[order_[at(segment)]]; }

  // Choose some nodes: the shortest run of neighbours that suffices, from its first node on. If no
  // run suffices, the longest is taken whole, and the rest is chosen likewise; the first of equal
  // runs. Preferred nodes come first, in runs of their own.
  void consecutive(const Words& nodes, std::int64_t count);

  // Prepare a backfill pass: running jobs in the order in which they are expected to leave; those
  // that have ended, but still have nodes that are not back, come first (their number).
  void stack(const std::vector<Leaving>& running, std::int64_t ended, std::vector<Window> windows);
  bool is_stacked() const { return stacked_; }
  // Mark nodes as busy: a job was started on them and is expected to leave at end_s.
  void take(const Words& nodes, double end_s, std::int64_t number);
  // Nodes that are no longer idle, before stack().
  void occupy(const Words& nodes);

  // Next pair of a waiting job, from `pair` on, that can start or that the caller decides on, or
  // their number. A pair before it that lacks nodes ends its partition: the partition's nodes are
  // kept. asks: flags of pairs that the caller decides on, -1: all. depth: most pairs of waiting
  // jobs that are visited in a pass. ended: of each set; nodes: of no ended set.
  std::int64_t main(const PairTable& pairs, std::int64_t* ended, std::uint64_t* nodes,
                    std::int64_t asks, std::int64_t depth, std::int64_t pair);

  // Results of a backfill pass by pair: time up to which too few nodes were unreserved for its
  // duration (minus infinity without such a search), expected start; and counts by set and by user
  // of tried pairs, by set of reservations.
  struct Pass {
    double* unreserved_s;
    double* starts_s;
    std::int64_t* counts;
    std::int64_t columns;
  };
  // Plan pairs in order from `pair` on, up to the next that can start or that the caller decides
  // on, or their number.
  std::int64_t backfill(const PairTable& pairs, const Pass& pass, const PlanRules& rules,
                        std::int64_t pair);
  // Expected start of a pair from a time on (NEVER for never), with its nodes chosen. Nodes of jobs
  // that are expected to end up to gone_s count like idle ones.
  double plan(const PairTable& pairs, const Pass& pass, const PlanRules& rules, std::int64_t pair,
              double not_before_s, double gone_s = -NEVER);
  // Reserve the chosen nodes for a pair that is to start at start_s; whether the rules allow it.
  bool keep(const PairTable& pairs, const Pass& pass, const PlanRules& rules, std::int64_t pair,
            double start_s);
  // Reserve the nodes on which a pair has just started, to its expected end.
  void keep_started(const PairTable& pairs, const PlanRules& rules, std::int64_t pair, Words nodes);

 private:
  static std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }
  std::int64_t segments() const { return static_cast<std::int64_t>(times_.size()); }
  std::int64_t after(double time_s) const;  // first segment that begins after a time
  std::int64_t from(double time_s) const;   // first segment that begins at a time or later
  Words& row(std::int64_t segment) { return free_[order_[at(segment)]]; }
  std::int64_t narrow(std::int64_t segment);
  bool releases(std::int64_t segment) const;
  std::int64_t release(std::int64_t segment) const;
  bool sees(std::int64_t segment, std::int64_t first, double begin_s, double duration_s) const;
  double later(std::int64_t first, double begin_s, double duration_s);
  double past(std::int64_t blocked, std::int64_t first, double begin_s, double duration_s);
  double allow(std::int64_t set, double begin_s, double end_s, const PlanRules& rules);
  std::int64_t unreserved(std::int64_t nodes, double begin_s, double end_s);
  double promising(std::int64_t nodes, double begin_s, double duration_s);
  std::int64_t together(std::int64_t left, std::int64_t least, double linear_s) const;
  std::int64_t leave(std::int64_t nodes, const PlanRules& rules, double gone_s);
  void choose_found(std::int64_t nodes);
  std::int64_t choose_of(const Words& nodes, std::int64_t count);
  bool is_idle() const;
  bool overlaps(double begin_s, double end_s) const;
  std::int64_t split(double time_s);
  void reserve(double begin_s, double end_s);
  bool may_start(const PairTable& pairs, std::int64_t pair, const PlanRules& rules);
  bool is_over(const PairRow& pair, const Pass& pass, const PlanRules& rules) const;
  double not_before(const PairTable& pairs, const Pass& pass, const PlanRules& rules,
                    std::int64_t pair);

  std::int64_t words_;
  std::vector<Words> sets_;
  Words usable_;
  // Idle nodes, and after each running job in turn these and the nodes of all that have left until
  // then.
  std::vector<Words> left_;
  std::vector<double> ends_s_;  // of the running jobs, from place 1 on
  std::vector<std::int64_t> numbers_;
  std::int64_t ended_ = 0;
  std::vector<double> times_;
  std::vector<std::uint32_t> order_;
  std::vector<Words> free_;
  std::vector<Window> windows_;
  bool asks_ = false;
  std::int64_t looked_ = 0;  // pairs that the main pass has visited
  bool stacked_ = false;
  Words allowed_, found_, chosen_, preferred_;
};

}  // namespace spillway
