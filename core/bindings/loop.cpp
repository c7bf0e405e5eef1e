#include "loop/loop.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/collected.hpp"
#include "bindings/messages.hpp"
#include "bindings/payload.hpp"
#include "bindings/python_sides.hpp"
#include "loop/fault.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using batsim::Errand;
using batsim::ErrandPtr;
using batsim::Fault;
using batsim::Job;
using batsim::JobPtr;
using batsim::JobTable;
using batsim::Loop;
using batsim::LoopOptions;
using batsim::Machines;
using batsim::Occurrence;
using batsim::Prepared;
using batsim::StaticJobs;
using batsim::Timer;

/// A loop, and the objects of Python that are its other sides.
///
/// They refer to each other: the collector finds the circle and breaks it by `clear`.
struct Simulated {
  /// Words of faults (`spillway.simulator.wire.words`), and objects that the loop only refers to.
  nb::object words, engine_object, machines_object, table_object;
  nb::object exchange_object, extension_object, observer_object;
  std::unique_ptr<MessageTable> messages;
  std::unique_ptr<PythonEngine> engine;
  std::unique_ptr<PythonScheduler> scheduler;
  std::unique_ptr<PythonExtension> extension;
  std::unique_ptr<PythonObserver> observer;
  std::unique_ptr<Loop> loop;

  Simulated(nb::object engine_of_loop, nb::object exchange, nb::object machines,
            nb::object extended, nb::object observed, nb::object table, const LoopOptions& options,
            const nb::module_& protocol, nb::object fault_words)
      : words(std::move(fault_words)),
        engine_object(std::move(engine_of_loop)),
        machines_object(std::move(machines)),
        table_object(std::move(table)),
        exchange_object(std::move(exchange)),
        extension_object(std::move(extended)),
        observer_object(std::move(observed)),
        messages(std::make_unique<MessageTable>(protocol)),
        extension(std::make_unique<PythonExtension>(extension_object)) {
    Engine* native = nullptr;
    if (!nb::try_cast<Engine*>(engine_object, native)) {
      engine = std::make_unique<PythonEngine>(engine_object);
      native = engine.get();
    }
    Scheduler* other_side = nullptr;
    if (!nb::try_cast<Scheduler*>(exchange_object, other_side)) {
      scheduler = std::make_unique<PythonScheduler>(exchange_object, *messages);
      other_side = scheduler.get();
    }
    if (!observer_object.is_none()) observer = std::make_unique<PythonObserver>(observer_object);
    loop = std::make_unique<Loop>(*native, *other_side, nb::cast<Machines&>(machines_object),
                                  *extension, observer.get(), options,
                                  nb::cast<JobTable&>(table_object));
    loop->kernel.breathe = [] {
      const nb::gil_scoped_acquire lock;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };
  }

  /// Ends the loop, which holds jobs, messages and timers.
  void close() {
    loop.reset();
    observer.reset();
    extension.reset();
    scheduler.reset();
    engine.reset();
  }

  void clear() {
    close();
    for (nb::object* it : {&words, &engine_object, &machines_object, &table_object,
                           &exchange_object, &extension_object, &observer_object}) {
      it->reset();
    }
  }

  /// Does something outside of Python's lock; a fault becomes the exception that its words say.
  template <typename Work>
  auto play(const Work& work) {
    try {
      const nb::gil_scoped_release unlocked;
      return work();
    } catch (const Fault& fault) {
      const nb::object error = words.attr("error")(fault);
      PyErr_SetObject(error.type().ptr(), error.ptr());
      throw nb::python_error();
    }
  }

  /// Does something for the embedding in the middle of a step: a broken rule is a `ValueError` with
  /// its words.
  template <typename Work>
  void attempt(const Work& work) {
    try {
      work();
    } catch (const Fault& fault) {
      const nb::object text = words.attr("rule")(fault);
      PyErr_SetObject(PyExc_ValueError, text.ptr());
      throw nb::python_error();
    }
  }
};

int visit(const Simulated& it, const Visitor& visitor) {
  return visitor(it.words, it.engine_object, it.machines_object, it.table_object,
                 it.exchange_object, it.extension_object, it.observer_object);
}

