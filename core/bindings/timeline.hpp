// Timelines in Python: the class tells whether one holds nodes longer.
#pragma once
#include <nanobind/nanobind.h>

#include <utility>

#include "book/timeline.hpp"

namespace spillway::bindings {

/// The published scheduler's timeline: nodes are held one rounding step longer.
class PublishedTimeline : public Timeline {
 public:
  PublishedTimeline(MachinePtr machine, double now_s) : Timeline(std::move(machine), now_s, true) {}
};

/// Python's class of the decision to start a job.
nanobind::handle start_type();

void check_duration(const Job& job, double duration_s);
/// Raise Python's refusal of a booking.
[[noreturn]] void refuse_booking(const Timeline& timeline, const Refusal& why);

}  // namespace spillway::bindings

namespace nanobind::detail {

template <>
struct type_hook<spillway::Timeline> {
  static const std::type_info* get(const spillway::Timeline* timeline) {
    return timeline->holds_nodes_longer() ? &typeid(spillway::bindings::PublishedTimeline)
                                          : &typeid(spillway::Timeline);
  }
};

}  // namespace nanobind::detail
