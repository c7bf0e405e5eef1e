// Jobs and profiles from the objects of a workload's file, or of a scheduler that registers them.
//
// Here is what is valid; for anything else the answer is empty, and Python finds the fault and its
// words.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/field.hpp"
#include "bindings/payload.hpp"
#include "loop/job.hpp"
#include "loop/static_jobs.hpp"
#include "model/limits.hpp"
#include "model/profile.hpp"
#include "model/rounding.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using batsim::Job;
using batsim::JobPtr;

const Field BYTES_TO_READ("bytes_to_read"), BYTES_TO_WRITE("bytes_to_write"), COM("com"),
    CPU("cpu"), DELAY("delay"), FROM("from"), HOST("host"), ID("id"), IO_BYTES("io_bytes"),
    NB_BYTES("nb_bytes"), PROFILE("profile"), RES("res"), RET("ret"),
    SMPI_RANKS("smpi_ranks_to_hosts_mapping"), STORAGE("storage"), SUBTIME("subtime"), TO("to"),
    TYPE("type"), WALLTIME("walltime");

constexpr double MOST_PRINTED = 1e24, LEAST_PRINTED = -1e23;
constexpr double LARGEST = std::numeric_limits<double>::max();
constexpr long MOST_WHOLE = 2147483647;
constexpr std::string_view ID_STOPS = "(,|})";

[[noreturn]] void refuse_printed(nb::handle value) {
  nb::module_::import_("spillway.protocol.jsontext").attr("refuse_printed")(value);
  throw nb::python_error();
}

nb::object printed_number(nb::handle value, double number) {
  if (!(LEAST_PRINTED < number && number < MOST_PRINTED))  // also nan
    refuse_printed(nb::float_(number));
  const double found = rounded(number, PRINTED_DECIMALS);
  const bool same =
      found == number && PyFloat_Check(value.ptr()) && (found != 0.0 || !std::signbit(found));
  return same ? nb::borrow(value) : nb::object(nb::float_(found));
}

nb::object printed_whole(nb::handle value) {
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return nb::borrow(value);
  if (overflow > 0) {
    PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred() == nullptr) return nb::borrow(value);
    PyErr_Clear();
  }
  double number = PyLong_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    number = std::numeric_limits<double>::infinity();
  }
  return printed_number(value, number);
}

/// A value of JSON after Batsim 4 has printed and read it; members `id` get the full id, if there
/// is one, as Batsim searches the text for them.
nb::object printed(nb::handle value, nb::handle full_id) {
  PyObject* it = value.ptr();
  if (PyUnicode_CheckExact(it) || PyBool_Check(it) || value.is_none()) return nb::borrow(value);
  if (PyFloat_CheckExact(it)) return printed_number(value, PyFloat_AsDouble(it));
  if (PyLong_CheckExact(it)) return printed_whole(value);
  if (PyDict_CheckExact(it)) {
    nb::dict found;
    PyObject *key = nullptr, *member = nullptr;
    Py_ssize_t place = 0;
    while (PyDict_Next(it, &place, &key, &member)) {
      const bool is_id = full_id.is_valid() && PyUnicode_Check(key) &&
                         PyUnicode_CompareWithASCIIString(key, "id") == 0;
      const nb::object own = printed(member, full_id);
      PyDict_SetItem(found.ptr(), key, is_id ? full_id.ptr() : own.ptr());
    }
    return std::move(found);
  }
  if (PyList_CheckExact(it) || PyTuple_CheckExact(it)) {
    nb::list found;
    for (const nb::handle item : nb::borrow(value)) found.append(printed(item, full_id));
    return std::move(found);
  }
  refuse_printed(value);
}

/// A finite number of Python, which `true` is not.
std::optional<double> finite(PyObject* value) {
  double number = 0.0;
  if (value != nullptr && PyFloat_CheckExact(value)) {
    number = PyFloat_AsDouble(value);
  } else if (value != nullptr && PyLong_CheckExact(value)) {
    number = PyLong_AsDouble(value);
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return std::nullopt;
    }
  } else {
    return std::nullopt;
  }
  return -LARGEST <= number && number <= LARGEST ? std::optional(number) : std::nullopt;
}

