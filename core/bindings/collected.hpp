// Classes whose objects hold objects of Python: the collector must know each of them.
#pragma once

#include <nanobind/nanobind.h>

namespace spillway::bindings {

namespace nb = nanobind;

/// What the collector is told about: objects of Python that something of the core holds.
struct Visitor {
  visitproc visit;
  void* argument;

  template <class... Objects>
  int operator()(const Objects&... objects) const {
    int found = 0;
    ((found = found || !objects.ptr() ? found : visit(objects.ptr(), argument)), ...);
    return found;
  }
};

/// Slots of a class: `VISIT` gives the objects that one of it holds to the visitor, `CLEAR` drops
/// those through which it may be in a circle.
template <class Holder, int (*VISIT)(const Holder&, const Visitor&), void (*CLEAR)(Holder&)>
PyType_Slot* collected_slots() {
  static PyType_Slot slots[] = {
      {Py_tp_traverse,
       reinterpret_cast<void*>(+[](PyObject* self, visitproc visit, void* arg) -> int {
         Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
         return nb::inst_ready(self) ? VISIT(*nb::inst_ptr<Holder>(self), Visitor{visit, arg}) : 0;
       })},
      {Py_tp_clear, reinterpret_cast<void*>(+[](PyObject* self) -> int {
         if (nb::inst_ready(self)) CLEAR(*nb::inst_ptr<Holder>(self));
         return 0;
       })},
      {0, nullptr}};
  return slots;
}

}  // namespace spillway::bindings
