#include "search/node_space.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway {
namespace {

constexpr double WINDOW_S = 30.0;  // first window of expected ends

// The next node from a place on in a set (flipped: outside of it), or the number of bits of the
// set.
std::int64_t next_node(const NodeSpace::Words& words, std::int64_t place, bool flipped) {
  const auto size = static_cast<std::int64_t>(words.size());
  std::int64_t word = place >> 6;
  if (word >= size) return size << 6;
  const std::uint64_t mask = flipped ? ~std::uint64_t{0} : 0;
  std::uint64_t bits =
      (words[static_cast<std::size_t>(word)] ^ mask) & (~std::uint64_t{0} << (place & 63));
  while (!bits) {
    if (++word == size) return word << 6;
    bits = words[static_cast<std::size_t>(word)] ^ mask;
  }
  return (word << 6) + lowest_bit(bits);
}

// Add the nodes from first to end (not included) to a set.
void add_nodes(NodeSpace::Words& words, std::int64_t first, std::int64_t end) {
  for (std::int64_t word = first >> 6; word < (end + 63) >> 6; word++) {
    const std::int64_t low = std::max<std::int64_t>(first - (word << 6), 0),
                       high = end - (word << 6);
    std::uint64_t bits = ~std::uint64_t{0} << low;
    if (high < 64) bits &= ~(~std::uint64_t{0} << high);
    words[static_cast<std::size_t>(word)] |= bits;
  }
}

}  // namespace

NodeSpace::NodeSpace(double now_s, std::vector<Words> sets, Words usable, Words idle)
    : words_(static_cast<std::int64_t>(usable.size())),
      sets_(std::move(sets)),
      usable_(usable),
      left_{std::move(idle)},
      ends_s_{0.0},
      numbers_{0},
      times_{now_s},
      order_{0},
      free_{std::move(usable)},
      allowed_(at(words_)),
      found_(at(words_)),
      chosen_(at(words_)),
      preferred_(at(words_)) {}

std::int64_t NodeSpace::after(double time_s) const {
  return std::upper_bound(times_.begin(), times_.end(), time_s) - times_.begin();
}

std::int64_t NodeSpace::from(double time_s) const {
  return std::lower_bound(times_.begin(), times_.end(), time_s) - times_.begin();
}

void NodeSpace::consecutive(const Words& nodes, std::int64_t count) {
  found_ = nodes;
  choose_found(count);
}

void NodeSpace::choose_found(std::int64_t nodes) {
  std::fill(chosen_.begin(), chosen_.end(), 0);
  Words preferred = found_, others = found_;
  for (std::int64_t word = 0; word < words_; word++) {
    preferred[at(word)] &= preferred_[at(word)];
    others[at(word)] &= ~preferred_[at(word)];
  }
  choose_of(others, choose_of(preferred, nodes));
}

// Add a number of these nodes to the chosen ones; the number that is missing.
std::int64_t NodeSpace::choose_of(const Words& nodes, std::int64_t count) {
  struct Run {
    std::int64_t first, length;
  };
  std::vector<Run> runs;
  for (std::int64_t first = next_node(nodes, 0, false); count > 0 && first < words_ << 6;) {
    const std::int64_t end = next_node(nodes, first, true);
    runs.push_back({first, end - first});
    first = next_node(nodes, end, false);
  }
  while (count > 0) {
    Run* enough = nullptr;
    Run* longest = nullptr;
    for (Run& run : runs) {
      if (run.length >= count && (!enough || run.length < enough->length)) enough = &run;
      if (!longest || run.length > longest->length) longest = &run;
    }
    if (!longest || !longest->length) break;  // fewer nodes than asked for
    Run* run = enough ? enough : longest;
    const std::int64_t taken = std::min(count, run->length);
    add_nodes(chosen_, run->first, run->first + taken);
    run->length = 0;
    count -= taken;
  }
  return count;
}

void NodeSpace::stack(const std::vector<Leaving>& running, std::int64_t ended,
                      std::vector<Window> windows) {
  left_.resize(1);
  ends_s_ = {0.0};
  numbers_ = {0};
  for (const Leaving& job : running) {
    Words nodes = left_.back();
    for (std::int64_t word = 0; word < words_; word++)
      nodes[at(word)] |= job.nodes[at(word)] & free_[0][at(word)];
    left_.push_back(std::move(nodes));
    ends_s_.push_back(job.end_s);
    numbers_.push_back(job.number);
  }
  ended_ = ended;
  windows_ = std::move(windows);
  stacked_ = true;
}

void NodeSpace::occupy(const Words& nodes) {
  for (std::int64_t word = 0; word < words_; word++) left_[0][at(word)] &= ~nodes[at(word)];
}

void NodeSpace::take(const Words& nodes, double end_s, std::int64_t number) {
  std::size_t place = 1;
  while (place < left_.size() &&
         (ends_s_[place] < end_s || (ends_s_[place] == end_s && numbers_[place] < number))) {
    place++;
  }
  const auto where = static_cast<std::ptrdiff_t>(place);
  ends_s_.insert(ends_s_.begin() + where, end_s);
  numbers_.insert(numbers_.begin() + where, number);
  left_.insert(left_.begin() + where, Words(left_[place - 1]));
  for (std::size_t job = 0; job < place; job++) {
    for (std::int64_t word = 0; word < words_; word++) left_[job][at(word)] &= ~nodes[at(word)];
  }
}