void clear(Simulated& it) { it.clear(); }

/// A task of the embedding's own, on hosts, maybe with a transfer between the first two positions.
ErrandPtr run_errand(Simulated& it, std::int64_t token, const std::vector<std::int32_t>& hosts,
                     double flops, double bytes, std::optional<JobPtr> job) {
  Prepared prepared;
  Task& task = prepared.task;
  task.hosts = hosts;
  task.flops = {flops};
  if (bytes > 0.0) task.flows.push_back({hosts[0], hosts[1], bytes});
  prepared.nothing = flops == 0.0 && task.flows.empty();
  auto errand = std::make_shared<Errand>();
  errand->job = job.value_or(nullptr);
  errand->observed = job.has_value();
  errand->done = [extension = it.extension.get(), token] { extension->recall(token); };
  it.loop->executor.run(errand, prepared);
  return errand;
}

}  // namespace

void bind_loop(nb::module_& module) {
  nb::class_<Scheduler>(module, "Scheduler");
  nb::class_<Timer>(module, "Timer");
  nb::class_<Errand>(module, "Errand");

  nb::class_<Simulated>(module, "Loop", nb::type_slots(collected_slots<Simulated, visit, clear>()))
      .def(nb::init<nb::object, nb::object, nb::object, nb::object, nb::object, nb::object,
                    const LoopOptions&, const nb::module_&, nb::object>(),
           nb::arg("engine"), nb::arg("exchange"), nb::arg("machines"), nb::arg("extension"),
           nb::arg("observer").none(), nb::arg("table"), nb::arg("options"), nb::arg("protocol"),
           nb::arg("words"))
      // Playing
      .def(
          "submit_jobs",
          [](Simulated& it, std::shared_ptr<StaticJobs> jobs) { it.loop->submit(std::move(jobs)); },
          nb::arg("jobs"))
      .def(
          "submit_events",
          [](Simulated& it, const std::vector<double>& times,
             const std::vector<nb::object>& events) {
            std::vector<Occurrence> found;
            for (std::size_t at = 0; at < times.size(); ++at) {
              found.push_back({times[at], wrap(events[at])});
            }
            it.loop->submit(std::move(found));
          },
          nb::arg("times"), nb::arg("events"))
      .def(
          "begin",
          [](Simulated& it, nb::object first) {
            Event event;
            event.kind = Event::Kind::SIMULATION_BEGINS;
            event.payload = wrap(std::move(first));
            it.loop->begin(std::move(event));
          },
          nb::arg("first"))
      .def("begin_alone", [](Simulated& it) { it.play([&it] { it.loop->begin_alone(); }); })
      .def("run", [](Simulated& it) { return it.play([&it] { return it.loop->run(); }); })
      .def(
          "answer",
          [](Simulated& it, nb::handle reply) {
            Reply found;
            it.messages->reply(reply, found);
            it.play([&it, &found] { it.loop->answer(std::move(found)); });
          },
          nb::arg("reply"))
      .def("go_on", [](Simulated& it) { return it.play([&it] { return it.loop->go_on(); }); })
      .def("close", &Simulated::close)
      .def_prop_ro("paused", [](const Simulated& it) { return it.loop->paused(); })
      .def_prop_ro("clock", [](const Simulated& it) { return it.loop->kernel.clock_s(); })
      .def_prop_ro("now", [](const Simulated& it) { return it.loop->server.now_s(); })
      .def_prop_ro("messages", [](const Simulated& it) { return it.loop->conversation.messages(); })
      .def_prop_ro("thinking_s",
                   [](const Simulated& it) { return it.loop->conversation.thinking_s(); })
      .def_prop_ro("submitted", [](const Simulated& it) { return it.loop->server.submitted; })
      .def_prop_ro("completed", [](const Simulated& it) { return it.loop->server.completed; })
      .def_prop_ro("running", [](const Simulated& it) { return it.loop->server.running; })
      // Rare work of the embedding
      .def_prop_rw(
          "switching", [](const Simulated& it) { return it.loop->server.switching; },
          [](Simulated& it, std::int64_t count) { it.loop->server.switching = count; })
      .def_prop_rw(
          "waiters", [](const Simulated& it) { return it.loop->server.waiters; },
          [](Simulated& it, std::int64_t count) { it.loop->server.waiters = count; })
      .def_prop_rw(
          "registration_finished",
          [](const Simulated& it) { return it.loop->server.registration_finished; },
          [](Simulated& it, bool finished) { it.loop->server.registration_finished = finished; })
      .def("stop", [](Simulated& it) { it.loop->server.forced = true; })
      .def("waiting_jobs", [](const Simulated& it) { return it.loop->registry.waiting(); })
      .def(
          "job",
          [](const Simulated& it, const std::string& id) { return it.loop->registry.known(id); },
          nb::arg("id"))
      .def(
          "tell",
          [](Simulated& it, nb::object event) { it.loop->server.tell(wrap(std::move(event))); },
          nb::arg("event"))
      .def(
          "call",
          [](Simulated& it, const std::string& name, bool last) {
            it.loop->requests.call(name, last);
          },
          nb::arg("name"), nb::arg("last"))
      .def(
          "at",
          [](Simulated& it, double time_s, std::int64_t token) {
            return it.loop->kernel.at(
                time_s, [extension = it.extension.get(), token] { extension->recall(token); });
          },
          nb::arg("time"), nb::arg("token"))
      .def(
          "forget", [](Simulated& it, Timer timer) { it.loop->kernel.forget(timer); },
          nb::arg("timer"))
      .def(
          "post",
          [](Simulated& it, std::int32_t machine, std::int64_t token) {
            it.loop->kernel.post(
                nb::cast<Machines&>(it.machines_object).way(machine),
                [extension = it.extension.get(), token] { extension->recall(token); });
          },
          nb::arg("machine"), nb::arg("token"))
      .def(
          "say",
          [](Simulated& it, Job& job, std::int64_t token) {
            Job* const teller = &job;
            PythonExtension* const extension = it.extension.get();
            it.loop->kernel.post(
                job.allocation->way, [extension, token] { extension->recall(token); },
                [extension, teller] { extension->told(*teller); });
          },
          nb::arg("job"), nb::arg("token"))
      .def("run_errand", &run_errand, nb::arg("token"), nb::arg("hosts"), nb::arg("flops"),
           nb::arg("bytes") = 0.0, nb::arg("job") = nb::none())
      .def(
          "cancel", [](Simulated& it, Errand& errand) { it.loop->executor.cancel(errand); },
          nb::arg("errand"))
      .def(
          "set_running",
          [](Simulated& it, Job& job) {
            job.state = JobState::RUNNING;
            job.start_s = it.loop->kernel.clock_s();
            ++it.loop->server.running;
          },
          nb::arg("job"))
      .def(
          "sleep",
          [](Simulated& it, Job& job, double seconds) { it.loop->executor.sleep(job, seconds); },
          nb::arg("job"), nb::arg("seconds"))
      .def(
          "poll",
          [](Simulated& it, Job& job, double seconds) { it.loop->executor.poll(job, seconds); },
          nb::arg("job"), nb::arg("seconds"))
      .def(
          "message_came", [](Simulated& it, Job& job) { it.loop->executor.message_came(job); },
          nb::arg("job"))
      .def(
          "run_part",
          [](Simulated& it, Job& job, const Work& work) {
            it.attempt([&] { it.loop->executor.run_part(job, work); });
          },
          nb::arg("job"), nb::arg("work"))
      .def(
          "begin_chains", [](Simulated& it, Job& job) { it.loop->executor.begin_chains(job); },
          nb::arg("job"))
      .def(
          "end_chains", [](Simulated& it, Job& job) { it.loop->executor.end_chains(job); },
          nb::arg("job"))
      .def(
          "end",
          [](Simulated& it, Job& job, std::int32_t code) { it.loop->executor.end(job, code); },
          nb::arg("job"), nb::arg("code"));
}

}  // namespace spillway::bindings
