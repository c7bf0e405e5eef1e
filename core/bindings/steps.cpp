#include "bindings/steps.hpp"

#include <nanobind/stl/string.h>

#include "bindings/kinds.hpp"
#include "bindings/operations.hpp"

namespace spillway::bindings {

namespace {

constexpr const char* MESSAGES = "spillway.protocol.messages";
constexpr const char* EXECUTION = "spillway.schedulers.core.execution";

nb::object storage_object(const std::shared_ptr<const Request::Storage>& storage) {
  if (!storage) return nb::none();
  nb::dict found;
  for (const auto& entry : *storage) found[nb::str(entry.first.c_str())] = entry.second;
  return std::move(found);
}

nb::object registered(const JobFacts& job) {
  nb::dict found;
  found["profile"] = job.profile->name;
  found["id"] = job.id;
  found["res"] = job.res;
  found["walltime"] = job.walltime_s;
  found["subtime"] = job.subtime_s;
  return std::move(found);
}

nb::object reason_text(const Reason& reason, nb::handle machine) {
  static Imported words("spillway.schedulers.model.reasons", "words");
  if (!reason) return nb::str("");
  if (reason.code == Reason::Code::STATED) return nb::cast(reason.text);
  return words(static_cast<int>(reason.code), reason.number, machine);
}

template <class Entry, class Make>
nb::list listed(const std::vector<Entry>& entries, Make make) {
  nb::list found;
  for (const Entry& entry : entries) found.append(make(entry));
  return found;
}

}  // namespace

nb::object request_object(const Request& request) {
  static Imported execute(MESSAGES, "ExecuteJob");
  static Imported reject(MESSAGES, "RejectJob");
  static Imported call(MESSAGES, "CallMeLater");
  static Imported kill(MESSAGES, "KillJob");
  static Imported register_profile(MESSAGES, "RegisterProfile");
  static Imported register_job(MESSAGES, "RegisterJob");
  static Imported metadata(MESSAGES, "SetJobMetadata");
  switch (request.kind) {
    case Request::Kind::EXECUTE_JOB:
      return execute(request.time_s, request.job_id, tuple_of(*request.alloc), nb::none(),
                     storage_object(request.storage),
                     request.extra ? object_of(request.extra->payload) : nb::none());
    case Request::Kind::REJECT_JOB:
      return reject(request.time_s, request.job_id);
    case Request::Kind::CALL_ME_LATER:
      return call(request.time_s, request.at_s);
    case Request::Kind::KILL_JOB:
      return kill(
          request.time_s,
          nb::tuple(listed(request.job_ids, [](const std::string& id) { return nb::cast(id); })));
    case Request::Kind::REGISTER_PROFILE:
      if (request.profile == nullptr) return object_of(request.payload);  // made by Python
      return register_profile(request.time_s, request.job_id, request.name,
                              dict_of(static_cast<const Description&>(*request.profile->source)));
    case Request::Kind::REGISTER_JOB:
      if (request.job == nullptr) return object_of(request.payload);
      return register_job(request.time_s, request.job_id, registered(*request.job));
    case Request::Kind::SET_METADATA:
      return metadata(request.time_s, request.job_id, request.name);
    case Request::Kind::OTHER:
      break;
  }
  return object_of(request.payload);
}

nb::object step_object(const Step& step, nb::handle machine) {
  static Imported type(EXECUTION, "Step");
  static Imported nothing(EXECUTION, "NOTHING");
  static Imported ended(EXECUTION, "Ended");
  static Imported released(EXECUTION, "Released");
  static Imported expected(EXECUTION, "Expected");
  static Imported staged(EXECUTION, "Staged");
  if (step.requests.empty() && step.ended.empty() && step.released.empty() &&
      step.expected.empty() && step.staged.empty()) {
    return nb::borrow(*nothing);
  }
  return type(listed(step.requests, [](const Request& one) { return request_object(one); }),
              listed(step.ended,
                     [&](const Ended& one) {
                       return ended(one.job_id, state_object(one.state), one.return_code,
                                    reason_text(one.reason, machine), object_of(one.left),
                                    one.kept_s);
                     }),
              listed(step.released,
                     [&](const Released& one) {
                       return released(one.job_id,
                                       one.nodes ? nb::object(tuple_of(*one.nodes)) : nb::none(),
                                       resource_of(one.covering));
                     }),
              listed(step.expected,
                     [&](const Expected& one) {
                       return expected(one.job_id, one.until_s, resource_of(one.covering));
                     }),
              listed(step.staged, [&](const Staged& one) {
                return staged(one.job_id, reason_text(one.reason, machine));
              }));
}

}  // namespace spillway::bindings