// ---------------------------------------------------------------- segments

// Narrow the nodes found by those without a reservation in a segment; their number.
std::int64_t NodeSpace::narrow(std::int64_t segment) {
  const Words& unreserved = free(segment);
  std::int64_t number = 0;
  for (std::int64_t word = 0; word < words_; word++) {
    found_[at(word)] &= unreserved[at(word)];
    number += popcount(found_[at(word)]);
  }
  return number;
}

// Whether allowed nodes that were reserved before become free at the begin of a segment.
bool NodeSpace::releases(std::int64_t segment) const {
  const Words &now = free(segment), &before = free(segment - 1);
  std::uint64_t released = 0;
  for (std::int64_t word = 0; word < words_; word++)
    released |= now[at(word)] & ~before[at(word)] & allowed_[at(word)];
  return released != 0;
}

// The first segment from `segment` on that begins with a release of nodes, or the number of
// segments.
std::int64_t NodeSpace::release(std::int64_t segment) const {
  while (segment < segments() && !releases(segment)) segment++;
  return segment;
}

// Whether a search from a time in the segment `first` on reaches the begin of a later segment. It
// visits the segments that begin while the job would run, and two more.
bool NodeSpace::sees(std::int64_t segment, std::int64_t first, double begin_s,
                     double duration_s) const {
  return segment - 1 <= first || times_[at(segment - 2)] <= begin_s + duration_s;
}

// Time at which a search from a time in the segment `first` on is repeated, if it leads to a late
// start.
double NodeSpace::later(std::int64_t first, double begin_s, double duration_s) {
  const std::int64_t segment = release(first + 1);
  return segment < segments() && sees(segment, first, begin_s, duration_s) ? times_[at(segment)]
                                                                           : NEVER;
}

// The first release of nodes after the segment `blocked`, which leaves too few to all searches
// before. Each release before starts a search; NEVER if the last of these does not reach it.
double NodeSpace::past(std::int64_t blocked, std::int64_t first, double begin_s,
                       double duration_s) {
  const std::int64_t segment = release(blocked + 1);
  if (segment == segments()) return NEVER;
  if (segment > blocked + 2) {
    std::int64_t last = blocked;
    while (last > first && !releases(last)) last--;
    if (last > first) begin_s = times_[at(last)];
    if (!sees(segment, last, begin_s, duration_s)) return NEVER;
  }
  return times_[at(segment)];
}

// Allow a partition's nodes without those of windows in [begin_s, end_s). The time at which a job
// in the way of a window is tried again, or NEVER.
double NodeSpace::allow(std::int64_t set, double begin_s, double end_s, const PlanRules& rules) {
  bool within = false;
  double again_s = NEVER;
  allowed_ = sets_[at(set)];
  for (const Window& window : windows_) {
    if (window.begin_s < end_s && window.end_s > begin_s) {
      for (std::int64_t word = 0; word < words_; word++) {
        within = within || (allowed_[at(word)] & window.nodes[at(word)]);
        allowed_[at(word)] &= ~window.nodes[at(word)];
      }
    }
    if (window.end_s >= begin_s && window.again_s > begin_s)
      again_s = std::min(again_s, window.again_s);
  }
  return within && again_s < rules.until_s ? again_s : NEVER;
}

// Find the allowed nodes without a reservation in [begin_s, end_s]; -1 if they suffice. Otherwise a
// segment: it and those after it, up to end_s, leave too few. So does every interval of this length
// that begins before that segment ends.
std::int64_t NodeSpace::unreserved(std::int64_t nodes, double begin_s, double end_s) {
  const std::int64_t first = after(begin_s) - 1;
  found_ = allowed_;
  for (std::int64_t segment = after(end_s) - 1; segment >= first; segment--) {
    if (narrow(segment) < nodes) return segment;
  }
  return -1;
}

// The first time from begin_s on at which a search may succeed; without windows. A search fails if
// it is repeated before enough nodes are expected to be idle: some segment leaves too few of the
// allowed nodes that are idle by then. That is mostly the first segment, as nodes that become idle
// soon are reserved from then on. The passing of time does not change that: a late job leaves even
// later.
double NodeSpace::promising(std::int64_t nodes, double begin_s, double duration_s) {
  const auto leaving = static_cast<std::int64_t>(left_.size()) - 1;
  std::int64_t low = 0, first = after(begin_s) - 1;
  for (;;) {
    const std::int64_t again = release(first + 1);
    if (again == segments() || !sees(again, first, begin_s, duration_s)) return begin_s;
    while (low < leaving && ends_s_[at(low + 1)] <= times_[at(again)]) low++;
    for (std::int64_t word = 0; word < words_; word++)
      found_[at(word)] = left_[at(low)][at(word)] & allowed_[at(word)];
    std::int64_t number = narrow(first), segment = first + 1;
    const double end_s = begin_s + duration_s;
    for (; number >= nodes && segment < segments() && times_[at(segment)] <= end_s; segment++)
      number = narrow(segment);
    if (number >= nodes) return begin_s;
    first = again;
    begin_s = times_[at(again)];
  }
}