/// A whole number of Python within limits.
std::optional<long> whole(PyObject* value, long least, long most) {
  if (value == nullptr || !PyLong_CheckExact(value)) return std::nullopt;
  int overflow = 0;
  const long found = PyLong_AsLongAndOverflow(value, &overflow);
  if (overflow != 0 || found < least || found > most) return std::nullopt;
  return found;
}

std::optional<std::string_view> text(PyObject* value) {
  if (value == nullptr || !PyUnicode_Check(value)) return std::nullopt;
  Py_ssize_t size = 0;
  const char* found = PyUnicode_AsUTF8AndSize(value, &size);
  if (found == nullptr) {  // no valid Unicode
    PyErr_Clear();
    return std::nullopt;
  }
  return std::string_view(found, std::size_t(size));
}

/// Workload and name of an id; several separators in a row count as one.
std::optional<std::pair<std::string, std::string>> parts_of(std::string_view id) {
  const std::size_t begin = id.find('!');
  if (begin == std::string_view::npos) return std::nullopt;
  std::size_t end = begin;
  while (end < id.size() && id[end] == '!') ++end;
  if (id.find('!', end) != std::string_view::npos) return std::nullopt;
  return std::pair(std::string(id.substr(0, begin)), std::string(id.substr(end)));
}

// ------------------------------------------------------------------------------------- profiles

/// The numbers and texts of a profile's object; `valid` stays true while all are as they must be.
class Members {
 public:
  explicit Members(nb::handle object) : object_(object) {}
  bool valid() const { return valid_; }

  double amount(const Field& name, std::optional<double> otherwise = std::nullopt) {
    return number(name, otherwise, [](double found) { return found >= 0.0; });
  }
  double duration(const Field& name) {
    return number(name, std::nullopt,
                  [](double found) { return 0.0 < found && found <= LATEST_S; });
  }
  std::string label(const Field& name, const char* otherwise = nullptr) {
    PyObject* value = member(object_, name);
    if (value == nullptr && otherwise != nullptr) return otherwise;
    const auto found = text(value);
    valid_ = valid_ && found.has_value();
    return std::string(found.value_or(""));
  }
  bool has(const Field& name) const { return member(object_, name) != nullptr; }
  void require(bool condition) { valid_ = valid_ && condition; }

 private:
  template <class Test>
  double number(const Field& name, std::optional<double> otherwise, Test in_range) {
    PyObject* value = member(object_, name);
    const std::optional<double> found =
        value == nullptr && otherwise.has_value() ? otherwise : finite(value);
    valid_ = valid_ && found.has_value() && in_range(*found);
    return found.value_or(0.0);
  }

  nb::handle object_;
  bool valid_ = true;
};

void read_delay(Members& members, Work& work) { work.seconds = members.duration(DELAY); }

void read_homogeneous(Members& members, Work& work) {
  work.cpu = members.amount(CPU);
  work.com = members.amount(COM);
}

void read_access(Members& members, Work& work) {
  members.require(members.has(BYTES_TO_READ) || members.has(BYTES_TO_WRITE));
  work.read = members.amount(BYTES_TO_READ, 0.0);
  work.write = members.amount(BYTES_TO_WRITE, 0.0);
  const std::string storage = members.label(STORAGE, "pfs"), host = members.label(HOST, "pfs");
  work.label = members.has(STORAGE) ? storage : host;
}

void read_stream(Members& members, Work& work) {
  work.cpu = members.amount(CPU);
  work.write = members.amount(IO_BYTES);
  work.label = members.label(STORAGE, "pfs");
}

void read_staging(Members& members, Work& work) {
  work.com = members.amount(NB_BYTES);
  work.label = members.label(FROM);
  work.target = members.label(TO);
}

struct PlainKind {
  const char* name;
  Work::Kind kind;
  void (*read)(Members&, Work&);
};

