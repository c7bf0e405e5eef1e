#include <algorithm>

#include "search/plan.hpp"

namespace spillway {
namespace {

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

// Free nodes and bytes over time, in which jobs start at the begin of a segment.
class Picture {
 public:
  Picture(std::vector<double> times, std::vector<TotalsDemand> free)
      : times_(std::move(times)), free_(std::move(free)) {}

  std::int64_t size() const { return static_cast<std::int64_t>(times_.size()); }
  double time(std::int64_t segment) const { return times_[at(segment)]; }

  // First segment from `begin` on, before end_s, with less free; -1 if there is no such segment.
  std::int64_t first_short(std::int64_t begin, double end_s, const TotalsDemand& demand) const {
    for (std::int64_t segment = begin;
         segment < size() && (segment == begin || time(segment) < end_s); segment++) {
      if (!holds(segment, demand.nodes, demand.bytes)) return segment;
    }
    return -1;
  }

  // Earliest start from a segment on; NEVER without one.
  double reserved(std::int64_t begin, const TotalsDemand& demand) const {
    while (begin < size()) {
      const std::int64_t lacking = first_short(begin, time(begin) + demand.duration_s, demand);
      if (lacking < 0) return time(begin);
      begin = lacking + 1;
    }
    return NEVER;
  }

  // Whether a job that starts with a segment leaves a reservation free over [from_s, until_s).
  bool leaves(std::int64_t begin, double end_s, const TotalsDemand& demand, double from_s,
              double until_s, const TotalsDemand& kept) const {
    for (std::int64_t segment = begin; segment < size() && time(segment) < end_s; segment++) {
      const double next_s = segment + 1 < size() ? time(segment + 1) : NEVER;
      if (std::max(time(segment), from_s) < std::min({next_s, until_s, end_s}) &&
          !holds(segment, demand.nodes + kept.nodes, demand.bytes + kept.bytes)) {
        return false;
      }
    }
    return true;
  }

  // Book a job that starts with a segment.
  void start(std::int64_t begin, double end_s, const TotalsDemand& demand) {
    const auto after = std::upper_bound(times_.begin(), times_.end(), end_s) - times_.begin();
    std::int64_t last = std::max<std::int64_t>(0, after - 1);
    if (time(last) < end_s && end_s < NEVER) {
      times_.insert(times_.begin() + last + 1, end_s);
      free_.insert(free_.begin() + last + 1, TotalsDemand(free_[at(last)]));
      last++;
    }
    const std::int64_t stop = end_s < NEVER ? last : size();
    for (std::int64_t segment = begin; segment < stop; segment++) {
      free_[at(segment)].nodes -= demand.nodes;
      free_[at(segment)].bytes -= demand.bytes;
    }
  }

 private:
  bool holds(std::int64_t segment, std::int64_t nodes, std::int64_t bytes) const {
    return free_[at(segment)].nodes >= nodes && free_[at(segment)].bytes >= bytes;
  }

  std::vector<double> times_;
  std::vector<TotalsDemand> free_;
};

}  // namespace

std::vector<double> easy_starts(std::vector<double> times, std::vector<TotalsDemand> free,
                                Order waiting, const std::vector<TotalsDemand>& demands) {
  Picture picture(std::move(times), std::move(free));
  std::vector<double> starts_s(demands.size(), NEVER);
  for (std::int64_t begin = 0; !waiting.empty() && begin < picture.size(); begin++) {
    const double now_s = picture.time(begin);
    double from_s = NEVER, until_s = NEVER;
    std::int32_t head = -1;
    Order kept;
    for (const std::int32_t job : waiting) {
      const TotalsDemand& demand = demands[at(job)];
      const double end_s = now_s + demand.duration_s;
      const std::int64_t lacking = picture.first_short(begin, end_s, demand);
      if (lacking < 0 &&
          (head < 0 || picture.leaves(begin, end_s, demand, from_s, until_s, demands[at(head)]))) {
        picture.start(begin, end_s, demand);
        starts_s[at(job)] = now_s;
        continue;
      }
      if (head < 0 && lacking >= 0) {
        from_s = picture.reserved(lacking + 1, demand);
        if (from_s < NEVER) {
          head = job;
          until_s = from_s + demand.duration_s;
        }
      }
      kept.push_back(job);
    }
    waiting.swap(kept);
  }
  return starts_s;
}

}  // namespace spillway
