#include "book/timeline.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/kinds.hpp"
#include "bindings/machine.hpp"
#include "bindings/timeline.hpp"
#include "bindings/values.hpp"
#include "book/placement.hpp"

namespace nb = nanobind;

namespace spillway::bindings {

void check_duration(const Job& job, double duration_s) {
  if (!(duration_s >= 0)) refuse("duration", job.id.c_str(), duration_s);
}

void refuse_booking(const Timeline& timeline, const Refusal& why) {
  refuse("booking", static_cast<int>(why.fault), why.taking, why.time_s, why.until_s, why.index,
         why.free, why.most, why.size, why.start_s, why.end_s, why.allocation,
         python_machine(*timeline.machine()), timeline.now_s());
}

namespace {

nb::object class_of(const char* name) {
  return nb::module_::import_("spillway.core.fit").attr(name);
}

nb::object fit_now(const Timeline& timeline, const Job& job, double duration_s, Covering covering) {
  if (covering.kinds & NODES && job.nodes > timeline.free_nodes_now() && !job.lives)
    return nb::none();
  check_duration(job, duration_s);
  Allocation found;
  if (!timeline.fit_now(job, duration_s, covering.kinds, found)) return nb::none();
  return nb::cast(std::move(found));
}

nb::object earliest_fit(const Timeline& timeline, const Job& job, double duration_s,
                        nb::handle not_before_s, Covering covering, double latest_s) {
  check_duration(job, duration_s);
  static nb::object* const fit = new nb::object(class_of("Fit"));  // lives as long as the process
  const double first_s = not_before_s.is_none() ? timeline.now_s() : nb::cast<double>(not_before_s);
  Allocation found;
  const double start_s =
      timeline.earliest_fit(job, duration_s, first_s, latest_s, covering.kinds, found);
  if (start_s == NEVER) return nb::none();
  return (*fit)(start_s, std::move(found));
}

nb::tuple demand_of(const Timeline& timeline, const Job& job) {
  const JobDemand one = timeline.demand_of(job);
  return nb::make_tuple(one.nodes, one.bb_bytes, one.io_rate, one.uses, one.requests,
                        one.first_set);
}

void reserve(Timeline& timeline, double start_s, double end_s, const Allocation& allocation,
             Covering covering) {
  Refusal why;
  if (!timeline.reserve(start_s, end_s, allocation, covering.kinds, why))
    refuse_booking(timeline, why);
}

void release(Timeline& timeline, double start_s, double end_s, const Allocation& allocation,
             Covering covering) {
  Refusal why;
  if (!timeline.release(start_s, end_s, allocation, covering.kinds, why))
    refuse_booking(timeline, why);
}

double reserve_from(Timeline& timeline, double not_before_s, double duration_s,
                    const Allocation& allocation) {
  Refusal why;
  const double start_s = timeline.reserve_from(not_before_s, duration_s, allocation, why);
  if (why.fault != Fault::NONE) refuse_booking(timeline, why);
  return start_s;
}

void advance(Timeline& timeline, double now_s) {
  const double begins_s = timeline.now_s();
  if (!timeline.advance(now_s)) refuse("advance", now_s, begins_s);
}

void take(Timeline& timeline, double start_s, double end_s, nb::handle nodes, nb::handle bb_bytes,
          nb::handle pools) {
  if (!timeline.take(start_s, end_s, indices_of(nodes), amounts_of(bb_bytes), amounts_of(pools))) {
    refuse("interval", start_s, end_s, timeline.now_s(), "be empty");
  }
}

void widen(Timeline& timeline, nb::handle pools) {
  nb::object change = nb::module_::import_("dataclasses").attr("replace");
  nb::object machine =
      change(python_machine(*timeline.machine()), nb::arg("pools") = nb::borrow(pools));
  timeline.widen(pools_of(pools), source_of(machine, python_placement(*timeline.machine())));
}

/// A copy of the same class: also of a class that Python derived.
nb::object copy(nb::handle self) {
  nb::object other = nb::inst_alloc(self.type());
  new (nb::inst_ptr<Timeline>(other)) Timeline(*nb::inst_ptr<Timeline>(self));
  nb::inst_mark_ready(other);
  return other;
}

void check(const Timeline& timeline) {
  const std::string fault = timeline.check();
  if (fault.empty()) return;
  PyErr_SetString(PyExc_AssertionError, fault.c_str());
  throw nb::python_error();
}

/// A row as the resources that are free.
nb::object free_of(const Machine& machine, const std::vector<std::int64_t>& row) {
  static nb::object* const free = new nb::object(class_of("Free"));  // lives as long as the process
  std::vector<std::int32_t> nodes;
  for (std::int64_t word = 0; word < machine.words; word++) {
    for (std::uint64_t left = words_of(row.data() + HEAD)[word]; left; left &= left - 1) {
      nodes.push_back(static_cast<std::int32_t>(word * 64 + lowest_bit(left)));
    }
  }
  const auto part = [&](std::int64_t first, std::int64_t last) {
    nb::list found;
    for (std::int64_t column = first; column < last; column++)
      found.append(row[static_cast<std::size_t>(column)]);
    return found;
  };
  return (*free)(tuple_of(nodes), part(machine.first_storage, machine.first_link),
                 part(machine.first_link, machine.first_pool),
                 part(machine.first_pool, machine.width));
}

nb::object free_until(const Timeline& timeline, double end_s) {
  return free_of(*timeline.machine(), timeline.free_until(end_s));
}

nb::object free_at(const Timeline& timeline, double time_s) {
  const std::int64_t* row = timeline.row(timeline.segment_at(time_s));
  return free_of(*timeline.machine(),
                 std::vector<std::int64_t>(row, row + timeline.machine()->width));
}

nb::list segments(const Timeline& timeline) {
  nb::list found;
  for (const double time_s : timeline.steps().times()) {
    found.append(nb::make_tuple(time_s, free_at(timeline, time_s)));
  }
  return found;
}

/// Starts of the segments, and times at which bookings on drained storage nodes change.
std::vector<double> breakpoints(const Snapshot& snapshot) {
  std::vector<double> found(snapshot.steps.times());
  for (const auto& [storage, node] : snapshot.drained) {
    found.insert(found.end(), node.times().begin(), node.times().end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::pair<std::int64_t, std::int64_t>> totals_at(const Timeline& timeline,
                                                             const std::vector<double>& times_s) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (const double time_s : times_s) {
    const std::int64_t* row = timeline.row(timeline.segment_at(time_s));
    found.emplace_back(row[FREE_NODES], row[FREE_BYTES]);
  }
  return found;
}

nb::object storages_for(const Timeline& timeline, nb::handle nodes, nb::handle free_bytes,
                        std::int64_t bb_bytes, nb::handle order, std::int64_t stripes) {
  const auto found = choose_storages(*timeline.machine(), indices_of(nodes), amounts_of(free_bytes),
                                     bb_bytes, storage_order_of(order), stripes);
  return found ? nb::object(tuple_of(*found)) : nb::none();
}

std::vector<std::int64_t> columns(const Timeline& timeline, std::int64_t first, std::int64_t last) {
  return std::vector<std::int64_t>(timeline.row(0) + first, timeline.row(0) + last);
}

}  // namespace

void bind_timeline(nb::module_& module) {
  nb::class_<Snapshot>(module, "Snapshot").def("breakpoints", &breakpoints);

  nb::class_<Timeline> plain(module, "Timeline");
  plain
      .def(
          "__init__",
          [](Timeline* self, nb::handle machine, double now_s, nb::handle placement) {
            new (self) Timeline(machine_of(machine, placement), now_s);
          },
          nb::arg("machine"), nb::arg("now_s") = 0.0, nb::arg("placement").none() = nb::none())
      .def_prop_ro("machine", [](const Timeline& self) { return python_machine(*self.machine()); })
      .def_prop_ro("placement",
                   [](const Timeline& self) { return python_placement(*self.machine()); })
      .def_prop_ro("now_s", &Timeline::now_s)
      .def("__len__", &Timeline::size)
      .def("breakpoints", [](const Timeline& self) { return self.steps().times(); })
      .def("next_change_s", &Timeline::next_change_s)
      .def("free_nodes_now", &Timeline::free_nodes_now)
      .def("free_storage_now",
           [](const Timeline& self) {
             return columns(self, self.machine()->first_storage, self.machine()->first_link);
           })
      .def("free_bandwidth_now",
           [](const Timeline& self) {
             return columns(self, self.machine()->first_link, self.machine()->first_pool);
           })
      .def("free_pools_now",
           [](const Timeline& self) {
             return columns(self, self.machine()->first_pool, self.machine()->width);
           })
      .def("segments", &segments)
      .def("free_until", &free_until, nb::arg("end_s"))
      .def("totals_at", &totals_at, nb::arg("times_s"))
      .def("fit_now", &fit_now, nb::arg("job"), nb::arg("duration_s"),
           nb::arg("covering") = Covering())
      .def("choose_storages", &storages_for, nb::arg("nodes"), nb::arg("free_bytes"),
           nb::arg("bb_bytes"), nb::arg("order"), nb::arg("stripes") = 0)
      .def("demand_of", &demand_of, nb::arg("job"))
      .def("earliest_fit", &earliest_fit, nb::arg("job"), nb::arg("duration_s"),
           nb::arg("not_before_s") = nb::none(), nb::arg("covering") = Covering(),
           nb::arg("latest_s") = NEVER)
      .def("reserve", &reserve, nb::arg("start_s"), nb::arg("end_s"), nb::arg("allocation"),
           nb::arg("covering") = Covering())
      .def("reserve_from", &reserve_from, nb::arg("not_before_s"), nb::arg("duration_s"),
           nb::arg("allocation"))
      .def("release", &release, nb::arg("start_s"), nb::arg("end_s"), nb::arg("allocation"),
           nb::arg("covering") = Covering())
      .def("advance", &advance, nb::arg("now_s"))
      .def(
          "close",
          [](Timeline& self, nb::handle nodes, nb::handle storages) {
            self.close(indices_of(nodes), indices_of(storages));
          },
          nb::arg("nodes"), nb::arg("storages"))
      .def("take", &take, nb::arg("start_s"), nb::arg("end_s"), nb::arg("nodes"),
           nb::arg("bb_bytes") = nb::tuple(), nb::arg("pools") = nb::tuple())
      .def("drain", &Timeline::drain, nb::arg("storage"), nb::arg("drained"))
      .def("widen", &widen, nb::arg("pools"))
      .def("copy", &copy)
      .def("snapshot", &Timeline::snapshot)
      .def("restore", &Timeline::restore, nb::arg("snapshot"))
      .def("check", &check);

  nb::class_<PublishedTimeline, Timeline> published(module, "PublishedTimeline");
  published.def(
      "__init__",
      [](PublishedTimeline* self, nb::handle machine, double now_s, nb::handle placement) {
        new (self) PublishedTimeline(machine_of(machine, placement), now_s);
      },
      nb::arg("machine"), nb::arg("now_s") = 0.0, nb::arg("placement").none() = nb::none());
}

}  // namespace spillway::bindings