// ---------------------------------------------------------------- running jobs

// Number of running jobs that have left at the first check that finds at least `least` of them
// gone, of which `left` have before. Jobs that have some of the nodes found leave one after another
// up to the end of a window; then there is a check. All windows begin at the first whole half
// minute after the first of these jobs leaves; the first one is 30 s long. Each check makes it
// twice as long, or longer by linear_s, until the next job leaves within it. That job may be one
// without any of these nodes: the one after it then leaves, too, before the next check.
std::int64_t NodeSpace::together(std::int64_t left, std::int64_t least, double linear_s) const {
  const auto count = static_cast<std::int64_t>(left_.size());
  double window_s = WINDOW_S, begin_s = NEVER;
  for (std::int64_t job = left + 1; job < count; job++) {
    bool usable = false;
    for (std::int64_t word = 0; word < words_; word++) {
      usable =
          usable || (left_[at(job)][at(word)] & ~left_[at(job - 1)][at(word)] & found_[at(word)]);
    }
    if (!usable) continue;
    if (begin_s == NEVER) begin_s = (std::floor(ends_s_[at(job)] / WINDOW_S) + 1.0) * WINDOW_S;
    const double next_s = job + 1 < count ? ends_s_[at(job + 1)] : NEVER;
    if (next_s <= begin_s + window_s && next_s < NEVER) continue;
    if (job >= least) return job;
    do {
      window_s = linear_s > 0.0 ? window_s + linear_s : 2.0 * window_s;
    } while (next_s < NEVER && next_s > begin_s + window_s);
  }
  return least;
}

// Number of running jobs that must leave until enough of the nodes found are idle; keeps those that
// are then. Jobs that have ended, and those that are expected to end up to gone_s, have left.
std::int64_t NodeSpace::leave(std::int64_t nodes, const PlanRules& rules, double gone_s) {
  std::int64_t low = ended_, high = static_cast<std::int64_t>(left_.size()) - 1;
  while (low < high && ends_s_[at(low + 1)] <= gone_s) low++;
  const std::int64_t left = low;
  while (low < high) {
    const std::int64_t middle = (low + high) >> 1;
    std::int64_t number = 0;
    for (std::int64_t word = 0; word < words_; word++)
      number += popcount(left_[at(middle)][at(word)] & found_[at(word)]);
    if (number >= nodes) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (rules.in_windows && low > left) low = together(left, low, rules.linear_s);
  for (std::int64_t word = 0; word < words_; word++) found_[at(word)] &= left_[at(low)][at(word)];
  return low;
}

// Whether all of the chosen nodes are idle: no node is still missing from a job that has ended.
bool NodeSpace::is_idle() const {
  std::uint64_t busy = 0;
  for (std::int64_t word = 0; word < words_; word++)
    busy |= chosen_[at(word)] & ~left_[0][at(word)];
  return busy == 0;
}

// ---------------------------------------------------------------- reservations

// Whether some of the chosen nodes are reserved for a part of [begin_s, end_s), now or later.
bool NodeSpace::overlaps(double begin_s, double end_s) const {
  const std::int64_t last = from(end_s);
  for (std::int64_t segment = after(std::max(begin_s, times_[0])) - 1; segment < last; segment++) {
    for (std::int64_t word = 0; word < words_; word++) {
      if (chosen_[at(word)] & ~free(segment)[at(word)]) return true;
    }
  }
  return false;
}

// The segment that begins at a time from now on, made if it is missing; past the last one for
// infinity.
std::int64_t NodeSpace::split(double time_s) {
  const std::int64_t segment = from(time_s);
  if (time_s < NEVER && (segment == segments() || times_[at(segment)] > time_s)) {
    order_.insert(order_.begin() + segment, static_cast<std::uint32_t>(free_.size()));
    free_.push_back(Words(free_[order_[at(segment - 1)]]));
    times_.insert(times_.begin() + segment, time_s);
  }
  return segment;
}

// Reserve the chosen nodes over an interval, from now on at the earliest; an empty one reserves
// nothing. Then the first two neighbours that have become equal are joined, from two segments
// before the interval to the one after it.
void NodeSpace::reserve(double begin_s, double end_s) {
  begin_s = std::max(begin_s, times_[0]);
  if (begin_s >= end_s) return;
  const std::int64_t first = split(begin_s), last = split(end_s);
  for (std::int64_t segment = first; segment < last; segment++) {
    for (std::int64_t word = 0; word < words_; word++) row(segment)[at(word)] &= ~chosen_[at(word)];
  }
  const std::int64_t end = std::min(last, segments() - 1);
  for (std::int64_t segment = std::max<std::int64_t>(first - 2, 0); segment < end; segment++) {
    if (free(segment) != free(segment + 1)) continue;
    times_.erase(times_.begin() + segment + 1);
    order_.erase(order_.begin() + segment + 1);
    return;
  }
}

}  // namespace spillway
