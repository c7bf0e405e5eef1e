#include "loop/fault.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "bindings/bindings.hpp"
#include "loop/options.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using batsim::Fault;
using batsim::LoopOptions;
using batsim::Rule;

void bind_options(nb::module_& module) {
  nb::class_<LoopOptions>(module, "LoopOptions")
      .def(nb::init<>())
      .def_rw("decimals", &LoopOptions::decimals)
      .def_rw("sized", &LoopOptions::sized)
      .def_rw("late_calls", &LoopOptions::late_calls)
      .def_rw("reprints", &LoopOptions::reprints)
      .def_rw("kills_again", &LoopOptions::kills_again)
      .def_rw("forward_profiles", &LoopOptions::forward_profiles)
      .def_rw("dynamic_jobs", &LoopOptions::dynamic_jobs)
      .def_rw("acknowledge_dynamic_jobs", &LoopOptions::acknowledge_dynamic_jobs)
      .def_rw("profile_reuse", &LoopOptions::profile_reuse)
      .def_rw("compute_sharing", &LoopOptions::compute_sharing)
      .def_rw("storage_sharing", &LoopOptions::storage_sharing)
      .def_rw("energy", &LoopOptions::energy)
      .def_rw("no_scheduler", &LoopOptions::no_scheduler)
      .def_rw("wall_clock", &LoopOptions::wall_clock)
      .def_rw("most_idle_calls", &LoopOptions::most_idle_calls)
      .def_rw("progress_every", &LoopOptions::progress_every)
      .def(
          "set_own_way",
          [](LoopOptions& it, double latency_s, double bytes_per_s) {
            it.own_way = {latency_s, bytes_per_s};
          },
          nb::arg("latency_s"), nb::arg("bytes_per_s"));
}

}  // namespace

void bind_faults(nb::module_& module) {
  bind_options(module);
  nb::enum_<Rule> rules(module, "Rule");
  const std::pair<const char*, Rule> names[] = {
      {"TEXT", Rule::TEXT},
      {"NOW_RANGE", Rule::NOW_RANGE},
      {"LATER_THAN_NOW", Rule::LATER_THAN_NOW},
      {"NO_DYNAMIC_JOBS", Rule::NO_DYNAMIC_JOBS},
      {"REGISTRATION_CLOSED", Rule::REGISTRATION_CLOSED},
      {"NOT_SUBMITTED", Rule::NOT_SUBMITTED},
      {"NOT_REJECTABLE", Rule::NOT_REJECTABLE},
      {"NO_KILL", Rule::NO_KILL},
      {"NOT_RUNNING", Rule::NOT_RUNNING},
      {"NOTHING_TO_KILL", Rule::NOTHING_TO_KILL},
      {"KILL_UNKNOWN", Rule::KILL_UNKNOWN},
      {"QUOTE_IN_METADATA", Rule::QUOTE_IN_METADATA},
      {"CALL_RANGE", Rule::CALL_RANGE},
      {"NO_MACHINE", Rule::NO_MACHINE},
      {"UNKNOWN_MACHINE", Rule::UNKNOWN_MACHINE},
      {"WRONG_COUNT", Rule::WRONG_COUNT},
      {"MACHINE_BUSY", Rule::MACHINE_BUSY},
      {"MACHINE_STATE", Rule::MACHINE_STATE},
      {"NO_COMPUTATION_STATE", Rule::NO_COMPUTATION_STATE},
      {"MAPPING_GAP", Rule::MAPPING_GAP},
      {"MAPPING_PLACE", Rule::MAPPING_PLACE},
      {"EXECUTORS", Rule::EXECUTORS},
      {"STORAGE_LABEL", Rule::STORAGE_LABEL},
      {"STORAGE_MAPPING_NEEDED", Rule::STORAGE_MAPPING_NEEDED},
      {"STORAGE_UNMAPPED", Rule::STORAGE_UNMAPPED},
      {"STORAGE_UNKNOWN", Rule::STORAGE_UNKNOWN},
      {"NO_STORAGE_HOST", Rule::NO_STORAGE_HOST},
      {"STORAGE_COMPUTES", Rule::STORAGE_COMPUTES},
      {"NO_EXTRA_IO", Rule::NO_EXTRA_IO},
      {"EXTRA_IO_KIND", Rule::EXTRA_IO_KIND},
      {"EXTRA_IO_MAPPED", Rule::EXTRA_IO_MAPPED},
      {"IDLE_CALLS", Rule::IDLE_CALLS},
      {"REQUESTS_AT_END", Rule::REQUESTS_AT_END},
      {"LATEST_TIME", Rule::LATEST_TIME},
      {"NOT_PLAYED", Rule::NOT_PLAYED},
  };
  for (const auto& [name, rule] : names) rules.value(name, rule);

  nb::enum_<Request::Kind>(module, "RequestKind")
      .value("EXECUTE_JOB", Request::Kind::EXECUTE_JOB)
      .value("REJECT_JOB", Request::Kind::REJECT_JOB)
      .value("CALL_ME_LATER", Request::Kind::CALL_ME_LATER)
      .value("KILL_JOB", Request::Kind::KILL_JOB)
      .value("REGISTER_PROFILE", Request::Kind::REGISTER_PROFILE)
      .value("REGISTER_JOB", Request::Kind::REGISTER_JOB)
      .value("SET_METADATA", Request::Kind::SET_METADATA)
      .value("OTHER", Request::Kind::OTHER);

  nb::class_<Fault>(module, "Fault")
      .def_ro("rule", &Fault::rule)
      .def_ro("numbers", &Fault::numbers)
      .def_ro("texts", &Fault::texts)
      .def_ro("index", &Fault::index)
      .def_prop_ro("request",
                   [](const Fault& it) {
                     return it.requested ? std::optional<Request::Kind>(it.request) : std::nullopt;
                   })
      .def_ro("unscheduled", &Fault::unscheduled)
      .def_ro("job", &Fault::job);
}

}  // namespace spillway::bindings