/// Types of profiles that are one task or a pause, of a few numbers.
constexpr std::array<PlainKind, 6> PLAIN_KINDS{{
    {"delay", Work::Kind::DELAY, read_delay},
    {"parallel_homogeneous", Work::Kind::HOMOGENEOUS, read_homogeneous},
    {"parallel_homogeneous_total", Work::Kind::HOMOGENEOUS_TOTAL, read_homogeneous},
    {"parallel_homogeneous_pfs", Work::Kind::STORAGE_ACCESS, read_access},
    {"io_stream", Work::Kind::IO_STREAM, read_stream},
    {"data_staging", Work::Kind::STAGING, read_staging},
}};

ProfilePtr read_plain_profile(std::string name, nb::handle data, bool reprinted, bool of_file) {
  if (!PyDict_CheckExact(data.ptr())) return nullptr;
  const auto type = text(member(data, TYPE));
  if (!type) return nullptr;
  for (const PlainKind& plain : PLAIN_KINDS) {
    if (*type != plain.name) continue;
    nb::object source = nb::borrow(data);
    if (reprinted) {
      try {
        source = printed(data, nb::handle());
      } catch (nb::python_error& error) {
        return nullptr;
      }
    }
    Members members(of_file ? data : nb::handle(source));
    auto profile = std::make_shared<Profile>();
    if (PyObject* ret = member(of_file ? data : nb::handle(source), RET)) {
      const std::optional<long> code = whole(ret, -2, MOST_WHOLE);
      if (!code) return nullptr;
      profile->ret = std::int32_t(*code);
    }
    profile->work.kind = plain.kind;
    plain.read(members, profile->work);
    if (!members.valid()) return nullptr;
    profile->name = std::move(name);
    profile->kind = plain.name;
    profile->elastic = plain.kind == Work::Kind::HOMOGENEOUS_TOTAL;
    // One text for the type of all profiles that are kept.
    const nb::object kind = nb::steal(PyUnicode_InternFromString(plain.name));
    PyDict_SetItem(source.ptr(), TYPE.object(), kind.ptr());
    profile->source = wrap(std::move(source));
    return profile;
  }
  return nullptr;
}

/// Reads profiles of a workload's file into `found` up to the first that is not plain; the number
/// of them. Names and objects are those from `begin` on.
std::size_t read_plain_profiles(nb::list names, nb::list objects, std::size_t begin, bool reprinted,
                                nb::dict found) {
  std::size_t place = begin;
  for (; place < objects.size(); ++place) {
    const nb::handle name = names[place], object = objects[place];
    const auto stated = text(name.ptr());
    ProfilePtr profile =
        stated ? read_plain_profile(std::string(*stated), object, reprinted, true) : nullptr;
    if (!profile) break;
    found[name] = std::move(profile);
  }
  return place - begin;
}

// ----------------------------------------------------------------------------------------- jobs

/// Reads the jobs of one workload.
class JobRows {
 public:
  JobRows(std::string name, nb::dict profiles, bool reprints)
      : name_(std::move(name)), profiles_(std::move(profiles)), reprints_(reprints) {}

  JobPtr read(std::shared_ptr<Origin> origin, nb::handle data, bool reprinted, bool keep) const {
    std::string name;
    if (!PyDict_CheckExact(data.ptr()) || !own_name(member(data, ID), name)) return nullptr;
    auto subtime_s = finite(member(data, SUBTIME));
    PyObject* stated = member(data, WALLTIME);
    auto walltime_s = stated == nullptr ? std::optional(NO_WALLTIME) : finite(stated);
    if (!subtime_s || std::abs(*subtime_s) > LATEST_S || !walltime_s) return nullptr;
    if (reprinted && reprints_) {
      subtime_s = rounded(*subtime_s, PRINTED_DECIMALS);
      walltime_s = rounded(*walltime_s, PRINTED_DECIMALS);
    }
    if (*walltime_s != NO_WALLTIME && !(*walltime_s > 0.0)) return nullptr;
    const std::optional<long> res = whole(member(data, RES), 0, MOST_WHOLE);
    const ProfilePtr profile = profile_of(member(data, PROFILE));
    if (!res || !profile || (profile->size >= 0 && profile->size != *res)) return nullptr;
    PayloadPtr source;
    if (keep && !keep_source(data, name, source)) return nullptr;
    auto job = std::make_shared<Job>(std::move(origin), std::move(name), profile, *subtime_s,
                                     std::int32_t(*res), *walltime_s);
    job->source = std::move(source);
    return job;
  }

