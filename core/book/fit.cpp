#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "window.hpp"

namespace spillway {
namespace {

// Tries the alternative sets of a demand in turn: the earliest start wins, and of equals the first
// set.
template <class Find>
double over_sets(const Machine& machine, const JobDemand& demand, double latest_s, Scratch& scratch,
                 Find find) {
  double found_s = NEVER;
  std::int64_t best = demand.first_set;
  const std::int64_t last = best + machine.set(best).following;
  Wanted request{demand, nullptr};
  for (std::int64_t number = demand.first_set; number <= last; number++) {
    request.set = &machine.set(number);
    scratch.begin(machine, *request.set);
    const double start_s = find(request, NEVER, std::min(latest_s, found_s));
    if (start_s < found_s) {
      found_s = start_s;
      best = number;
    }
  }
  if (found_s < NEVER && best != last) {
    request.set = &machine.set(best);
    scratch.begin(machine, *request.set);
    find(request, found_s, found_s);
  }
  return found_s;
}

// A sliding window over the segments from `first` to `following` (not included), kept as two parts
// so that it can shrink at the front: back(k) has the resources free from k up to (not including)
// `middle`, and `forward` those free from `middle` on. When new segments make the window too small
// for the job, the front moves until it fits again; when the front has reached `middle`, the window
// is grown backwards from the last new segment. Every segment is thus visited three times at most,
// however long the window.
//
// A single segment with too little left rules out most starts. These are passed over first, by a
// test that is much cheaper than narrowing windows, and that any window with such a segment would
// fail.
class Slider {
 public:
  Slider(const Steps& steps, const Machine& machine, const Wanted& request, Scratch& scratch)
      : steps_(steps),
        machine_(machine),
        request_(request),
        scratch_(scratch),
        narrowing_(steps, machine, request) {}

  double run(double duration_s, double not_before_s, double latest_s) {
    first_ = middle_ = following_ = passable_ = steps_.segment_at(not_before_s);
    start_s_ = not_before_s;
    std::int64_t* window = scratch_.forward;
    const std::int64_t count = steps_.size();
    while (following_ < count &&
           (following_ == first_ || steps_.time(following_) < start_s_ + duration_s)) {
      if (!pass_over(duration_s, latest_s)) return NEVER;
      const std::int64_t moved_from = first_, begin = following_;
      // Under RACK a longer window may hold a job that a shorter one did not: it grows one by one.
      if (!machine_.racks) following_ = passable_ - 1;
      const std::int64_t* wider = begin == middle_ ? scratch_.full : scratch_.forward;
      const bool enough = narrowing_.by_segments(scratch_.forward, wider, begin, following_ + 1);
      window = scratch_.window;
      while (enough && first_ < middle_) {
        if (narrowing_.by_row(scratch_.window, scratch_.forward, scratch_.back(first_)) &&
            holds(scratch_.window, request_, machine_, scratch_)) {
          break;
        }
        first_++;
      }
      if (first_ == middle_ || !enough) {
        window = scratch_.forward;
        if (!enough || !holds(scratch_.forward, request_, machine_, scratch_)) {
          if (middle_ + 1 >= count || steps_.time(middle_ + 1) > latest_s) return NEVER;
          if (following_ == middle_) {  // the window is this segment only, which is too full
            first_ = narrowing_.next_with_enough(following_ + 1);
          } else {
            first_ = grow_backwards(middle_ + 1, following_);
          }
          if (first_ >= count) return NEVER;
          window = scratch_.back(first_);
          middle_ = std::max(first_, following_ + 1);
          following_ = middle_ - 1;
        }
      }
      following_++;
      if (first_ != moved_from) {
        start_s_ = steps_.time(first_);
        if (start_s_ > latest_s) return NEVER;
      }
    }
    const std::int64_t after =
        segment_after(steps_, machine_, request_.demand, start_s_ + duration_s, first_, scratch_);
    choose(window, steps_.row(after), request_, machine_, scratch_);
    scratch_.start_segment = first_;
    return start_s_;
  }

 private:
  // Check the segments of the window that were not checked yet; where one cannot hold the job,
  // begin anew behind it.
  bool pass_over(double duration_s, double latest_s) {
    const std::int64_t count = steps_.size();
    passable_ = std::max(passable_, first_);
    while (passable_ < count &&
           (passable_ == first_ || steps_.time(passable_) < start_s_ + duration_s)) {
      if (!narrowing_.may_hold(passable_)) {
        first_ = narrowing_.next_that_may(passable_ + 1);
        if (first_ >= count || steps_.time(first_) > latest_s) return false;
        middle_ = following_ = passable_ = first_;
        start_s_ = steps_.time(first_);
      }
      passable_++;
    }
    return true;
  }

