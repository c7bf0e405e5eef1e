#include "bindings/messages.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "bindings/payload.hpp"
#include "model/job_states.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

/// Tuples of machines that are kept.
constexpr std::size_t MOST_ALLOCS = 20'000;

/// A machine's number; one that no machine can have stays so.
std::int32_t machine(nb::handle number) {
  const auto value = nb::cast<std::int64_t>(number);
  constexpr std::int64_t LARGEST = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, -1, LARGEST));
}

std::vector<std::int32_t> machines(nb::handle sequence) {
  std::vector<std::int32_t> found;
  for (const nb::handle number : sequence) found.push_back(machine(number));
  return found;
}

std::shared_ptr<const Request::Storage> storage(nb::handle mapping) {
  if (mapping.is_none()) return nullptr;
  auto found = std::make_shared<Request::Storage>();
  for (const auto [label, number] : nb::cast<nb::dict>(mapping)) {
    found->emplace_back(nb::cast<std::string>(label), machine(number));
  }
  return found;
}

std::shared_ptr<const Request::Mapping> mapping(nb::handle given) {
  if (given.is_none()) return nullptr;
  auto found = std::make_shared<Request::Mapping>();
  for (const auto [executor, place] : nb::cast<nb::dict>(given)) {
    found->emplace_back(machine(executor), machine(place));
  }
  std::sort(found->begin(), found->end());
  return found;
}

template <typename Value>
Value value(nb::handle object, const char* name) {
  return nb::cast<Value>(object.attr(name));
}

}  // namespace

MessageTable::MessageTable(const nb::module_& module)
    : message_(module.attr("Message")),
      begins_(module.attr("SimulationBegins")),
      ends_(module.attr("SimulationEnds")),
      submitted_(module.attr("JobSubmitted")),
      completed_(module.attr("JobCompleted")),
      killed_(module.attr("JobKilled")),
      call_(module.attr("RequestedCall")),
      notify_(module.attr("Notify")),
      progress_(module.attr("TaskProgress")),
      states_(module.attr("JobState")),
      execute_(module.attr("ExecuteJob")),
      reject_(module.attr("RejectJob")),
      call_later_(module.attr("CallMeLater")),
      kill_(module.attr("KillJob")),
      register_profile_(module.attr("RegisterProfile")),
      register_job_(module.attr("RegisterJob")),
      metadata_(module.attr("SetJobMetadata")) {
  const nb::object kinds = module.attr("NotifyKind");
  no_more_jobs_ = kinds.attr("NO_MORE_STATIC_JOB_TO_SUBMIT").attr("value");
  no_more_events_ = kinds.attr("NO_MORE_EXTERNAL_EVENT_TO_OCCUR").attr("value");
}

// ------------------------------------------------------------------ to Python

nb::object MessageTable::message(const Message& message) {
  nb::list events;
  for (const Event& it : message.events) events.append(event(it));
  return message_(message.now_s, nb::tuple(events));
}

nb::object MessageTable::event(const Event& event) {
  switch (event.kind) {
    case Event::Kind::SIMULATION_ENDS:
      return ends_(event.time_s);
    case Event::Kind::JOB_SUBMITTED:
      return submitted_(event.time_s, event.job_id, unwrap(event.payload), unwrap(event.profile));
    case Event::Kind::JOB_COMPLETED:
      return completed_(event.time_s, event.job_id, states_(name_of(event.state)),
                        event.return_code, alloc(event.alloc));
    case Event::Kind::JOB_KILLED:
      return killed(event);
    case Event::Kind::REQUESTED_CALL:
      return call_(event.time_s, event.job_id, event.last);
    case Event::Kind::NO_MORE_JOBS:
      return notify_(event.time_s, no_more_jobs_);
    case Event::Kind::NO_MORE_EVENTS:
      return notify_(event.time_s, no_more_events_);
    default:
      return unwrap(event.payload);
  }
}

nb::object MessageTable::killed(const Event& event) {
  nb::list ids;
  for (const std::string& id : event.killing->job_ids) ids.append(id);
  nb::dict progress;
  for (const Progress& it : event.killing->progress) {
    progress[nb::cast(it.job_id)] =
        it.tree != nullptr ? unwrap(it.tree) : progress_(it.profile_name, it.share);
  }
  return killed_(event.time_s, nb::tuple(ids), progress);
}

nb::object MessageTable::alloc(const Ids& ids) {
  const auto found = allocs_.find(ids.get());
  if (found != allocs_.end()) return found->second.second;
  if (allocs_.size() >= MOST_ALLOCS) allocs_.clear();
  nb::object made = nb::tuple(nb::cast(*ids));
  allocs_.emplace(ids.get(), std::make_pair(ids, made));
  return made;
}

// ------------------------------------------------------------------ from Python

void MessageTable::reply(nb::handle reply, Reply& found) {
  found.now_s = value<double>(reply, "now");
  std::int32_t index = 0;
  for (const nb::handle it : reply.attr("events")) request(it, index++, found);
}

Request& MessageTable::add(nb::handle request, Request::Kind kind, Reply& reply) const {
  Request& found = reply.requests.emplace_back();
  found.kind = kind;
  found.time_s = value<double>(request, "timestamp");
  return found;
}

void MessageTable::request(nb::handle request, std::int32_t index, Reply& reply) const {
  const nb::handle type = request.type();
  if (type.is(execute_)) {
    execute(request, add(request, Request::Kind::EXECUTE_JOB, reply));
  } else if (type.is(reject_)) {
    add(request, Request::Kind::REJECT_JOB, reply).job_id = value<std::string>(request, "job_id");
  } else if (type.is(call_later_) && value<double>(request, "period_s") == 0.0) {
    Request& found = add(request, Request::Kind::CALL_ME_LATER, reply);
    found.at_s = value<double>(request, "at");
    found.name = value<std::string>(request, "name");
  } else if (type.is(kill_)) {
    Request& found = add(request, Request::Kind::KILL_JOB, reply);
    for (const nb::handle id : request.attr("job_ids")) {
      found.job_ids.push_back(nb::cast<std::string>(id));
    }
  } else if (type.is(metadata_)) {
    Request& found = add(request, Request::Kind::SET_METADATA, reply);
    found.job_id = value<std::string>(request, "job_id");
    found.name = value<std::string>(request, "metadata");
  } else {
    const Request::Kind kind = type.is(register_profile_) ? Request::Kind::REGISTER_PROFILE
                               : type.is(register_job_)   ? Request::Kind::REGISTER_JOB
                                                          : Request::Kind::OTHER;
    Request& found = add(request, kind, reply);
    if (kind == Request::Kind::REGISTER_JOB) found.job_id = value<std::string>(request, "job_id");
    found.payload = wrap(nb::borrow(request));
  }
  reply.requests.back().index = index;
}

void MessageTable::execute(nb::handle request, Request& found) const {
  found.job_id = value<std::string>(request, "job_id");
  found.alloc = std::make_shared<std::vector<std::int32_t>>(machines(request.attr("alloc")));
  found.mapping = mapping(request.attr("mapping"));
  found.storage = storage(request.attr("storage_mapping"));
  const nb::object io = request.attr("additional_io_job");
  if (io.is_none()) return;
  found.extra = std::make_shared<AdditionalIo>(AdditionalIo{
      machines(io.attr("alloc")), value<std::string>(io, "profile_name"), nullptr, wrap(io)});
}

}  // namespace spillway::bindings
