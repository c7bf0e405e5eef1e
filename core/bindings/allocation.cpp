#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bindings.hpp"
#include "bindings/job.hpp"
#include "bindings/values.hpp"
#include "model/job.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

void make(Allocation* self, nb::handle nodes, nb::handle storages, std::int64_t bb_bytes,
          std::int64_t io_rate, std::optional<Lives> lives, bool striped, nb::handle pools) {
  Allocation made{indices_of(nodes), indices_of(storages), bb_bytes, io_rate, lives,
                  striped,           amounts_of(pools)};
  new (self) Allocation(std::move(made));
}

nb::tuple fields(const Allocation& one) {
  return nb::make_tuple(tuple_of(one.nodes), tuple_of(one.storages), one.bb_bytes, one.io_rate,
                        one.lives, one.striped, tuple_of(one.pools));
}

nb::object equal(const Allocation& one, nb::handle other) {
  if (!nb::isinstance<Allocation>(other)) return nb::borrow(Py_NotImplemented);
  return nb::bool_(one == nb::cast<const Allocation&>(other));
}

nb::object shown(const Allocation& one) {
  const char* form =
      "Allocation(nodes={!r}, storages={!r}, bb_bytes={!r}, io_rate={!r}, lives={!r}, "
      "striped={!r}, pools={!r})";
  return nb::str(form).attr("format")(*fields(one));
}

// A copy with other values of some fields: the constructor's arguments.
nb::object replaced(nb::handle thing, const nb::kwargs& changes) {
  if (nb::isinstance<Job>(thing)) return nb::cast(changed(nb::cast<const Job&>(thing), changes));
  nb::dict all;
  const bool lives = nb::isinstance<Lives>(thing);
  if (!lives && !nb::isinstance<Allocation>(thing))
    throw nb::type_error("expected a Job, an Allocation or Lives");
  for (const char* name :
       {"nodes", "storages", "bb_bytes", "io_rate", "lives", "striped", "pools"}) {
    if (!lives) all[name] = thing.attr(name);
  }
  for (const char* name : {"storage_lead_s", "storage_tail_s", "bandwidth_tail_s"}) {
    if (lives) all[name] = thing.attr(name);
  }
  all.update(changes);
  return thing.type()(**all);
}

}  // namespace

void bind_allocation(nb::module_& module) {
  module.def("replaced", &replaced, nb::arg("thing"), nb::arg("changes"));
  nb::class_<Allocation>(module, "Allocation")
      .def("__init__", &make, nb::arg("nodes"), nb::arg("storages") = nb::tuple(),
           nb::arg("bb_bytes") = 0, nb::arg("io_rate") = 0, nb::arg("lives") = nb::none(),
           nb::arg("striped") = false, nb::arg("pools") = nb::tuple())
      .def_prop_ro("nodes", [](const Allocation& one) { return tuple_of(one.nodes); })
      .def_prop_ro("storages", [](const Allocation& one) { return tuple_of(one.storages); })
      .def_ro("bb_bytes", &Allocation::bb_bytes)
      .def_ro("io_rate", &Allocation::io_rate)
      .def_prop_ro("lives", [](const Allocation& one) { return one.lives; })
      .def_ro("striped", &Allocation::striped)
      .def_prop_ro("pools", [](const Allocation& one) { return tuple_of(one.pools); })
      .def("__eq__", &equal, nb::arg("other").none())
      .def("__hash__", [](const Allocation& one) { return nb::hash(fields(one)); })
      .def("__repr__", &shown)
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), fields(nb::cast<const Allocation&>(self)));
      });
}

}  // namespace spillway::bindings
