#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/iterator.hpp"
#include "bindings/timeline.hpp"
#include "book/timeline.hpp"
#include "session/queue.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

nb::handle start_class;  // lives as long as the process

}  // namespace

nb::handle start_type() { return start_class; }

namespace {

using Seconds = nb::ndarray<const double, nb::shape<-1>, nb::c_contig, nb::device::cpu>;

/// Jobs of a step in its order: a part of the line of waiting jobs, or a sequence of Python's.
class Order {
 public:
  explicit Order(nb::handle jobs) : jobs_(nb::borrow(jobs)) {
    if (nb::try_cast<const Waiting*>(jobs, waiting_))
      place_ = waiting_->first;
    else
      count_ = nb::len(jobs);
  }

  /// The part of the line; null: a sequence of Python's.
  const Waiting* waiting() const { return waiting_; }
  /// Number of jobs that were given.
  std::size_t given() const { return given_; }

  /// The next job; null: there is none.
  JobPtr next() {
    if (waiting_ == nullptr) return given_ < count_ ? nb::cast<JobPtr>(jobs_[given_++]) : JobPtr();
    while (place_ < waiting_->end)
      if (const JobPtr& job = waiting_->line->jobs[place_++]) {
        ++given_;
        return job;
      }
    return nullptr;
  }

 private:
  nb::object jobs_;  // keeps `waiting_`
  const Waiting* waiting_ = nullptr;
  std::size_t count_ = 0, place_ = 0, given_ = 0;
};

/// A step of a pass: its starts, each found and booked when it is asked for.
class PassStep {
 public:
  PassStep(nb::handle timeline, nb::handle jobs)
      : keep_(nb::borrow(timeline)), timeline_(nb::cast<Timeline&>(timeline)), jobs_(jobs) {}

  std::size_t started() const { return started_; }

 protected:
  Timeline& timeline() { return timeline_; }
  Order& jobs() { return jobs_; }

  nb::object begin(JobPtr job, double duration_s, Allocation&& allocation) {
    Refusal why;
    const double now_s = timeline_.now_s();
    if (!timeline_.reserve(now_s, now_s + duration_s, allocation, ALL_KINDS, why))
      refuse_booking(timeline_, why);
    ++started_;
    return start_type()(std::move(job), std::move(allocation));
  }

 private:
  nb::object keep_;
  Timeline& timeline_;
  Order jobs_;
  std::size_t started_ = 0;
};

/// First come, first served: starts up to the first misfit.
class StartsInOrder : public PassStep {
 public:
  StartsInOrder(nb::handle timeline, nb::handle jobs, nb::handle estimate_s)
      : PassStep(timeline, jobs), estimate_s_(nb::borrow(estimate_s)) {}

  /// The next start; without a value at the end.
  nb::object next() {
    JobPtr job = ended_ ? nullptr : jobs().next();
    Allocation found;
    if (job) {
      const bool many = job->nodes > timeline().free_nodes_now() && !job->lives;
      const double duration_s =
          many || estimate_s_.is_none() ? job->walltime_s : nb::cast<double>(estimate_s_(job));
      check_duration(*job, duration_s);
      if (!many && timeline().fit_now(*job, duration_s, ALL_KINDS, found))
        return begin(std::move(job), duration_s, std::move(found));
    }
    ended_ = true;
    return {};
  }

 private:
  nb::object estimate_s_;
  bool ended_ = false;
};

/// Greedy filling: starts of all jobs that fit now, one after another. Jobs are searched block by
/// block, as most searches end early. Free resources only become fewer in a step, so a job that did
/// not fit is not tried again, nor, in the line of waiting jobs, one with the same request.
class Fill : public PassStep {
 public:
  Fill(nb::handle timeline, nb::handle jobs, std::optional<Seconds> durations_s)
      : PassStep(timeline, jobs), durations_s_(std::move(durations_s)) {
    grouped_ = this->jobs().waiting() != nullptr && !durations_s_;
    if (grouped_) find_heads(*this->jobs().waiting());
  }

