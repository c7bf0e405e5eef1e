#include "bindings/steps.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/operations.hpp"

namespace spillway::bindings {

namespace {

constexpr const char* MESSAGES = "spillway.protocol.messages";

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
      return kill(request.time_s, nb::tuple(nb::cast(request.job_ids)));
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

}  // namespace spillway::bindings
