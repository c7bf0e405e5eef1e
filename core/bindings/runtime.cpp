// The runtime of job models, and what of it other runtimes use: sub-jobs, transfers in the
// simulator's terms.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/bindings.hpp"
#include "bindings/gates.hpp"
#include "bindings/job_model.hpp"
#include "bindings/played.hpp"
#include "bindings/steps.hpp"
#include "session/program_runtime.hpp"

namespace spillway::bindings {

namespace {

/// A runtime with its model.
struct Played {
  std::shared_ptr<PythonModel> model;
  std::shared_ptr<ProgramRuntime> runtime;
  nb::object machine = nb::none();

  /// Make a call, and return what follows.
  template <class Call>
  nb::object step(Call&& call) const {
    Step step;
    call(step);
    return step_object(step, machine);
  }
  /// The same, or `None`.
  template <class Call>
  nb::object found(Call&& call) const {
    Step step;
    return call(step) ? step_object(step, machine) : nb::none();
  }
};

int visit_played(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  if (!nb::inst_ready(self)) return 0;
  const auto& played = *nb::inst_ptr<Played>(self);
  const Visitor visitor{visit, arg};
  if (const int found = visitor(played.machine)) return found;
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

int clear_played(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  auto& played = *nb::inst_ptr<Played>(self);
  played.machine = nb::none();
  played.model->clear();
  played.runtime->forget();
  return 0;
}

PyType_Slot SLOTS[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_played)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear_played)},
                       {0, nullptr}};

nb::tuple objects(const std::vector<PayloadPtr>& payloads) {
  nb::list found;
  for (const PayloadPtr& payload : payloads) found.append(object_of(payload));
  return nb::tuple(found);
}

std::vector<std::int32_t> sorted(nb::handle numbers) {
  std::vector<std::int32_t> found = indices_of(numbers);
  std::sort(found.begin(), found.end());
  return found;
}

void make(Played* self, nb::object model, const NamedGate& gate, nb::object streams,
          nb::object restarts, nb::object on_record, nb::handle limits) {
  std::optional<StageLimits> given;
  if (!limits.is_none()) {
    given = StageLimits{nb::cast<double>(limits.attr("stage_in_s")),
                        nb::cast<double>(limits.attr("stage_out_s"))};
  }
  const bool restart = !restarts.is_none();
  auto made = std::make_shared<PythonModel>(std::move(model), std::move(streams),
                                            std::move(restarts), std::move(on_record));
  new (self) Played{made, std::make_shared<ProgramRuntime>(made, gate.gate, given, restart)};
}

nb::object task_object(const SubTask& task) {
  static Imported type("spillway.schedulers.jobmodels.sub_jobs", "Task");
  nb::object storage = nb::none();
  if (task.storage) {
    storage = nb::dict();
    for (const auto& entry : *task.storage) storage[nb::str(entry.first.c_str())] = entry.second;
  }
  return type(tuple_of(*task.hosts), storage);
}

SubTask task_of(nb::handle object) {
  SubTask task;
  task.hosts = std::make_shared<std::vector<std::int32_t>>(indices_of(object[0]));
  if (object[1].is_none()) return task;
  auto storage = std::make_shared<Request::Storage>();
  for (auto [label, host] : nb::borrow<nb::dict>(object[1])) {
    storage->emplace_back(nb::cast<std::string>(label), nb::cast<std::int32_t>(host));
  }
  task.storage = storage;
  return task;
}

nb::list run(SubJobs& self, nb::object profile, nb::handle tasks, double walltime_s, double now_s,
             nb::list requests) {
  Lowered lowered;
  lowered.profile = std::make_shared<DictProfile>(std::move(profile));
  for (nb::handle task : tasks) lowered.tasks.push_back(task_of(task));
  std::vector<Request> made;
  const std::int64_t first = self.run(lowered, walltime_s, now_s, made);
  for (const Request& request : made) requests.append(request_object(request));
  nb::list ids;
  for (std::int64_t number = first; number < self.count(); ++number) ids.append(self.id(number));
  return ids;
}

}  // namespace

