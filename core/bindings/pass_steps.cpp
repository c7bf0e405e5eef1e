#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <limits>
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

  /// Place after the last job.
  std::size_t end() const { return waiting_ != nullptr ? waiting_->end : count_; }
  std::size_t place() const { return place_; }
  void go_to(std::size_t place, std::size_t number) {
    place_ = place;
    number_ = number;
  }

  /// The next job that may start on this many free nodes; null: there is none.
  JobPtr next_within(std::int64_t free) {
    for (; place_ < end(); ++place_, ++number_) {
      if (waiting_ != nullptr) {
        if (waiting_->line->jobs[place_] == nullptr)
          --number_;
        else if (waiting_->line->fewest[place_] <= free)
          return taken(waiting_->line->jobs[place_]);
      } else {
        JobPtr job = nb::cast<JobPtr>(jobs_[place_]);
        if (job->nodes <= free || job->lives) return taken(std::move(job));
      }
    }
    return nullptr;
  }

  /// The next job; null: there is none.
  JobPtr next() { return next_within(std::numeric_limits<std::int64_t>::max()); }
  /// Number of the job that was given last.
  std::size_t number() const { return number_ - 1; }

 private:
  JobPtr taken(JobPtr job) {
    ++place_;
    ++number_;
    return job;
  }

  nb::object jobs_;  // keeps `waiting_`
  const Waiting* waiting_ = nullptr;
  std::size_t count_ = 0, place_ = 0, number_ = 0;
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
/// block, as most searches end early.
class Fill : public PassStep {
 public:
  Fill(nb::handle timeline, nb::handle jobs, std::optional<Seconds> durations_s)
      : PassStep(timeline, jobs), durations_s_(std::move(durations_s)) {}

  nb::object next() {
    const std::int64_t free = timeline().free_nodes_now();
    while (free > 0 && jobs().place() < jobs().end()) {
      collect(free);
      Allocation found;
      const auto job_at = [&](std::int64_t place) -> const Job& {
        return *block_[std::size_t(place)];
      };
      const std::int64_t place = timeline().first_fit_now(
          job_at, demands_.data(), lengths_s_.data(), std::int64_t(block_.size()), found);
      if (place < 0) continue;
      const auto here = std::size_t(place);
      jobs().go_to(after_[here].first, after_[here].second);
      return begin(std::move(block_[here]), lengths_s_[here], std::move(found));
    }
    return {};
  }

 private:
  static constexpr std::size_t MOST = 512;

  /// The next jobs that may fit.
  void collect(std::int64_t free) {
    block_.clear();
    demands_.clear();
    lengths_s_.clear();
    after_.clear();
    while (block_.size() < MOST) {
      JobPtr job = jobs().next_within(free);
      if (!job) return;
      demands_.push_back(timeline().demand_of(*job));
      lengths_s_.push_back(durations_s_ ? durations_s_->data()[jobs().number()] : job->walltime_s);
      after_.emplace_back(jobs().place(), jobs().number() + 1);
      block_.push_back(std::move(job));
    }
  }

  std::optional<Seconds> durations_s_;
  std::vector<JobPtr> block_;
  std::vector<JobDemand> demands_;
  std::vector<double> lengths_s_;
  std::vector<std::pair<std::size_t, std::size_t>> after_;  // place and number
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
