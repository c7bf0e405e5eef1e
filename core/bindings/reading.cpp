// Jobs from the objects that JOB_SUBMITTED carries.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/field.hpp"
#include "bindings/job.hpp"
#include "model/limits.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

constexpr double SHORTEST_DELAY_S = 1e-6;  // replaces a delay of 0: Batsim refuses such profiles
constexpr std::int64_t MOST_NODES = 2147483647;
constexpr double LARGEST_SIZE = 4611686018427387904.0;  // 2^62
constexpr std::int64_t MOST_STRIPES = 1 << 20;

const Field BB("bb"), BB_TOTAL("bb_total"), BB_STRIPES("bb_stripes"), COM("com"), CPU("cpu"),
    DELAY("delay"), ID("id"), IO_RATE("io_rate"), PROFILE("profile"), RES("res"),
    SUBTIME("subtime"), TIME_LIMIT("time_limit_s"), TYPE("type"), WALLTIME("walltime");

/// A number of Python that is no truth value.
bool is_number(PyObject* value) {
  return value && (PyFloat_Check(value) || (PyLong_Check(value) && !PyBool_Check(value)));
}

/// Its value; infinite, with its sign, where a whole number is beyond all.
double number(PyObject* value) {
  if (PyFloat_Check(value)) return PyFloat_AsDouble(value);
  const double found = PyLong_AsDouble(value);
  if (found == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    const nb::object zero = nb::int_(0);
    const bool below = PyObject_RichCompareBool(value, zero.ptr(), Py_LT) == 1;
    return below ? -NEVER : NEVER;
  }
  return found;
}

class Reader {
 public:
  Reader(const std::string& job_id, nb::handle fields, nb::handle profile)
      : job_id_(job_id), fields_(fields), profile_(profile) {}

  Job read(std::int64_t rank, double now_s, std::int64_t granule_bytes) {
    Job job;
    job.id = job_id_;
    job.number = rank;
    job.nodes = whole("job", fields_, RES, "nodes", 0, MOST_NODES);
    job.walltime_s = walltime();
    if (PyObject* stated = member(fields_, TIME_LIMIT)) {
      const double limit_s = is_number(stated) ? number(stated) : 0.0;
      if (!(0.0 < limit_s && limit_s <= std::min(job.walltime_s, LATEST_S)))
        wrong("job", "time_limit_s", "limit", stated);
      job.grace_s = job.walltime_s - limit_s;
      job.walltime_s = limit_s;
    }
    check_profile();
    buffer(job, granule_bytes);
    job.submit_time_s = time("job", fields_, SUBTIME, now_s);
    if (member(fields_, IO_RATE) || member(profile_, IO_RATE)) job.io_rate = size(IO_RATE);
    if (PyObject* name = member(fields_, PROFILE))
      job.profile_name = nb::cast<std::string>(nb::str(nb::handle(name)));
    job.profile = to_payload(profile());
    nb::dict extras = nb::steal<nb::dict>(PyDict_Copy(fields_.ptr()));
    for (const Field* name : {&ID, &SUBTIME, &RES, &WALLTIME, &PROFILE})
      if (member(extras, *name)) PyDict_DelItem(extras.ptr(), name->object());
    set_extras(job, extras);
    return job;
  }

 private:
  /// Raise the error of a field, in Python's words.
  [[noreturn]] void wrong(const char* where, const char* field, const char* fault,
                          PyObject* value) const {
    nb::module_::import_("spillway.schedulers.model.job")
        .attr("refuse_field")(job_id_, where, field, fault, value ? nb::borrow(value) : nb::none());
    throw nb::python_error();
  }

