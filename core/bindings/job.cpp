#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/job.hpp"
#include "bindings/values.hpp"
#include "model/job.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

nb::object field_of(nb::handle extras, const char* name) {
  if (PyDict_Check(extras.ptr())) {
    return nb::borrow(PyDict_GetItemString(extras.ptr(), name));
  }
  return extras.attr("get")(name);
}

// Name of a user, account or QOS: a text, or a number as text; "" for any other value.
std::string name_in(nb::handle extras, const char* field) {
  nb::object value = field_of(extras, field);
  if (!value.is_valid()) return "";
  PyObject* name = value.ptr();
  if (PyUnicode_Check(name)) return nb::cast<std::string>(nb::str(value));
  if (PyBool_Check(name) || !(PyLong_Check(name) || PyFloat_Check(name))) return "";
  return nb::cast<std::string>(nb::str(value));
}

// GPUs on each node: a whole number above 0, else 0.
std::int64_t gpus_in(nb::handle extras) {
  nb::object value = field_of(extras, "gpus");
  if (!value.is_valid() || !PyLong_Check(value.ptr()) || PyBool_Check(value.ptr())) return 0;
  int overflow = 0;
  const long long count = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow) return overflow > 0 ? std::numeric_limits<std::int64_t>::max() : 0;
  return count > 0 ? count : 0;
}

template <auto FIELD>
void set_value(Job& job, nb::handle value) {
  job.*FIELD = nb::cast<std::decay_t<decltype(job.*FIELD)>>(value);
}

template <auto FIELD>
void set_payload(Job& job, nb::handle value) {
  job.*FIELD = value.is_none() ? PayloadPtr() : to_payload(value);
}

// A field of the constructor, in its order.
struct Field {
  const char* name;
  void (*set)(Job&, nb::handle);
};

constexpr Field FIELDS[] = {
    {"id", &set_value<&Job::id>},
    {"number", &set_value<&Job::number>},
    {"submit_time_s", &set_value<&Job::submit_time_s>},
    {"walltime_s", &set_value<&Job::walltime_s>},
    {"nodes", &set_value<&Job::nodes>},
    {"bb_bytes", &set_value<&Job::bb_bytes>},
    {"io_rate", &set_value<&Job::io_rate>},
    {"profile_name", &set_value<&Job::profile_name>},
    {"profile", &set_payload<&Job::profile>},
    {"extras", &set_extras},
    {"lives", &set_value<&Job::lives>},
    {"stripes", &set_value<&Job::stripes>},
    {"partitions", [](Job& job, nb::handle value) { job.partitions = indices_of(value); }},
    {"pools", [](Job& job, nb::handle value) { job.pools = amounts_of(value); }},
    {"held_s", &set_value<&Job::held_s>},
    {"left", &set_payload<&Job::left>},
    {"default_walltime", &set_value<&Job::default_walltime>},
    {"grace_s", &set_value<&Job::grace_s>},
    {"over_s", &set_value<&Job::over_s>}};

void make(Job* self, std::string id, std::int64_t number, double submit_time_s, double walltime_s,
          std::int64_t nodes, std::int64_t bb_bytes, std::int64_t io_rate, std::string profile_name,
          nb::handle profile, nb::handle extras, std::optional<Lives> lives, std::int64_t stripes,
          nb::handle partitions, nb::handle pools, double held_s, nb::handle left,
          bool default_walltime, double grace_s, double over_s) {
  Job made;
  made.id = std::move(id);
  made.number = number;
  made.submit_time_s = submit_time_s;
  made.walltime_s = walltime_s;
  made.nodes = nodes;
  made.bb_bytes = bb_bytes;
  made.io_rate = io_rate;
  made.profile_name = std::move(profile_name);
  made.lives = lives;
  made.stripes = stripes;
  made.partitions = indices_of(partitions);
  made.pools = amounts_of(pools);
  made.held_s = held_s;
  made.default_walltime = default_walltime;
  made.grace_s = grace_s;
  made.over_s = over_s;
  made.profile = to_payload(profile.is_none() ? nb::dict() : nb::borrow(profile));
  set_extras(made, extras);
  set_payload<&Job::left>(made, left);
  new (self) Job(std::move(made));
}

nb::object held(const PayloadPtr& payload) {
  nb::object value = from_payload(payload);
  return value.is_valid() ? value : nb::dict();
}

nb::object left_of(const Job& job) {
  nb::object value = from_payload(job.left);
  return value.is_valid() ? value : nb::none();
}

nb::tuple fields(const Job& job) {
  return nb::make_tuple(job.id, job.number, job.submit_time_s, job.walltime_s, job.nodes,
                        job.bb_bytes, job.io_rate, job.profile_name, held(job.profile),
                        held(job.extras), job.lives, job.stripes, tuple_of(job.partitions),
                        tuple_of(job.pools), job.held_s, left_of(job), job.default_walltime,
                        job.grace_s, job.over_s);
}