std::shared_ptr<Runtime> played(nb::handle object) { return nb::cast<Played&>(object).runtime; }

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

  nb::class_<Played>(module, "ProgramRuntime", nb::type_slots(SLOTS))
      .def("__init__", &make, nb::arg("model"), nb::arg("gate"), nb::arg("streams"),
           nb::arg("restarts").none(), nb::arg("on_record").none(), nb::arg("limits").none())
      .def(
          "begin",
          [](Played& self, nb::object machine, const Hosts& hosts, bool reuse) {
            self.machine = machine;
            self.model->begin(std::move(machine));
            self.runtime->begin(hosts, reuse);
          },
          nb::arg("machine"), nb::arg("hosts"), nb::arg("reuse"))
      .def("stage",
           [](Played& self, nb::handle job, nb::handle allocation, double now_s) {
             return self.step([&](Step& step) {
               self.runtime->stage(job_of(job), allocation_of(allocation), now_s, step);
             });
           })
      .def("unstage",
           [](Played& self, nb::handle job, double now_s) {
             return self.step([&](Step& step) { self.runtime->unstage(job_of(job), now_s, step); });
           })
      .def("start",
           [](Played& self, nb::handle job, nb::handle allocation, double now_s) {
             return self.step([&](Step& step) {
               self.runtime->start(job_of(job), allocation_of(allocation), now_s, step);
             });
           })
      .def("without_nodes",
           [](Played& self, nb::handle job, double now_s) {
             return self.step(
                 [&](Step& step) { self.runtime->without_nodes(job_of(job), now_s, step); });
           })
      .def("kill",
           [](Played& self, nb::handle job, double now_s) {
             return self.step([&](Step& step) { self.runtime->kill(job_of(job), now_s, step); });
           })
      .def("completed",
           [](Played& self, const std::string& job_id, nb::handle state, int return_code,
              double now_s) {
             return self.found([&](Step& step) {
               return self.runtime->completed(job_id, state_of(state), return_code, now_s, step);
             });
           })
      .def("submitted",
           [](Played& self, const std::string& job_id, double now_s) {
             return self.found(
                 [&](Step& step) { return self.runtime->submitted(job_id, now_s, step); });
           })
      .def("called",
           [](Played& self, double now_s) {
             return self.found([&](Step& step) { return self.runtime->called(now_s, step); });
           })
      .def("outage",
           [](Played& self, nb::handle closed, double now_s) {
             return self.step(
                 [&](Step& step) { self.runtime->outage(sorted(closed), now_s, step); });
           })
      .def("give_up",
           [](Played& self, nb::handle job, nb::handle nodes, double now_s) {
             return self.found([&](Step& step) {
               return self.runtime->give_up(job_of(job), sorted(nodes), now_s, step);
             });
           })
      .def("published", [](const Played& self) { return objects(self.runtime->published()); })
      .def("shown",
           [](const Played& self, const std::string& job_id) {
             return object_of(self.runtime->shown(job_id));
           })
      .def("take_reports", [](Played& self) { return objects(self.runtime->take_reports()); })
      .def("fault", [](const Played& self) { return self.runtime->fault(); })
      .def_prop_ro("idle", [](const Played& self) { return self.runtime->idle(); });

  nb::class_<SubJobs>(module, "SubJobs")
      .def(nb::init<const std::string&, bool>(), nb::arg("job_id"), nb::arg("reuse") = true)
      .def_rw("deadline_s", &SubJobs::deadline_s)
      .def_prop_ro("count", &SubJobs::count)
      .def("overdue", &SubJobs::overdue, nb::arg("now_s"))
      .def("run", &run, nb::arg("profile"), nb::arg("tasks"), nb::arg("walltime_s"),
           nb::arg("now_s"), nb::arg("requests"));

  module.def(
      "lower",
      [](const Transfer& transfer, nb::handle nodes, nb::handle allocation, const Hosts& hosts) {
        static Imported type("spillway.schedulers.jobmodels.sub_jobs", "Lowered");
        const Lowered lowered =
            lower(transfer, indices_of(nodes), *allocation_of(allocation), hosts);
        nb::list tasks;
        for (const SubTask& task : lowered.tasks) tasks.append(task_object(task));
        return type(dict_of(*lowered.profile), tasks);
      },
      nb::arg("transfer"), nb::arg("nodes"), nb::arg("allocation"), nb::arg("hosts"));
  module.def(
      "volume",
      [](const Transfer& transfer, std::size_t nodes, nb::handle allocation) {
        return volume(transfer, nodes, *allocation_of(allocation));
      },
      nb::arg("transfer"), nb::arg("nodes"), nb::arg("allocation"));
}

}  // namespace spillway::bindings