  std::int64_t whole(const char* where, nb::handle dict, const Field& field, const char* fault,
                     std::int64_t low, std::int64_t high) const {
    PyObject* value = member(dict, field);
    if (!value || !PyLong_Check(value) || PyBool_Check(value)) wrong(where, field, fault, value);
    int overflow = 0;
    const std::int64_t found = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow || found < low || found > high) wrong(where, field, fault, value);
    return found;
  }

  double walltime() const {
    PyObject* value = member(fields_, WALLTIME);
    if (!value) return NEVER;
    if (!is_number(value)) wrong("job", "walltime", "seconds", value);
    const double found = number(value);
    if (PyFloat_Check(value) && !(found < NEVER)) wrong("job", "walltime", "seconds", value);
    if (!(found > 0.0 || found == -1.0)) wrong("job", "walltime", "walltime", value);
    return 0.0 < found && found <= LATEST_S ? found : NEVER;
  }

  double time(const char* where, nb::handle dict, const Field& field, double otherwise) const {
    PyObject* value = member(dict, field);
    if (!value) return otherwise;
    if (!is_number(value)) wrong(where, field, "seconds", value);
    const double found = number(value);
    if (!(std::abs(found) <= LATEST_S)) wrong(where, field, "late", value);
    return found;
  }

  void check_profile() {
    PyObject* kind = member(profile_, TYPE);
    if (!kind) return;
    if (!PyUnicode_Check(kind)) wrong("profile", "type", "text", kind);
    const auto is = [&](const char* name) {
      return PyUnicode_CompareWithASCIIString(kind, name) == 0;
    };
    if (is("delay")) {
      const double delay =
          time("profile", profile_, DELAY, std::numeric_limits<double>::quiet_NaN());
      if (!(delay >= 0.0)) wrong("profile", "delay", "delay", member(profile_, DELAY));
      shortest_ = delay == 0.0;
      return;
    }
    if (!is("parallel") && !is("parallel_homogeneous") && !is("parallel_homogeneous_total")) return;
    for (const Field* field : {&CPU, &COM}) amounts(*field);
  }

  void amounts(const Field& field) const {
    PyObject* value = member(profile_, field);
    const auto check = [&](PyObject* amount) {
      if (!is_number(amount) || !(0.0 <= number(amount) && number(amount) < NEVER))
        wrong("profile", field, "amounts", amount);
    };
    if (value && PyList_Check(value)) {
      for (Py_ssize_t place = 0; place < PyList_Size(value); ++place)
        check(PyList_GetItem(value, place));
    } else {
      check(value);
    }
  }

  nb::object profile() const {
    if (!shortest_) return nb::borrow(profile_);
    nb::dict changed = nb::steal<nb::dict>(PyDict_Copy(profile_.ptr()));
    changed[(const char*)DELAY] = SHORTEST_DELAY_S;
    return std::move(changed);
  }

  bool states(const Field& field) const {
    return member(fields_, field) || member(profile_, field);
  }

  /// Bytes of each request for burst buffer, in whole granules, and the stripes.
  void buffer(Job& job, std::int64_t granule_bytes) const {
    if (!states(BB_TOTAL)) {
      if (states(BB_STRIPES)) {
        const bool own = member(fields_, BB_STRIPES);
        wrong(own ? "job" : "profile", "bb_stripes", "alone",
              member(own ? fields_ : profile_, BB_STRIPES));
      }
      if (!states(BB)) return;
      const std::int64_t bytes = size(BB);
      job.bb_bytes = (bytes / granule_bytes + (bytes % granule_bytes != 0)) * granule_bytes;
      return;
    }
    if (states(BB))
      wrong(member(fields_, BB_TOTAL) ? "job" : "profile", "bb_total", "both", nullptr);
    std::int64_t stripes = 1;
    if (states(BB_STRIPES)) {
      const bool own = member(fields_, BB_STRIPES);
      stripes = whole(own ? "job" : "profile", own ? fields_ : profile_, BB_STRIPES, "stripes", 1,
                      MOST_STRIPES);
    }
    const std::int64_t total = size(BB_TOTAL), unit = stripes * granule_bytes;
    job.bb_bytes = (total / unit + (total % unit != 0)) * granule_bytes;
    job.stripes = job.bb_bytes ? stripes : 0;
  }

  /// A size, rounded up; the job's own field before that of its profile.
  std::int64_t size(const Field& field) const {
    const bool own = member(fields_, field);
    PyObject* value = member(own ? fields_ : profile_, field);
    if (!is_number(value) || !(0.0 <= number(value) && number(value) < LARGEST_SIZE))
      wrong(own ? "job" : "profile", field, "size", value);
    if (PyLong_Check(value)) {
      int overflow = 0;
      return PyLong_AsLongLongAndOverflow(value, &overflow);
    }
    return std::int64_t(std::ceil(number(value)));
  }

  const std::string& job_id_;
  nb::handle fields_, profile_;
  bool shortest_ = false;
};

}  // namespace

void bind_reading(nb::module_& module) {
  module.def(
      "read_job",
      [](const std::string& job_id, nb::dict fields, nb::object profile, std::int64_t rank,
         double now_s, std::int64_t granule_bytes) {
        const nb::object work = profile.is_none() ? nb::object(nb::dict()) : profile;
        return std::make_shared<Job>(Reader(job_id, fields, work).read(rank, now_s, granule_bytes));
      },
      nb::arg("job_id"), nb::arg("fields"), nb::arg("profile").none(), nb::arg("number"),
      nb::arg("now_s"), nb::arg("granule_bytes") = 1);
}

}  // namespace spillway::bindings
