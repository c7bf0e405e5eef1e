#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/iterator.hpp"
#include "bindings/payload.hpp"
#include "loop/job.hpp"
#include "loop/static_jobs.hpp"
#include "model/job_states.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using batsim::Job;
using batsim::JobPtr;
using batsim::StaticJobs;

using WorkState = std::tuple<int, std::vector<double>, std::string, std::string,
                             std::vector<double>, std::vector<double>, nb::object>;
using ProfileState = std::tuple<std::string, std::string, Work, std::int32_t, std::int32_t, bool,
                                bool, std::vector<std::string>, nb::object, bool>;

Work work_of(Work::Kind kind) {
  Work work;
  work.kind = kind;
  return work;
}

WorkState state_of(const Work& work) {
  return {static_cast<int>(work.kind),
          {work.seconds, work.cpu, work.com, work.read, work.write},
          work.label,
          work.target,
          work.cpus,
          work.coms,
          unwrap(work.program)};
}

void set_state(Work& work, const WorkState& state) {
  const auto& [kind, numbers, label, target, cpus, coms, program] = state;
  new (&work) Work{static_cast<Work::Kind>(kind),
                   numbers[0],
                   numbers[1],
                   numbers[2],
                   numbers[3],
                   numbers[4],
                   label,
                   target,
                   cpus,
                   coms,
                   wrap(program)};
}

ProfileState profile_state(const Profile& it) {
  return {it.name,          it.kind,     it.work,           it.ret,    it.size, it.elastic,
          it.elastic_parts, it.children, unwrap(it.source), it.dropped};
}

void set_profile_state(Profile& profile, const ProfileState& state) {
  const auto& [name, kind, work, ret, size, elastic, parts, children, source, dropped] = state;
  new (&profile)
      Profile{name, kind, work, ret, size, elastic, parts, children, wrap(source), dropped};
}

/// Walks over the jobs of a workload.
struct StaticJobsIterator {
  std::shared_ptr<StaticJobs> jobs;
  std::size_t place = 0;

  nb::object next() { return place < jobs->size() ? nb::cast(jobs->at(place++)) : nb::object(); }
};

void bind_works(nb::module_& module) {
  nb::enum_<Work::Kind>(module, "WorkKind")
      .value("DELAY", Work::Kind::DELAY)
      .value("HOMOGENEOUS", Work::Kind::HOMOGENEOUS)
      .value("HOMOGENEOUS_TOTAL", Work::Kind::HOMOGENEOUS_TOTAL)
      .value("EXPLICIT", Work::Kind::EXPLICIT)
      .value("STORAGE_ACCESS", Work::Kind::STORAGE_ACCESS)
      .value("IO_STREAM", Work::Kind::IO_STREAM)
      .value("STAGING", Work::Kind::STAGING)
      .value("PROGRAM", Work::Kind::PROGRAM);

  nb::class_<Work>(module, "Work")
      .def_static(
          "explicit",
          [](std::vector<double> cpu, std::vector<double> com) {
            Work work = work_of(Work::Kind::EXPLICIT);
            work.cpus = std::move(cpu);
            work.coms = std::move(com);
            return work;
          },
          nb::arg("cpu"), nb::arg("com"))
      .def_static(
          "of_program",
          [](nb::object program) {
            Work work = work_of(Work::Kind::PROGRAM);
            work.program = wrap(std::move(program));
            return work;
          },
          nb::arg("program"))
      .def_ro("kind", &Work::kind)
      .def_ro("seconds", &Work::seconds)
      .def_prop_ro("program", [](const Work& work) { return unwrap(work.program); })
      .def("__getstate__", &state_of)
      .def("__setstate__", &set_state);

  nb::class_<Profile>(module, "Profile")
      .def(
          "__init__",
          [](Profile* it, std::string name, std::string kind, const Work& work, std::int32_t ret,
             std::optional<std::int32_t> size, bool elastic, std::vector<std::string> children,
             nb::object source) {
            new (it) Profile{std::move(name),
                             std::move(kind),
                             work,
                             ret,
                             size.value_or(-1),
                             elastic,
                             false,
                             std::move(children),
                             wrap(std::move(source)),
                             false};
          },
          nb::arg("name"), nb::arg("kind"), nb::arg("work"), nb::arg("ret") = 0,
          nb::arg("size") = nb::none(), nb::arg("elastic") = false,
          nb::arg("children") = std::vector<std::string>{}, nb::arg("source") = nb::none())
      .def_ro("name", &Profile::name)
      .def_ro("kind", &Profile::kind)
      .def_prop_ro(
          "work", [](const Profile& it) -> const Work& { return it.work; },
          nb::rv_policy::reference_internal)
      .def_ro("ret", &Profile::ret)
      .def_prop_ro("size",
                   [](const Profile& it) {
                     return it.size < 0 ? std::nullopt : std::optional<std::int32_t>(it.size);
                   })
      .def_ro("elastic", &Profile::elastic)
      .def_rw("elastic_parts", &Profile::elastic_parts)
      .def_prop_ro("children", [](const Profile& it) { return nb::tuple(nb::cast(it.children)); })
      .def_prop_rw(
          "source", [](const Profile& it) { return unwrap(it.source); },
          [](Profile& it, nb::object source) { it.source = wrap(std::move(source)); })
      .def_rw("dropped", &Profile::dropped)
      .def("__getstate__", &profile_state)
      .def("__setstate__", &set_profile_state);
}

