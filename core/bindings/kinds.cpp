#include "bindings/kinds.hpp"

namespace spillway::bindings {

nb::object resource_of(Kinds kinds) {
  static PyObject* known[ALL_KINDS + 1] = {};  // they live as long as the process
  PyObject*& found = known[kinds & ALL_KINDS];
  if (!found) {
    nb::object resource = nb::module_::import_("spillway.core.resources").attr("Resource");
    found = resource(kinds & ALL_KINDS).release().ptr();
  }
  return nb::borrow(found);
}

Kinds kinds_of(nb::handle resource) { return nb::cast<Covering>(resource).kinds; }

}  // namespace spillway::bindings
