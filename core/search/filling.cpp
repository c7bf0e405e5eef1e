#include "search/filling.hpp"

#include <algorithm>

namespace spillway {
namespace {

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

}  // namespace

std::vector<std::int64_t> narrow_points(const Timeline& timeline) {
  const Machine& machine = *timeline.machine();
  std::vector<std::int64_t> least(timeline.row(0), timeline.row(0) + machine.width), points = {0};
  for (std::int64_t segment = 1; segment < timeline.size(); segment++) {
    const std::int64_t* row = timeline.row(segment);
    bool lower = false;
    for (std::int64_t word = 0; word < machine.words; word++) {
      std::uint64_t& free = words_of(least.data() + HEAD)[word];
      const std::uint64_t both = free & words_of(row + HEAD)[word];
      lower = lower || both != free;
      free = both;
    }
    for (std::int64_t column = machine.first_storage; column < machine.width; column++) {
      lower = lower || row[column] < least[at(column)];
      least[at(column)] = std::min(least[at(column)], row[column]);
    }
    if (lower) points.push_back(segment);
  }
  return points;
}

Filling::Filling(const Timeline& timeline, std::vector<FillJob> jobs, bool nodes_first)
    : machine_(timeline.machine()),
      jobs_(std::move(jobs)),
      nodes_first_(nodes_first),
      left_(timeline.steps().only(narrow_points(timeline))),
      never_fits_(jobs_.size(), false) {
  left_.keep(now_);
  for (std::size_t job = 0; job < jobs_.size(); job++) {
    Order alone = {static_cast<std::int64_t>(job)};
    Score score;
    never_fits_[job] =
        jobs_[job].demand.nodes > timeline.free_nodes_now() || climb(alone, 0, score).second < 0;
  }
}

// Start the jobs that fit now, in this order; the position of the last one started, -1 for no job.
std::int64_t Filling::fill(const Order& order, Score& score) {
  if (left_.is_full()) left_.sweep({&now_});
  left_.restore(now_);
  const double now_s = left_.time(0);
  double nodes = 0, bytes = 0, wait_s = 0.0, started = 0;
  std::int64_t last = -1;
  for (std::size_t position = 0; position < order.size() && left_.row(0)[FREE_NODES]; position++) {
    const FillJob& job = jobs_[at(order[position])];
    const std::int64_t size = job.demand.bb_bytes * job.demand.requests;
    if (never_fits_[at(order[position])] || job.demand.nodes > left_.row(0)[FREE_NODES] ||
        size > left_.row(0)[FREE_BYTES] ||
        find_fit(left_, *machine_, job.demand, job.duration_s, now_s, now_s) == NEVER) {
      continue;
    }
    const std::int64_t* usage = Scratch::of(*machine_, left_.size()).usage;
    const double end_s = now_s + job.duration_s;
    for (std::int64_t segment = 0;
         segment < left_.size() && (!segment || left_.time(segment) < end_s); segment++) {
      left_.subtract(segment, usage);
    }
    nodes += static_cast<double>(job.demand.nodes);
    bytes += static_cast<double>(size);
    wait_s += job.wait_s;
    started++;
    last = static_cast<std::int64_t>(position);
  }
  score = {nodes_first_ ? nodes : bytes, nodes_first_ ? bytes : nodes,
           started > 0 ? wait_s / started : 0.0};
  return last;
}

std::pair<std::int64_t, std::int64_t> Filling::climb(Order& order, std::int64_t budget,
                                                     Score& best) {
  best = {-1.0, -1.0, -1.0};
  const auto number = static_cast<std::int64_t>(order.size());
  std::int64_t steps = 0, last = -1, distance = 0, index = 0;
  const auto exchange = [&] { std::swap(order[at(index)], order[at(index + distance)]); };
  for (;;) {
    Score score;
    const std::int64_t reached = fill(order, score);
    if (score > best) {
      best = score;
      last = reached;
      distance = 1;
      index = -1;
    } else {
      exchange();
    }
    for (;;) {
      index++;
      if (index >= std::min(last + 1, number - distance)) {
        distance++;
        index = 0;
      }
      if (last < 0 || distance >= number || steps == budget) return {steps, last};
      steps++;
      // Otherwise neither job starts at any position: the score stays.
      if (!(never_fits_[at(order[at(index)])] && never_fits_[at(order[at(index + distance)])]))
        break;
    }
    exchange();
  }
}

}  // namespace spillway