  nb::object next() {
    for (;;) {
      const std::int64_t free = this->timeline().free_nodes_now();
      if (free == 0) return {};
      if (at_ == block_.size() && !collect(free)) return {};
      const auto job_at = [&](std::int64_t place) -> const Job& {
        return *block_[at_ + std::size_t(place)].job;
      };
      Allocation found;
      const std::int64_t place =
          timeline().first_fit_now(job_at, demands_.data() + at_, lengths_s_.data() + at_,
                                   std::int64_t(block_.size() - at_), found);
      if (place < 0) {
        at_ = block_.size();
        continue;
      }
      const Candidate here = std::move(block_[at_ + std::size_t(place)]);
      const double length_s = lengths_s_[at_ + std::size_t(place)];
      at_ += std::size_t(place) + 1;
      if (grouped_) follow(here);
      return begin(here.job, length_s, std::move(found));
    }
  }

 private:
  static constexpr std::size_t MOST = 512;

  /// A place of the line and its group, ordered by place.
  using Head = std::pair<std::size_t, std::size_t>;
  struct Candidate {
    JobPtr job;
    Head head;
  };

  /// The first job of each group that may fit.
  void find_heads(const Waiting& waiting) {
    const Line& line = *waiting.line;
    const std::int64_t free = timeline().free_nodes_now();
    for (std::size_t group = 0; group < line.fewest.size(); ++group)
      if (line.fewest[group] <= free) add_head(waiting, group, waiting.first);
    std::make_heap(heads_.begin(), heads_.end(), std::greater<>());
  }
  bool add_head(const Waiting& waiting, std::size_t group, std::size_t first) {
    const std::size_t place = waiting.line->next_of(group, first, waiting.end);
    if (place < waiting.end) heads_.emplace_back(place, group);
    return place < waiting.end;
  }

  /// The next job of a group whose last one started comes into the block, or to the heads.
  void follow(const Candidate& started) {
    const Waiting& waiting = *jobs().waiting();
    if (!add_head(waiting, started.head.second, started.head.first + 1)) return;
    const Head next = heads_.back();
    if (at_ < block_.size() && next < block_.back().head) {
      heads_.pop_back();
      std::size_t before = at_;
      while (block_[before].head < next) ++before;
      insert(before, waiting.line->jobs[next.first], next);
    } else {
      std::push_heap(heads_.begin(), heads_.end(), std::greater<>());
    }
  }

  void insert(std::size_t place, const JobPtr& job, Head head) {
    const auto here = std::ptrdiff_t(place);
    demands_.insert(demands_.begin() + here, timeline().demand_of(*job));
    const double length_s =
        durations_s_ ? durations_s_->data()[jobs().given() - 1] : job->walltime_s;
    lengths_s_.insert(lengths_s_.begin() + here, length_s);
    block_.insert(block_.begin() + here, Candidate{job, head});
  }

  /// The next jobs that may fit; whether there are any.
  bool collect(std::int64_t free) {
    block_.clear();
    demands_.clear();
    lengths_s_.clear();
    at_ = 0;
    if (grouped_) {
      const Line& line = *jobs().waiting()->line;
      while (block_.size() < MOST && !heads_.empty()) {
        std::pop_heap(heads_.begin(), heads_.end(), std::greater<>());
        const Head head = heads_.back();
        heads_.pop_back();
        if (line.fewest[head.second] <= free) insert(block_.size(), line.jobs[head.first], head);
      }
    } else {
      while (block_.size() < MOST) {
        const JobPtr job = jobs().next();
        if (!job) break;
        if (job->nodes <= free || job->lives) insert(block_.size(), job, {});
      }
    }
    return !block_.empty();
  }

  std::optional<Seconds> durations_s_;
  bool grouped_ = false;
  std::vector<Head> heads_;  // a heap, the first place on top
  std::vector<Candidate> block_;
  std::vector<JobDemand> demands_;
  std::vector<double> lengths_s_;
  std::size_t at_ = 0;  // of the block: all before it were tried
};

}  // namespace

void bind_pass_steps(nb::module_& module) {
  module.def("set_start_type", [](nb::handle type) {
    start_class = type;
    type.inc_ref();
  });
  nb::class_<StartsInOrder>(module, "StartsInOrder",
                            nb::type_slots(iterator_slots<StartsInOrder>()))
      .def(nb::init<nb::handle, nb::handle, nb::handle>(), nb::arg("timeline"), nb::arg("jobs"),
           nb::arg("estimate_s").none() = nb::none())
      .def_prop_ro("started", &StartsInOrder::started);
  nb::class_<Fill>(module, "Fill", nb::type_slots(iterator_slots<Fill>()))
      .def(nb::init<nb::handle, nb::handle, std::optional<Seconds>>(), nb::arg("timeline"),
           nb::arg("jobs"), nb::arg("durations_s") = nb::none());
}

}  // namespace spillway::bindings
