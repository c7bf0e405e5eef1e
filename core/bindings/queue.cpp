#include "session/queue.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "bindings/iterator.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

/// The jobs of a part of a line that still wait, read one after another.
struct Places {
  Waiting waiting;
  std::size_t place;
  bool backwards;

  nb::object next() {
    const auto& jobs = waiting.line->jobs;
    if (backwards) {
      while (place > waiting.first)
        if (const JobPtr& job = jobs[--place]) return nb::cast(job);
    } else {
      while (place < waiting.end)
        if (const JobPtr& job = jobs[place++]) return nb::cast(job);
    }
    return {};
  }
};

/// The place of the job of a number; the last job's neighbour for the number of jobs.
std::size_t place_of(const Waiting& waiting, std::size_t number) {
  if (waiting.end - waiting.first == waiting.count) return waiting.first + number;
  const auto& jobs = waiting.line->jobs;
  if (number > waiting.count / 2) {
    std::size_t place = waiting.end;
    for (std::size_t left = waiting.count; left > number;)
      if (jobs[--place]) --left;
    return place;
  }
  std::size_t place = waiting.first;
  for (std::size_t passed = 0; place < waiting.end; ++place)
    if (jobs[place] && passed++ == number) break;
  return place;
}

nb::object item(const Waiting& waiting, nb::handle index) {
  const auto count = std::ptrdiff_t(waiting.count);
  if (!nb::isinstance<nb::slice>(index)) {
    std::ptrdiff_t number = nb::cast<std::ptrdiff_t>(index);
    if (number < 0) number += count;
    if (number < 0 || number >= count) throw nb::index_error("queue index out of range");
    return nb::cast(waiting.line->jobs[place_of(waiting, std::size_t(number))]);
  }
  const auto [begin, stop, step, length] = nb::cast<nb::slice>(index).compute(waiting.count);
  if (step == 1 && begin + std::ptrdiff_t(length) == count) {
    Waiting rest = waiting;
    rest.first = place_of(waiting, std::size_t(begin));
    rest.count = length;
    return nb::cast(std::move(rest));
  }
  nb::list found;
  for (std::ptrdiff_t at = begin, taken = 0; taken < std::ptrdiff_t(length); ++taken, at += step)
    found.append(waiting.line->jobs[place_of(waiting, std::size_t(at))]);
  return std::move(found);
}

}  // namespace

void bind_queue(nb::module_& module) {
  nb::class_<Places>(module, "WaitingPlaces", nb::type_slots(iterator_slots<Places>()));

  nb::class_<Waiting>(module, "WaitingJobs")
      .def("__len__", [](const Waiting& self) { return self.count; })
      .def("__bool__", [](const Waiting& self) { return self.count > 0; })
      .def("__iter__", [](const Waiting& self) { return Places{self, self.first, false}; })
      .def("__reversed__", [](const Waiting& self) { return Places{self, self.end, true}; })
      .def("__getitem__", &item, nb::arg("index"));

  nb::class_<Queue>(module, "Queue")
      .def(nb::init<>())
      .def("__len__", &Queue::size)
      .def("__contains__",
           [](const Queue& self, const std::string& job_id) { return self.has(job_id); })
      .def("find", &Queue::find, nb::arg("job_id"))
      .def("waiting", &Queue::jobs)
      .def("add", &Queue::add, nb::arg("job"))
      .def("remove", &Queue::remove, nb::arg("job_id"))
      .def("shown", &Queue::shown)
      .def("fault", &Queue::fault);
}

}  // namespace spillway::bindings
