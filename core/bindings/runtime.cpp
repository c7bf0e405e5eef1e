// The runtime of job models, and the sub-jobs that other runtimes use.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "bindings/job_model.hpp"
#include "bindings/python_runtime.hpp"
#include "bindings/steps.hpp"
#include "session/program_runtime.hpp"

namespace spillway::bindings {

namespace {

/// A runtime with its model.
struct Played {
  std::shared_ptr<PythonModel> model;
  std::shared_ptr<ProgramRuntime> runtime;
};

int visit(const Played& played, const Visitor& visitor) {
  if (const int found = played.model->visit(visitor)) return found;
  for (const auto& entry : played.runtime->processes()) {
    const auto* generator = dynamic_cast<const Generator*>(entry.second->program.get());
    if (generator) {
      if (const int found = generator->visit(visitor)) return found;
    }
    const PayloadPtr& shown = entry.second->record.state_shown;
    if (shown && shown.use_count() == 1) {
      if (const int found = visitor(from_payload(shown))) return found;
    }
  }
  return 0;
}

void clear(Played& played) {
  played.model->clear();
  played.runtime->forget();
}

nb::tuple objects(const std::vector<PayloadPtr>& payloads) {
  nb::list found;
  for (const PayloadPtr& payload : payloads) found.append(object_of(payload));
  return nb::tuple(found);
}

void make(Played* self, nb::object model, std::shared_ptr<Gate> gate, nb::object streams,
          nb::object restarts, nb::object on_record, nb::handle limits) {
  std::optional<StageLimits> given;
  if (!limits.is_none()) {
    given = StageLimits{nb::cast<double>(limits.attr("stage_in_s")),
                        nb::cast<double>(limits.attr("stage_out_s"))};
  }
  const bool restart = !restarts.is_none();
  auto made = std::make_shared<PythonModel>(std::move(model), std::move(streams),
                                            std::move(restarts), std::move(on_record));
  new (self) Played{made, std::make_shared<ProgramRuntime>(made, std::move(gate), given, restart)};
}

/// Run one sub-job on hosts; its requests are appended, and its id is returned.
std::string run(SubJobs& self, nb::object profile, nb::handle hosts, double walltime_s,
                double now_s, nb::list requests) {
  Lowered lowered;
  lowered.profile = std::make_shared<DictProfile>(std::move(profile));
  lowered.tasks.emplace_back().hosts =
      std::make_shared<std::vector<std::int32_t>>(indices_of(hosts));
  std::vector<Request> made;
  const std::int64_t number = self.run(lowered, walltime_s, now_s, made);
  for (const Request& request : made) requests.append(request_object(request));
  return self.id(number);
}

}  // namespace

std::shared_ptr<Runtime> runtime_of(nb::handle runtime) {
  if (nb::isinstance<Played>(runtime)) return nb::cast<Played&>(runtime).runtime;
  return python_runtime(runtime);
}

void bind_runtime(nb::module_& module) {
  nb::class_<Hosts>(module, "Hosts")
      .def(
          "__init__",
          [](Hosts* self, std::vector<std::int32_t> nodes, std::vector<std::int32_t> storages,
             std::optional<std::int32_t> pfs, std::vector<std::int32_t> io_node) {
            new (self)
                Hosts{std::move(nodes), std::move(storages), pfs.value_or(-1), std::move(io_node)};
          },
          nb::arg("nodes"), nb::arg("storages"), nb::arg("pfs").none(), nb::arg("io_node"));

  nb::class_<Played>(module, "ProgramRuntime",
                     nb::type_slots(collected_slots<Played, visit, clear>()))
      .def("__init__", &make, nb::arg("model"), nb::arg("gate"), nb::arg("streams"),
           nb::arg("restarts").none(), nb::arg("on_record").none(), nb::arg("limits").none())
      .def(
          "begin_on",
          [](Played& self, nb::object machine, const Hosts& hosts, bool reuse) {
            self.model->begin(std::move(machine));
            self.runtime->begin(hosts, reuse);
          },
          nb::arg("machine"), nb::arg("hosts"), nb::arg("reuse"))
      .def("published", [](const Played& self) { return objects(self.runtime->published()); })
      .def(
          "shown",
          [](const Played& self, const std::string& job_id) {
            return object_of(self.runtime->shown(job_id));
          },
          nb::arg("job_id"))
      .def("take_reports", [](Played& self) { return objects(self.runtime->take_reports()); });

  nb::class_<SubJobs>(module, "SubJobs")
      .def(nb::init<const std::string&, bool>(), nb::arg("job_id"), nb::arg("reuse") = true)
      .def_rw("deadline_s", &SubJobs::deadline_s)
      .def_prop_ro("count", &SubJobs::count)
      .def("run", &run, nb::arg("profile"), nb::arg("hosts"), nb::arg("walltime_s"),
           nb::arg("now_s"), nb::arg("requests"));
}

}  // namespace spillway::bindings
