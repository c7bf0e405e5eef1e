#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/payload.hpp"
#include "log/allocation_table.hpp"
#include "loop/fault.hpp"
#include "loop/job_table.hpp"
#include "loop/machines.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using batsim::JobTable;
using batsim::Machines;
using batsim::MachineState;
using batsim::Totals;

/// What gives rows of a table to a callable of Python.
std::function<void(const std::string&)> rows_to(nb::object sink) {
  auto kept = std::make_shared<PythonPayload>(std::move(sink));
  return [kept](const std::string& rows) {
    const nb::gil_scoped_acquire gil;
    kept->value(rows);
  };
}

/// A callable of Python that may be called without its lock.
template <typename Result, typename Argument>
std::function<Result(Argument)> unlocked(nb::object callable) {
  auto kept = std::make_shared<PythonPayload>(std::move(callable));
  return [kept](Argument argument) {
    const nb::gil_scoped_acquire gil;
    return nb::cast<Result>(kept->value(argument));
  };
}

}  // namespace

void bind_machines(nb::module_& module) {
  nb::class_<Machines>(module, "MachineStates")
      .def(
          "__init__",
          [](Machines* it, std::vector<std::int32_t> hosts, std::size_t compute_count,
             nb::object way) {
            new (it) Machines(std::move(hosts), compute_count,
                              [find = unlocked<std::pair<double, double>, std::int32_t>(
                                   std::move(way))](std::int32_t machine) {
                                const auto [latency_s, bytes_per_s] = find(machine);
                                return batsim::Way{latency_s, bytes_per_s};
                              });
          },
          nb::arg("hosts"), nb::arg("compute_count"), nb::arg("way"))
      .def("__len__", &Machines::size)
      .def_prop_ro("counters", &Machines::counters)
      .def_prop_ro("time_in", &Machines::time_in)
      .def(
          "state",
          [](const Machines& it, std::int32_t machine) {
            return static_cast<int>(it.state(machine));
          },
          nb::arg("machine"))
      .def(
          "jobs", [](const Machines& it, std::int32_t machine) { return it.jobs(machine); },
          nb::arg("machine"))
      .def(
          "way",
          [](Machines& it, std::int32_t machine) {
            const batsim::Way& way = it.way(machine);
            return std::make_pair(way.latency_s, way.bytes_per_s);
          },
          nb::arg("machine"))
      .def(
          "change",
          [](Machines& it, std::int32_t machine, int state, double now_s) {
            it.change(machine, static_cast<MachineState>(state), now_s);
          },
          nb::arg("machine"), nb::arg("state"), nb::arg("now"))
      .def("occupy", &Machines::occupy, nb::arg("ids"), nb::arg("now"))
      .def("leave", &Machines::leave, nb::arg("ids"), nb::arg("now"))
      .def("check", &Machines::check);

  nb::class_<Totals>(module, "Totals")
      .def_ro("jobs", &Totals::jobs)
      .def_ro("rejected", &Totals::rejected)
      .def_ro("success", &Totals::success)
      .def_ro("waiting", &Totals::waiting_s)
      .def_ro("turnaround", &Totals::turnaround_s)
      .def_ro("slowdown", &Totals::slowdown)
      .def_ro("max_waiting", &Totals::max_waiting_s)
      .def_ro("max_turnaround", &Totals::max_turnaround_s)
      .def_ro("max_slowdown", &Totals::max_slowdown)
      .def_ro("makespan", &Totals::makespan_s)
      .def_prop_ro("finished", [](const Totals& it) { return it.jobs - it.rejected; })
      .def_prop_ro("killed", [](const Totals& it) { return it.jobs - it.rejected - it.success; });
  nb::class_<JobTable>(module, "JobTable")
      .def(
          "__init__",
          [](JobTable* it, nb::object sink, bool old_rows) {
            if (sink.is_none()) {
              new (it) JobTable();
            } else {
              new (it) JobTable(rows_to(std::move(sink)), old_rows);
            }
          },
          nb::arg("sink").none(), nb::arg("old_rows") = true)
      .def_prop_ro("totals", [](const JobTable& it) { return Totals(it.totals()); })
      .def_prop_ro("spans",
                   [](const JobTable& it) {
                     nb::dict found;
                     for (const auto& [name, span] : it.spans()) {
                       found[nb::cast(name)] = nb::make_tuple(
                           span.start_s, span.finish_s, span.received_s, span.jobs, span.nodes);
                     }
                     return found;
                   })
      .def_prop_ro("own_places", [](const JobTable& it) { return it.own_places(); })
      .def("rejected_row", &JobTable::rejected_row, nb::arg("job"))
      .def("settle", &JobTable::settle);
  nb::class_<AllocationTable>(module, "AllocationTable")
      .def(
          "__init__",
          [](AllocationTable* it, std::vector<std::int32_t> nodes,
             std::vector<std::int32_t> storages,
             const std::vector<std::pair<std::string, std::vector<std::int32_t>>>& partitions,
             nb::object sink) {
            std::vector<NamedNodes> named;
            for (const auto& [name, places] : partitions) named.push_back({name, places});
            new (it) AllocationTable(std::move(nodes), std::move(storages), std::move(named),
                                     rows_to(std::move(sink)));
          },
          nb::arg("nodes"), nb::arg("storages"), nb::arg("partitions"), nb::arg("sink"))
      .def("settle", &AllocationTable::settle);
}

}  // namespace spillway::bindings
