#include "bindings/python_types.hpp"

#include <deque>

namespace spillway::bindings {

namespace {

constexpr const char* STATES[] = {"NOT_SUBMITTED",    "SUBMITTED",
                                  "RUNNING",          "COMPLETED_SUCCESSFULLY",
                                  "COMPLETED_FAILED", "COMPLETED_WALLTIME_REACHED",
                                  "COMPLETED_KILLED", "REJECTED"};
Members<8>& states() {
  static Members<8> members("spillway.protocol.messages", "JobState", STATES);
  return members;
}

std::deque<PyObject*>& kept_objects() {
  static std::deque<PyObject*> objects;
  return objects;
}

}  // namespace

PyObject** kept(nb::object object) {
  auto& objects = kept_objects();
  if (objects.empty()) {
    nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
      for (PyObject*& one : kept_objects()) Py_CLEAR(one);
    }));
  }
  objects.push_back(object.release().ptr());
  return &objects.back();
}

nb::handle state_object(JobState state) { return states()[static_cast<std::size_t>(state)]; }

JobState state_of(nb::handle object) {
  const std::size_t place = states().place(object);
  if (place == 8) throw nb::type_error("expected a JobState");
  return static_cast<JobState>(place);
}

Amount amount_of(nb::handle number) {
  if (PyLong_Check(number.ptr())) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (!overflow) return Amount(static_cast<std::int64_t>(value));
  }
  const double value = PyFloat_AsDouble(number.ptr());
  if (value == -1.0 && PyErr_Occurred()) throw nb::python_error();
  return Amount(value);
}

nb::object number_of(const Amount& amount) {
  return amount.whole ? nb::cast(amount.exact) : nb::cast(amount.value);
}

}  // namespace spillway::bindings