  // First segment, not before `lowest`, from which the job fits up to and including `last`. If
  // `last` itself is too full: the first later segment with enough nodes and bytes, or their
  // number.
  std::int64_t grow_backwards(std::int64_t lowest, std::int64_t last) {
    const std::int64_t* wider = scratch_.full;
    std::int64_t first = last + 1;
    while (first > lowest &&
           narrowing_.by_row(scratch_.back(first - 1), wider, steps_.row(first - 1)) &&
           holds(scratch_.back(first - 1), request_, machine_, scratch_)) {
      first--;
      wider = scratch_.back(first);
    }
    return first <= last ? first : narrowing_.next_with_enough(first);
  }

  const Steps& steps_;
  const Machine& machine_;
  const Wanted& request_;
  Scratch& scratch_;
  Narrowing narrowing_;
  std::int64_t first_ = 0, middle_ = 0, following_ = 0, passable_ = 0;
  double start_s_ = 0.0;
};

// The sliding window of one kind of resources over the segments.
struct Slide {
  Kinds kind;
  std::int64_t middle =
      0;  // back(k) has the amounts of the kind free from segment k up to (not including) this one
  std::int64_t following =
      0;  // `forward` has those free from the middle up to (not including) this one
  std::int64_t blocked =
      -1;  // no window that begins in this segment or before has enough of the kind
};

// Search with lives: nodes, storages and links have a sliding window each. If one kind is blocked
// up to some segment, the others skip the candidates up to there.
class Apart {
 public:
  Apart(const Steps& steps, const Machine& machine, const Wanted& request, Scratch& scratch)
      : steps_(steps),
        machine_(machine),
        request_(request),
        scratch_(scratch),
        narrowing_(steps, machine, request) {}

  double run(const Span& span, double not_before_s, double latest_s) {
    if (!(request_.demand.uses & NODES)) {
      std::copy(scratch_.full + HEAD, scratch_.full + machine_.first_storage,
                scratch_.window + HEAD);
      scratch_.window[FREE_NODES] = scratch_.full[FREE_NODES];
    }
    const double start_s = earliest(span, not_before_s, latest_s);
    if (start_s == NEVER) return start_s;
    const double end_s = std::max(start_s + span.duration_s + span.lead_s + span.tail_s, start_s);
    const std::int64_t after = segment_after(steps_, machine_, request_.demand, end_s, 0, scratch_);
    choose(scratch_.window, steps_.row(after), request_, machine_, scratch_);
    return start_s;
  }

 private:
  double earliest(const Span& span, double not_before_s, double latest_s) {
    const std::int64_t uses = request_.demand.uses, count = steps_.size();
    Slide nodes{NODES}, storages{BURST_BUFFERS}, links{BANDWIDTH};
    double start_s = not_before_s;
    std::int64_t first = steps_.segment_at(start_s), on = steps_.segment_at(start_s + span.lead_s);
    while (start_s <= latest_s) {
      if (nodes.blocked < on && storages.blocked < first) {
        const double off_s = start_s + span.duration_s + span.lead_s;
        if (uses & NODES) slide(nodes, on, off_s);
        if (uses & BURST_BUFFERS && nodes.blocked < on) {
          slide(storages, first, std::max(off_s + span.tail_s, start_s));
        }
        if (nodes.blocked < on && storages.blocked < first) {
          if (uses & BANDWIDTH)
            slide(links, on, std::max(off_s + span.links_tail_s, start_s + span.lead_s));
          if (holds(scratch_.window, request_, machine_, scratch_)) return start_s;
        }
      }
      double next_s = NEVER;
      if (on + 1 < count) next_s = start_before(steps_.time(on + 1), span.lead_s);
      if (first + 1 < count) next_s = std::min(next_s, steps_.time(first + 1));
      if (next_s == NEVER) return NEVER;
      start_s = next_s;
      while (steps_.end(first) <= start_s && first + 1 < count) first++;
      while (steps_.end(on) <= start_s + span.lead_s && on + 1 < count) on++;
    }
    return NEVER;
  }