nb::object ids_of(const Job& job) {
  if (job.allocation == nullptr) return nb::none();
  return nb::tuple(nb::cast(*job.allocation->ids));
}

}  // namespace

void bind_simulated_jobs(nb::module_& module) {
  bind_works(module);

  nb::enum_<Origin::Kind>(module, "OriginKind")
      .value("FILE", Origin::Kind::FILE)
      .value("REGISTERED", Origin::Kind::REGISTERED)
      .value("LOCAL", Origin::Kind::LOCAL);
  nb::class_<Origin>(module, "Origin")
      .def(
          "__init__",
          [](Origin* it, std::string name, Origin::Kind kind) {
            new (it) Origin{std::move(name), kind};
          },
          nb::arg("name"), nb::arg("kind"))
      .def_ro("name", &Origin::name)
      .def_ro("kind", &Origin::kind);

  nb::class_<Job>(module, "SimulatedJob")
      .def(
          "__init__",
          [](Job* it, std::shared_ptr<Origin> origin, std::string name, ProfilePtr profile,
             double subtime, std::int32_t res, double walltime, nb::object source) {
            new (it)
                Job(std::move(origin), std::move(name), std::move(profile), subtime, res, walltime);
            it->source = wrap(std::move(source));
          },
          nb::arg("origin"), nb::arg("name"), nb::arg("profile"), nb::arg("subtime"),
          nb::arg("res"), nb::arg("walltime"), nb::arg("source") = nb::none())
      .def_ro("id", &Job::id)
      .def_ro("name", &Job::name)
      .def_prop_ro("workload", [](const Job& it) { return it.origin->name; })
      .def_prop_ro("profile", [](const Job& it) { return it.profile; })
      .def_rw("subtime", &Job::subtime_s)
      .def_ro("res", &Job::res)
      .def_ro("walltime", &Job::walltime_s)
      .def_prop_rw(
          "source", [](const Job& it) { return unwrap(it.source); },
          [](Job& it, nb::object source) { it.source = wrap(std::move(source)); },
          nb::arg("source").none())
      .def_prop_ro("state", [](const Job& it) { return name_of(it.state); })
      .def_rw("metadata", &Job::metadata)
      .def_rw("foreign_profile", &Job::foreign_profile)
      .def_prop_ro("alloc", &ids_of)
      .def_ro("start", &Job::start_s)
      .def_ro("runtime", &Job::runtime_s)
      .def_ro("return_code", &Job::return_code)
      .def_rw("energy", &Job::energy_j)
      .def_ro("wait_start", &Job::wait_start_s)
      .def_prop_ro("executors",
                   [](const Job& it) { return nb::tuple(nb::cast(it.place.executors())); })
      .def_prop_ro("running", [](const Job& it) { return it.state == JobState::RUNNING; });

  nb::class_<StaticJobsIterator>(module, "StaticJobsIterator",
                                 nb::type_slots(iterator_slots<StaticJobsIterator>()));
  nb::class_<StaticJobs>(module, "StaticJobs")
      .def(nb::init<bool>(), nb::arg("in_order") = false)
      .def(
          "append",
          [](StaticJobs& it, JobPtr job) {
            const PayloadPtr whole = job->source;
            job->source = packed(whole);
            it.append(*job);
            job->source = whole;
          },
          nb::arg("job"))
      .def("__len__", &StaticJobs::size)
      .def(
          "__getitem__",
          [](const StaticJobs& it, std::ptrdiff_t place) {
            const auto count = static_cast<std::ptrdiff_t>(it.size());
            if (place < -count || place >= count) throw nb::index_error();
            return it.at(static_cast<std::size_t>(place < 0 ? place + count : place));
          },
          nb::arg("place"))
      .def("__iter__", [](std::shared_ptr<StaticJobs> it) { return StaticJobsIterator{it}; })
      .def("sort", &StaticJobs::sort)
      .def("find", &StaticJobs::find, nb::arg("name"))
      .def_prop_ro("profile_names", [](const StaticJobs& it) {
        nb::set names;
        const Profile* last = nullptr;
        for (const ProfilePtr& profile : it.profiles()) {
          if (profile.get() != last) names.add(nb::cast(profile->name));
          last = profile.get();
        }
        return names;
      });
}

}  // namespace spillway::bindings
