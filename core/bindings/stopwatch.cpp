#include "loop/stopwatch.hpp"

#include <nanobind/nanobind.h>

#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/collected.hpp"
#include "bindings/translation.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

/// A stopwatch with the objects of Python that it calls; messages of a server come as structs.
class PyStopwatch final : public Scheduler {
 public:
  PyStopwatch(nb::object scheduler, nb::object report)
      : session_(std::move(scheduler)),
        report_(std::move(report)),
        watch_(nb::cast<Scheduler&>(session_), [this](double now_s) {
          const nb::gil_scoped_acquire lock;
          report_(now_s);
        }) {}

  bool exchange(const Message& message, Reply& reply) override {
    return watch_.exchange(message, reply);
  }
  bool go_on(Reply& reply) override { return watch_.go_on(reply); }

  nb::object handle(nb::handle message) {
    Reply reply;
    if (!watch_.exchange(translation_.message(message), reply)) session_.attr("_pauses")();
    return translation_.to_python(reply);
  }

  const Stopwatch& watch() const { return watch_; }
  nb::object session() const { return session_; }

  int visit(const Visitor& visitor) const { return visitor(session_, report_); }
  void clear() { report_ = nb::none(); }

 private:
  nb::object session_, report_;
  Translation translation_;
  Stopwatch watch_;
};

int visit(const PyStopwatch& watch, const Visitor& visitor) { return watch.visit(visitor); }
void clear(PyStopwatch& watch) { watch.clear(); }

}  // namespace

void bind_stopwatch(nb::module_& module) {
  nb::class_<PyStopwatch, Scheduler>(module, "Stopwatch",
                                     nb::type_slots(collected_slots<PyStopwatch, visit, clear>()))
      .def(nb::init<nb::object, nb::object>(), nb::arg("session"), nb::arg("report"))
      .def("handle", &PyStopwatch::handle, nb::arg("message"))
      .def_prop_ro("finished",
                   [](const PyStopwatch& self) { return self.session().attr("finished"); })
      .def_prop_ro("times_ns",
                   [](const PyStopwatch& self) {
                     return array_of(std::vector<std::int64_t>(self.watch().times_ns()));
                   })
      .def_prop_ro("cpu_s", [](const PyStopwatch& self) { return self.watch().cpu_s(); });
}

}  // namespace spillway::bindings