  /// Reads jobs of the workload's file from `begin` on into `jobs`, up to the first with any fault,
  /// or with a mapping of ranks, which Python checks; their names.
  nb::list read_all(const std::shared_ptr<Origin>& origin, nb::list items, std::size_t begin,
                    batsim::StaticJobs& jobs) const {
    nb::list names;
    for (std::size_t place = begin; place < items.size(); ++place) {
      const nb::handle item = items[place];
      if (PyDict_Check(item.ptr()) && member(item, SMPI_RANKS) != nullptr) break;
      const JobPtr job = read(origin, item, false, true);
      if (!job) break;
      job->source = packed(job->source);
      jobs.append(*job);
      names.append(nb::str(job->name.data(), job->name.size()));
    }
    return names;
  }

 private:
  /// The name in this workload of a job with this id.
  bool own_name(PyObject* id, std::string& name) const {
    if (id == nullptr) return false;
    nb::object number;
    if (PyLong_CheckExact(id)) {
      number = nb::str(nb::handle(id));  // which looks at signals: their exceptions go on
      id = number.ptr();
    }
    const auto stated = text(id);
    if (!stated || (!number.is_valid() && stated->find_first_of(ID_STOPS) != stated->npos))
      return false;
    const bool full = stated->find(name_) != stated->npos;
    const auto parts = parts_of(full ? std::string(*stated) : name_ + '!' + std::string(*stated));
    if (!parts || parts->first != name_) return false;
    name = parts->second;
    return true;
  }

  ProfilePtr profile_of(PyObject* name) const {
    if (name == nullptr || !PyUnicode_Check(name)) return nullptr;
    PyObject* found = PyDict_GetItem(profiles_.ptr(), name);
    if (found == nullptr || found == Py_None) return nullptr;
    ProfilePtr profile = nb::cast<ProfilePtr>(nb::handle(found));
    return profile->dropped ? nullptr : profile;
  }

  bool keep_source(nb::handle data, const std::string& name, PayloadPtr& source) const {
    const std::string full = name_ + '!' + name;
    const nb::object full_id = nb::str(full.data(), full.size());
    if (!reprints_) {
      nb::dict copy = nb::steal<nb::dict>(PyDict_Copy(data.ptr()));
      copy["id"] = full_id;
      source = wrap(std::move(copy));
      return true;
    }
    try {
      source = wrap(printed(data, full_id));
    } catch (nb::python_error& error) {
      return false;
    }
    return true;
  }

  std::string name_;
  nb::dict profiles_;
  bool reprints_;
};

}  // namespace

void bind_workload_rows(nb::module_& module) {
  module.def(
      "as_printed", [](nb::handle value) { return printed(value, nb::handle()); },
      nb::arg("value").none());
  nb::dict kinds;
  for (const PlainKind& plain : PLAIN_KINDS) kinds[plain.name] = nb::none();
  module.attr("PLAIN_PROFILES") = nb::tuple(kinds.keys());
  module.def("read_plain_profile", &read_plain_profile, nb::arg("name"), nb::arg("data"),
             nb::arg("reprinted"), nb::arg("of_file"));
  module.def("read_plain_profiles", &read_plain_profiles, nb::arg("names"), nb::arg("objects"),
             nb::arg("begin"), nb::arg("reprinted"), nb::arg("found"));
  nb::class_<JobRows>(module, "JobRows")
      .def(nb::init<std::string, nb::dict, bool>(), nb::arg("name"), nb::arg("profiles"),
           nb::arg("reprints"))
      .def("read", &JobRows::read, nb::arg("origin"), nb::arg("data"), nb::arg("reprinted"),
           nb::arg("keep"))
      .def("read_all", &JobRows::read_all, nb::arg("origin"), nb::arg("items"), nb::arg("begin"),
           nb::arg("jobs"));
}

}  // namespace spillway::bindings
