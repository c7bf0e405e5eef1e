#include "bindings/translation.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>

#include "bindings/payload.hpp"
#include "bindings/python_types.hpp"
#include "bindings/steps.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

/// Whole numbers of 32 bits; one beyond them is no machine and no return code, and becomes the
/// nearest.
std::int32_t clamped(nb::handle number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0 && value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  constexpr long long LEAST = std::numeric_limits<std::int32_t>::min();
  constexpr long long MOST = std::numeric_limits<std::int32_t>::max();
  if (overflow != 0) return static_cast<std::int32_t>(overflow < 0 ? LEAST : MOST);
  return static_cast<std::int32_t>(std::clamp(value, LEAST, MOST));
}

nb::module_ structs() { return nb::module_::import_("spillway.protocol.messages"); }

}  // namespace

Translation::Translation()
    : table_(structs()),
      begins_(structs().attr("SimulationBegins")),
      ends_(structs().attr("SimulationEnds")),
      submitted_(structs().attr("JobSubmitted")),
      completed_(structs().attr("JobCompleted")),
      call_(structs().attr("RequestedCall")),
      reply_(structs().attr("Reply")) {}

Message Translation::message(nb::handle message) const {
  Message found;
  found.now_s = nb::cast<double>(message.attr("now"));
  for (const nb::handle it : message.attr("events")) found.events.push_back(event(it));
  return found;
}

Event Translation::event(nb::handle event) const {
  Event found;
  const nb::handle type = event.type();
  found.time_s = nb::cast<double>(event.attr("timestamp"));
  if (type.is(submitted_)) {
    found.kind = Event::Kind::JOB_SUBMITTED;
    found.job_id = nb::cast<std::string>(event.attr("job_id"));
    found.payload = wrap(event.attr("job"));
    found.profile = wrap(event.attr("profile"));
  } else if (type.is(completed_)) {
    found.kind = Event::Kind::JOB_COMPLETED;
    found.job_id = nb::cast<std::string>(event.attr("job_id"));
    found.state = state_of(event.attr("state"));
    found.return_code = clamped(event.attr("return_code"));
    auto alloc = std::make_shared<std::vector<std::int32_t>>();
    for (const nb::handle id : event.attr("alloc")) alloc->push_back(clamped(id));
    found.alloc = std::move(alloc);
  } else if (type.is(call_)) {
    found.kind = Event::Kind::REQUESTED_CALL;
    found.job_id = nb::cast<std::string>(event.attr("name"));
    found.last = nb::cast<bool>(event.attr("last"));
  } else {
    found.kind = type.is(begins_) ? Event::Kind::SIMULATION_BEGINS
                 : type.is(ends_) ? Event::Kind::SIMULATION_ENDS
                                  : Event::Kind::OTHER;
    found.payload = wrap(nb::borrow(event));
  }
  return found;
}

Request Translation::request(nb::handle request) const {
  Reply found;
  table_.request(request, 0, found);
  return std::move(found.requests.front());
}

nb::object Translation::to_python(const Reply& reply) const {
  nb::list requests;
  for (const Request& request : reply.requests) requests.append(request_object(request));
  return reply_(reply.now_s, nb::tuple(requests));
}

}  // namespace spillway::bindings
