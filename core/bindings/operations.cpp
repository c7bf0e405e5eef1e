#include "bindings/operations.hpp"

#include <nanobind/make_iterator.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/bindings.hpp"
#include "bindings/kinds.hpp"
#include "session/lowering.hpp"

namespace spillway::bindings {

namespace {

constexpr const char* BASE = "spillway.schedulers.jobmodels.base";
constexpr const char* PLACES[] = {"NODES", "BURST_BUFFER", "PFS"};

Members<3>& places() {
  static Members<3> members(BASE, "Place", PLACES);
  return members;
}

Place place_of(nb::handle object) {
  const std::size_t place = places().place(object);
  if (place == 3) throw nb::type_error("expected a Place as source and destination of a transfer");
  return static_cast<Place>(place);
}

nb::object nodes_object(const NodeIndices& nodes) {
  return nodes ? nb::object(tuple_of(*nodes)) : nb::none();
}

NodeIndices nodes_of(nb::handle object) {
  return object.is_none() ? nullptr
                          : std::make_shared<const std::vector<std::int32_t>>(indices_of(object));
}

nb::object began_of(const Timed& timed) {
  const auto* hook = static_cast<const CallHook*>(timed.began.get());
  return hook ? hook->callable : nb::none();
}

std::shared_ptr<Hook> hook_of(nb::handle object) {
  return object.is_none() ? nullptr : std::make_shared<CallHook>(nb::borrow(object));
}

// Add a value to a key; false: values of this kind have no key.
bool add(ProfileKey& key, nb::handle value) {
  if (PyUnicode_Check(value.ptr())) {
    key.text(nb::cast<std::string>(value));
  } else if (PyLong_Check(value.ptr())) {
    const Amount amount = amount_of(value);
    amount.whole ? key.number(amount) : key.digits(nb::cast<std::string>(nb::str(value)));
  } else if (PyFloat_Check(value.ptr())) {
    key.number(Amount(PyFloat_AsDouble(value.ptr())));
  } else if (value.is_none()) {
    key.mark('0');
  } else if (PyTuple_Check(value.ptr())) {
    key.mark('(');
    for (nb::handle entry : nb::borrow<nb::tuple>(value)) {
      if (!add(key, entry)) return false;
    }
    key.mark(')');
  } else {
    return false;
  }
  return true;
}

nb::tuple members(const Transfer& transfer) {
  return nb::make_tuple(places()[static_cast<std::size_t>(transfer.source)],
                        places()[static_cast<std::size_t>(transfer.destination)],
                        number_of(transfer.bytes_per_node), transfer.stage,
                        nodes_object(transfer.nodes), transfer.abandoned, began_of(transfer));
}

nb::object beside_of(const Compute& compute) {
  return compute.beside ? nb::cast(std::const_pointer_cast<Transfer>(compute.beside)) : nb::none();
}

nb::tuple members(const GivenCompute& compute) {
  return nb::make_tuple(compute.dict, nodes_object(compute.nodes), compute.stage,
                        beside_of(compute), compute.turn, compute.may_fail, began_of(compute));
}

nb::tuple members(const Done& done) {
  return nb::make_tuple(done.ready_s, done.began_s, done.ended_s, state_object(done.state),
                        done.return_code);
}

// Equality, hash and text by members, as dataclasses have them.
template <class Value, class Class>
void by_members(Class& bound, const char* name, std::initializer_list<const char*> names) {
  const std::vector<const char*> fields(names);
  bound.def("__eq__", [](const Value& self, nb::handle other) -> nb::object {
    if (!nb::isinstance<Value>(other)) return nb::borrow(Py_NotImplemented);
    return nb::cast(members(self).equal(members(nb::cast<const Value&>(other))));
  });
  bound.def("__hash__", [](const Value& self) { return nb::hash(members(self)); });
  bound.def("__repr__", [name = std::string(name), fields](const Value& self) {
    std::string text = name + "(";
    const nb::tuple values = members(self);
    for (std::size_t place = 0; place < fields.size(); ++place) {
      text += std::string(place ? ", " : "") + fields[place] + "=" +
              nb::cast<std::string>(nb::repr(values[place]));
    }
    return text + ")";
  });
  nb::list listed;
  for (const char* field : fields) listed.append(nb::str(field));
  bound.attr("__match_args__") = nb::tuple(listed);
}

int visit_transfer(const Transfer& transfer, const Visitor& visitor) {
  return visitor(began_of(transfer));
}
void clear_transfer(Transfer& transfer) { transfer.began.reset(); }

int visit_compute(const GivenCompute& compute, const Visitor& visitor) {
  return visitor(compute.dict, began_of(compute));
}
void clear_compute(GivenCompute& compute) {
  compute.began.reset();
  compute.dict = nb::none();
}

// A profile with a delay that Batsim prints as more than 0: it aborts on a registered delay of 0.
nb::object printable(nb::object dict) {
  if (!dict.attr("get")("type").equal(nb::str("delay"))) return dict;
  const nb::object delay = dict["delay"];
  if (!PyObject_RichCompareBool(delay.ptr(), nb::float_(SHORTEST_WALLTIME_S).ptr(), Py_LT))
    return dict;
  nb::object longer = dict.attr("copy")();
  longer["delay"] = SHORTEST_WALLTIME_S;
  return longer;
}

}  // namespace

DictProfile::DictProfile(nb::object profile) : dict(std::move(profile)) {
  kind = nb::cast<std::string>(nb::str(nb::handle(nb::object(dict["type"]))));
  identity = dict.ptr();
  if (!PyDict_Check(dict.ptr()) || nb::borrow<nb::dict>(dict).contains("cpu")) return;
  ProfileKey found;
  for (auto [name, value] : nb::borrow<nb::dict>(dict)) {
    if (!add(found, name) || !add(found, value)) return;
  }
  key = found.take();
}

Work DictProfile::work() const {
  Work work;
  work.kind = Work::Kind::PROGRAM;  // read when it is registered
  return work;
}

nb::object dict_of(const Description& profile) {
  if (const auto* given = dynamic_cast<const DictProfile*>(&profile)) return given->dict;
  const auto& transfer = static_cast<const TransferProfile&>(profile);
  nb::dict dict;
  dict["type"] = transfer.kind;
  if (transfer.form == TransferProfile::Form::STAGING) {
    dict["nb_bytes"] = number_of(transfer.bytes);
    dict["from"] = "source";
    dict["to"] = "destination";
  } else if (transfer.form == TransferProfile::Form::NODE_IO) {
    const Amount nothing(std::int64_t{0});
    dict["bytes_to_read"] = number_of(transfer.writes ? nothing : transfer.bytes);
    dict["bytes_to_write"] = number_of(transfer.writes ? transfer.bytes : nothing);
    dict["storage"] = transfer.label;
  } else {
    nb::list cpu;
    nb::list com;
    for (std::size_t place = 0; place < transfer.is_stripe.size(); ++place) cpu.append(0.0);
    for (const double amount : transfer.flows()) com.append(amount);
    dict["cpu"] = cpu;
    dict["com"] = com;
  }
  dict["ret"] = 0;
  return std::move(dict);
}

void read(nb::handle yielded, nb::handle job, Operation& operation) {
  static Imported submitted(BASE, "Submitted");
  static Imported give_back(BASE, "GiveBack");
  static Imported publish(BASE, "Publish");
  static Imported report(BASE, "Report");
  static Imported wait(BASE, "Wait");
  using Kind = Operation::Kind;
  if (nb::isinstance<GivenCompute>(yielded)) {
    auto compute = nb::cast<std::shared_ptr<GivenCompute>>(yielded);
    if (!compute->profile)
      compute->profile = std::make_shared<DictProfile>(printable(compute->dict));
    operation.kind = Kind::COMPUTE;
    operation.timed = std::move(compute);
  } else if (nb::isinstance<Transfer>(yielded)) {
    operation.kind = Kind::TRANSFER;
    operation.timed = nb::cast<std::shared_ptr<Transfer>>(yielded);
  } else if (submitted.is_type_of(yielded)) {
    operation.kind = Kind::SUBMITTED;
    const nb::object stream = yielded.attr("stream_bytes");
    const nb::object profile = job.attr("profile");
    if (PyObject_IsTrue(stream.ptr())) {
      operation.stream = payload_of(stream);
    } else if (profile.attr("get")("type").equal(nb::str("io_stream"))) {
      operation.label =
          nb::cast<std::string>(nb::str(nb::handle(profile.attr("get")("storage", "pfs"))));
    }
  } else if (give_back.is_type_of(yielded)) {
    operation.kind = Kind::GIVE_BACK;
    operation.nodes = nodes_of(yielded.attr("nodes"));
    operation.covering = kinds_of(yielded.attr("covering"));
  } else if (publish.is_type_of(yielded)) {
    operation.kind = Kind::PUBLISH;
    operation.payload = payload_of(yielded.attr("state"));
  } else if (report.is_type_of(yielded)) {
    operation.kind = Kind::REPORT;
    operation.payload = to_payload(yielded.attr("what"));
  } else if (wait.is_type_of(yielded)) {
    operation.kind = Kind::WAIT;
    operation.seconds = nb::cast<double>(yielded.attr("seconds"));
    if (!(operation.seconds >= 0)) throw nb::value_error("its seconds must be at least 0");
    operation.stage = nb::cast<std::string>(yielded.attr("stage"));
  } else {
    throw nb::type_error("");
  }
}

void bind_operations(nb::module_& module) {
  nb::class_<Transfer> transfer(
      module, "Transfer",
      nb::type_slots(collected_slots<Transfer, visit_transfer, clear_transfer>()));
  transfer
      .def(
          "__init__",
          [](Transfer* self, nb::handle source, nb::handle destination, nb::handle bytes,
             std::string stage, nb::handle nodes, bool abandoned, nb::handle began) {
            Transfer made;
            made.source = place_of(source);
            made.destination = place_of(destination);
            made.bytes_per_node = amount_of(bytes);
            made.stage = std::move(stage);
            made.nodes = nodes_of(nodes);
            made.abandoned = abandoned;
            made.began = hook_of(began);
            new (self) Transfer(std::move(made));
          },
          nb::arg("source"), nb::arg("destination"), nb::arg("bytes_per_node"), nb::arg("stage"),
          nb::arg("nodes") = nb::none(), nb::arg("abandoned") = false,
          nb::arg("began") = nb::none())
      .def_prop_ro(
          "source",
          [](const Transfer& self) { return places()[static_cast<std::size_t>(self.source)]; })
      .def_prop_ro(
          "destination",
          [](const Transfer& self) { return places()[static_cast<std::size_t>(self.destination)]; })
      .def_prop_ro("bytes_per_node",
                   [](const Transfer& self) { return number_of(self.bytes_per_node); })
      .def_prop_ro("stage", [](const Transfer& self) { return self.stage; })
      .def_prop_ro("nodes", [](const Transfer& self) { return nodes_object(self.nodes); })
      .def_prop_ro("abandoned", [](const Transfer& self) { return self.abandoned; })
      .def_prop_ro("began", [](const Transfer& self) { return began_of(self); })
      .def_prop_ro("shared", &Transfer::shared);
  by_members<Transfer>(
      transfer, "Transfer",
      {"source", "destination", "bytes_per_node", "stage", "nodes", "abandoned", "began"});

  nb::class_<GivenCompute> compute(
      module, "Compute",
      nb::type_slots(collected_slots<GivenCompute, visit_compute, clear_compute>()));
  compute
      .def(
          "__init__",
          [](GivenCompute* self, nb::object profile, nb::handle nodes, std::string stage,
             std::shared_ptr<Transfer> beside, nb::object turn_bytes, bool may_fail,
             nb::handle began) {
            if (beside && !turn_bytes.is_none()) {
              throw nb::value_error(
                  "a Compute that waits for a turn (turn_bytes) cannot have a transfer beside it");
            }
            GivenCompute made;
            made.dict = std::move(profile);
            made.nodes = nodes_of(nodes);
            made.stage = std::move(stage);
            made.beside = std::move(beside);
            made.takes_turn = !turn_bytes.is_none();
            made.turn_bytes = made.takes_turn ? amount_of(turn_bytes).value : 0.0;
            made.turn = std::move(turn_bytes);
            made.may_fail = may_fail;
            made.began = hook_of(began);
            new (self) GivenCompute(std::move(made));
          },
          nb::arg("profile"), nb::arg("nodes") = nb::none(), nb::arg("stage") = "compute",
          nb::arg("beside") = nb::none(), nb::arg("turn_bytes") = nb::none(),
          nb::arg("may_fail") = false, nb::arg("began") = nb::none())
      .def_prop_ro("profile", [](const GivenCompute& self) { return self.dict; })
      .def_prop_ro("nodes", [](const GivenCompute& self) { return nodes_object(self.nodes); })
      .def_prop_ro("stage", [](const GivenCompute& self) { return self.stage; })
      .def_prop_ro("beside", [](const GivenCompute& self) { return beside_of(self); })
      .def_prop_ro("turn_bytes", [](const GivenCompute& self) { return self.turn; })
      .def_prop_ro("may_fail", [](const GivenCompute& self) { return self.may_fail; })
      .def_prop_ro("began", [](const GivenCompute& self) { return began_of(self); });
  by_members<GivenCompute>(
      compute, "Compute",
      {"profile", "nodes", "stage", "beside", "turn_bytes", "may_fail", "began"});

  nb::class_<Done> done(module, "Done");
  done.def(
          "__init__",
          [](Done* self, double ready_s, double began_s, double ended_s, nb::handle state,
             int return_code) {
            new (self) Done{ready_s, began_s, ended_s,
                            state.is_none() ? JobState::COMPLETED_SUCCESSFULLY : state_of(state),
                            return_code};
          },
          nb::arg("ready_s"), nb::arg("began_s"), nb::arg("ended_s"), nb::arg("state") = nb::none(),
          nb::arg("return_code") = 0)
      .def_ro("ready_s", &Done::ready_s)
      .def_ro("began_s", &Done::began_s)
      .def_ro("ended_s", &Done::ended_s)
      .def_prop_ro("state", [](const Done& self) { return state_object(self.state); })
      .def_ro("return_code", &Done::return_code)
      .def("__iter__", [](const Done& self) { return nb::iter(members(self)); })
      .def("__len__", [](const Done&) { return 5; })
      .def("__getitem__", [](const Done& self, nb::handle place) {
        return nb::object(nb::object(members(self))[place]);
      });
  by_members<Done>(done, "Done", {"ready_s", "began_s", "ended_s", "state", "return_code"});
}

}  // namespace spillway::bindings