nb::object shown(const Job& job) {
  nb::list parts;
  nb::tuple values = fields(job);
  for (std::size_t place = 0; place < nb::len(values); place++) {
    parts.append(nb::str("{}={!r}").format(FIELDS[place].name, values[place]));
  }
  return nb::str("Job({})").format(nb::str(", ").attr("join")(parts));
}

std::string_view name_of(const Job& job) {
  const std::size_t mark = job.id.rfind('!');
  return mark == std::string::npos ? std::string_view(job.id)
                                   : std::string_view(job.id).substr(mark + 1);
}

std::string_view workload_of(const Job& job) {
  return std::string_view(job.id).substr(0, job.id.find('!'));
}

nb::str text(std::string_view of) { return nb::str(of.data(), of.size()); }

// Python's collector sees the objects that only this job holds: those shared with other jobs are
// counted once for all of them, and would be taken for garbage.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const auto [ready, owned] = nb::inst_state(self);
  if (!ready || !owned) return 0;
  const Job* job = nb::inst_ptr<Job>(self);
  for (const PayloadPtr* one : {&job->profile, &job->extras, &job->left}) {
    if (one->use_count() != 1) continue;
    Py_VISIT(static_cast<const PythonPayload*>(one->get())->value.ptr());
  }
  return 0;
}

int clear(PyObject* self) {
  const auto [ready, owned] = nb::inst_state(self);
  if (!ready || !owned) return 0;
  Job* job = nb::inst_ptr<Job>(self);
  job->profile.reset();
  job->extras.reset();
  job->left.reset();
  return 0;
}

PyType_Slot SLOTS[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                       {0, nullptr}};

}  // namespace

void set_extras(Job& job, nb::handle given) {
  nb::object extras = given.is_none() ? nb::dict() : nb::borrow(given);
  job.extras = to_payload(extras);
  job.user = name_in(extras, "user");
  job.account = name_in(extras, "account");
  job.qos = name_in(extras, "qos");
  job.gpus = gpus_in(extras);
}

Job changed(const Job& job, const nb::kwargs& changes) {
  Job made = job;
  for (auto [key, value] : changes) {
    const std::string name = nb::cast<std::string>(key);
    const auto field = std::find_if(std::begin(FIELDS), std::end(FIELDS),
                                    [&](const Field& one) { return name == one.name; });
    if (field == std::end(FIELDS)) throw nb::type_error(("Job has no field " + name).c_str());
    field->set(made, value);
  }
  return made;
}

void bind_job(nb::module_& module) {
  nb::class_<Job>(module, "Job", nb::type_slots(SLOTS))
      .def("__init__", &make, nb::arg("id"), nb::arg("number"), nb::arg("submit_time_s"),
           nb::arg("walltime_s"), nb::arg("nodes"), nb::arg("bb_bytes") = 0, nb::arg("io_rate") = 0,
           nb::arg("profile_name") = "", nb::arg("profile") = nb::none(),
           nb::arg("extras") = nb::none(), nb::arg("lives") = nb::none(), nb::arg("stripes") = 0,
           nb::arg("partitions") = nb::tuple(), nb::arg("pools") = nb::tuple(),
           nb::arg("held_s") = 0.0, nb::arg("left") = nb::none(),
           nb::arg("default_walltime") = false, nb::arg("grace_s") = 0.0, nb::arg("over_s") = 0.0)
      .def_ro("id", &Job::id)
      .def_ro("number", &Job::number)
      .def_ro("submit_time_s", &Job::submit_time_s)
      .def_ro("walltime_s", &Job::walltime_s)
      .def_ro("nodes", &Job::nodes)
      .def_ro("bb_bytes", &Job::bb_bytes)
      .def_ro("io_rate", &Job::io_rate)
      .def_ro("profile_name", &Job::profile_name)
      .def_prop_ro("profile", [](const Job& job) { return held(job.profile); })
      .def_prop_ro("extras", [](const Job& job) { return held(job.extras); })
      .def_prop_ro("lives", [](const Job& job) { return job.lives; })
      .def_ro("stripes", &Job::stripes)
      .def_prop_ro("partitions", [](const Job& job) { return tuple_of(job.partitions); })
      .def_prop_ro("pools", [](const Job& job) { return tuple_of(job.pools); })
      .def_ro("held_s", &Job::held_s)
      .def_prop_ro("left", &left_of)
      .def_ro("default_walltime", &Job::default_walltime)
      .def_ro("grace_s", &Job::grace_s)
      .def_ro("over_s", &Job::over_s)
      .def_prop_ro("requests", &Job::requests)
      .def_prop_ro("name", [](const Job& job) { return text(name_of(job)); })
      .def_prop_ro("workload", [](const Job& job) { return text(workload_of(job)); })
      .def_ro("user", &Job::user)
      .def_ro("account", &Job::account)
      .def_ro("qos", &Job::qos)
      .def_ro("gpus", &Job::gpus)
      .def("__repr__", &shown)
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), fields(nb::cast<const Job&>(self)));
      });
}

}  // namespace spillway::bindings