  // Move a kind's window on to the segments from `begin` up to end_s, at least one; neither may be
  // earlier than in the previous call. Fills the kind's columns of the window unless it is blocked.
  void slide(Slide& at, std::int64_t begin, double end_s) {
    const std::int64_t count = steps_.size();
    if (begin < at.middle) {
      for (; at.following < count && steps_.time(at.following) < end_s; at.following++) {
        const std::int64_t* wider = at.following == at.middle ? scratch_.full : scratch_.forward;
        if (!narrowing_.kind_by_row(scratch_.forward, wider, steps_.row(at.following), at.kind)) {
          at.blocked = at.middle;
          return;
        }
      }
      const std::int64_t* wider = at.following == at.middle ? scratch_.full : scratch_.forward;
      const bool enough =
          narrowing_.kind_by_row(scratch_.window, wider, scratch_.back(begin), at.kind);
      at.blocked = enough ? begin - 1 : begin;
      return;
    }
    std::int64_t end = std::max(begin + 1, at.following);
    while (end < count && steps_.time(end) < end_s) end++;
    std::int64_t first = end;
    const std::int64_t* wider = scratch_.full;
    while (first > begin && narrowing_.kind_by_row(scratch_.back(first - 1), wider,
                                                   steps_.row(first - 1), at.kind)) {
      first--;
      wider = scratch_.back(first);
    }
    if (first == begin)
      narrowing_.kind_by_row(scratch_.window, scratch_.full, scratch_.back(begin), at.kind);
    at.middle = at.following = end;
    at.blocked = first - 1;
  }

  const Steps& steps_;
  const Machine& machine_;
  const Wanted& request_;
  Scratch& scratch_;
  Narrowing narrowing_;
};

void book_columns(Steps& steps, const std::int64_t* usage, std::int64_t* part,
                  const Machine& machine, std::int64_t low, std::int64_t high, double start_s,
                  double end_s) {
  if (!(start_s < end_s)) return;
  std::fill(part, part + machine.width, 0);
  std::copy(usage + low, usage + high, part + low);
  if (low == HEAD) {
    part[FREE_NODES] = usage[FREE_NODES];
  } else if (low < high) {
    part[FREE_BYTES] = usage[FREE_BYTES];
  }
  steps.book(start_s, end_s, part, 1);
}

}  // namespace

double start_before(double begin_s, double lead_s) {
  double start_s = begin_s - lead_s;
  while (start_s + lead_s < begin_s) start_s = std::nextafter(start_s, NEVER);
  return start_s;
}

double find_fit(const Steps& steps, const Machine& machine, const JobDemand& demand,
                double duration_s, double not_before_s, double latest_s) {
  Scratch& scratch = Scratch::of(machine, steps.size());
  return over_sets(machine, demand, latest_s, scratch,
                   [&](const Wanted& request, double from_s, double until_s) {
                     Slider slider(steps, machine, request, scratch);
                     return slider.run(duration_s, from_s < NEVER ? from_s : not_before_s, until_s);
                   });
}

double find_apart(const Steps& steps, const Machine& machine, const JobDemand& demand,
                  const Span& span, double not_before_s, double latest_s) {
  Scratch& scratch = Scratch::of(machine, steps.size());
  return over_sets(machine, demand, latest_s, scratch,
                   [&](const Wanted& request, double from_s, double until_s) {
                     Apart apart(steps, machine, request, scratch);
                     return apart.run(span, from_s < NEVER ? from_s : not_before_s, until_s);
                   });
}

void book_apart(Steps& steps, const Machine& machine, const Span& span, double start_s,
                Scratch& scratch) {
  std::int64_t *usage = scratch.usage, *part = scratch.since;
  const double on_s = start_s + span.lead_s, off_s = start_s + span.duration_s + span.lead_s;
  const std::int64_t first = machine.first_storage, links = machine.first_link,
                     pools = machine.first_pool;
  book_columns(steps, usage, part, machine, HEAD, first, on_s, off_s);
  book_columns(steps, usage, part, machine, first, links, start_s,
               std::max(off_s + span.tail_s, start_s));
  usage[FREE_BYTES] = 0;
  book_columns(steps, usage, part, machine, pools, machine.width, on_s,
               off_s);  // pools go with the nodes
  book_columns(steps, usage, part, machine, links, pools, on_s,
               std::max(off_s + span.links_tail_s, on_s));
}

}  // namespace spillway
