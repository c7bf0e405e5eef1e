// Orders of waiting jobs, scored by the jobs that greedy filling starts now in that order; hill
// climbing over orders.
//
// Between now and the end of a job that starts now, resources are released when running jobs end,
// and taken where reservations begin. A job that starts now holds its resources from now on, so
// only the narrow points of the timeline count: the present, and later segments with less of some
// resource than all segments before. There are at most as many as reservations, so filling is
// cheap, and yet exact.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "book/timeline.hpp"

namespace spillway {

// A job that may start now. One that stages in before it gets its nodes is taken as if it got both
// now.
struct FillJob {
  JobDemand demand;
  double duration_s = 0.0;  // expected
  double wait_s = 0.0;      // so far
};

class Filling {
 public:
  // Nodes and bytes started (in the order of the objective), and the mean wait of the started jobs:
  // larger is better, compared from the left.
  using Score = std::array<double, 3>;
  using Order = std::vector<std::int64_t>;

  // The timeline stays as it is.
  Filling(const Timeline& timeline, std::vector<FillJob> jobs, bool nodes_first);

  // Whether each job does not fit even if it comes first.
  const std::vector<bool>& never_fits() const { return never_fits_; }
  // Improve an order by swaps, at most `budget` of them: positions ever further apart are
  // exchanged, and an exchange that improves the score stays. The number of swaps tried, and the
  // position of the last job that starts, -1 for no job.
  std::pair<std::int64_t, std::int64_t> climb(Order& order, std::int64_t budget, Score& best);

 private:
  std::int64_t fill(const Order& order, Score& score);

  MachinePtr machine_;
  std::vector<FillJob> jobs_;
  bool nodes_first_;
  Steps left_;  // the narrow points
  Checkpoint now_;
  std::vector<bool> never_fits_;
};

// Places of the first segment and of later ones with less of some resource than all segments
// before.
std::vector<std::int64_t> narrow_points(const Timeline& timeline);

}  // namespace spillway
