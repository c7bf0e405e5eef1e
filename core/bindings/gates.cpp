// Gates with names for turns and applications, as callers in Python give them.
#include "bindings/gates.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/python_types.hpp"

namespace spillway::bindings {

std::int64_t NamedGate::number_of(const std::string& name) {
  const auto found =
      numbers_.try_emplace(name, FIRST_NAMED + static_cast<std::int64_t>(names_.size()));
  if (found.second) names_.push_back(name);
  return found.first->second;
}

std::string NamedGate::name_of(std::int64_t number) const {
  const std::int64_t place = number - FIRST_NAMED;
  return place < 0 ? std::to_string(number) : names_[static_cast<std::size_t>(place)];
}

namespace {

nb::tuple names(const NamedGate& gate, const Gate::Keys& keys) {
  nb::list found;
  for (const std::int64_t key : keys) found.append(gate.name_of(key));
  return nb::tuple(found);
}

// Raise what a misuse is called.
void check(Gate::Fault fault, const std::string& name) {
  static Imported words("spillway.schedulers.jobmodels.gates", "misuse");
  if (fault == Gate::Fault::NONE) return;
  const auto text = nb::cast<std::string>(words(static_cast<int>(fault), name));
  throw nb::value_error(text.c_str());
}

struct NamedTurn {
  std::string key;
  std::string application;
  Turn turn;
};

NamedTurn named(const NamedGate& gate, const Turn& turn) {
  return {gate.name_of(turn.key), gate.name_of(turn.application), turn};
}

struct NamedExclusive : NamedGate {
  explicit NamedExclusive(IoOrder order) : NamedGate(std::make_shared<ExclusiveGate>(order)) {}
  ExclusiveGate& exclusive() const { return static_cast<ExclusiveGate&>(*gate); }
};

struct NamedShared : NamedGate {
  NamedShared() : NamedGate(std::make_shared<SharedGate>()) {}
};

constexpr const char* ORDERS[] = {"FIFO", "SHORTEST", "STARVED", "STRETCH"};

IoOrder order_of(nb::handle object) {
  static Members<4> members("spillway.schedulers.jobmodels.gates", "IoOrder", ORDERS);
  if (object.is_none()) return IoOrder::FIFO;
  const std::size_t place = members.place(object);
  if (place == 4) throw nb::type_error("expected an IoOrder");
  return static_cast<IoOrder>(place);
}

}  // namespace

void bind_gates(nb::module_& module) {
  nb::class_<Account>(module, "Account")
      .def(
          "__init__",
          [](Account* self, double entered_s) { (new (self) Account())->entered_s = entered_s; },
          nb::arg("entered_s"))
      .def_ro("entered_s", &Account::entered_s)
      .def_ro("waited_s", &Account::waited_s)
      .def_ro("turns", &Account::turns)
      .def_ro("waiting", &Account::waiting)
      .def_ro("moving", &Account::moving)
      .def("waited", &Account::waited, nb::arg("now_s"))
      .def("stretch", &Account::stretch, nb::arg("now_s"));

  nb::class_<NamedTurn>(module, "Turn")
      .def_ro("key", &NamedTurn::key)
      .def_ro("application", &NamedTurn::application)
      .def_prop_ro("node", [](const NamedTurn& self) { return self.turn.node; })
      .def_prop_ro("volume_bytes", [](const NamedTurn& self) { return self.turn.volume_bytes; })
      .def_prop_ro("requested_s", [](const NamedTurn& self) { return self.turn.requested_s; })
      .def_prop_ro("number", [](const NamedTurn& self) { return self.turn.number; });

  nb::class_<NamedGate>(module, "Gate")
      .def(
          "enter",
          [](NamedGate& self, const std::string& application, double now_s) {
            self.gate->enter(self.number_of(application), now_s);
          },
          nb::arg("application"), nb::arg("now_s"))
      .def(
          "request",
          [](NamedGate& self, const std::string& key, const std::string& application,
             std::int32_t node, double volume_bytes, double now_s) {
            Turn turn;
            turn.key = self.number_of(key);
            turn.application = self.number_of(application);
            turn.node = node;
            turn.volume_bytes = volume_bytes;
            turn.requested_s = now_s;
            Gate::Keys begun;
            check(self.gate->request(turn, begun), key);
            return names(self, begun);
          },
          nb::arg("key"), nb::arg("application"), nb::arg("node"), nb::arg("volume_bytes"),
          nb::arg("now_s"))
      .def(
          "release",
          [](NamedGate& self, const std::string& key, double now_s) {
            Gate::Keys begun;
            check(self.gate->release(self.number_of(key), now_s, begun), key);
            return names(self, begun);
          },
          nb::arg("key"), nb::arg("now_s"))
      .def(
          "withdraw",
          [](NamedGate& self, const std::string& application, double now_s) {
            Gate::Keys dropped;
            self.gate->withdraw(self.number_of(application), now_s, dropped);
            return names(self, dropped);
          },
          nb::arg("application"), nb::arg("now_s"))
      .def(
          "leave",
          [](NamedGate& self, const std::string& application, double now_s) {
            Account closed;
            check(self.gate->leave(self.number_of(application), now_s, closed), application);
            return closed;
          },
          nb::arg("application"), nb::arg("now_s"));

  nb::class_<NamedShared, NamedGate>(module, "Shared").def(nb::init<>());

  nb::class_<NamedExclusive, NamedGate>(module, "Exclusive")
      .def(
          "__init__",
          [](NamedExclusive* self, nb::handle order) {
            new (self) NamedExclusive(order_of(order));
          },
          nb::arg("order") = nb::none())
      .def(
          "holder",
          [](const NamedExclusive& self, std::int32_t node) -> nb::object {
            const Turn* turn = self.exclusive().holder(node);
            return turn ? nb::cast(named(self, *turn)) : nb::none();
          },
          nb::arg("node"))
      .def(
          "waiting",
          [](const NamedExclusive& self, std::int32_t node) {
            nb::list found;
            for (const Turn& turn : self.exclusive().waiting(node))
              found.append(nb::cast(named(self, turn)));
            return nb::tuple(found);
          },
          nb::arg("node"))
      .def("check", [](const NamedExclusive& self) {
        const std::string fault = self.exclusive().inconsistency();
        if (fault.empty()) return;
        PyErr_SetString(PyExc_AssertionError, fault.c_str());
        throw nb::python_error();
      });
}

}  // namespace spillway::bindings
