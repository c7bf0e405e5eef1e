// Batsim's own rules and records: requests that would make a simulator abort are refused before
// they are sent, and events about jobs that it cannot mean are illegal.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "book/allocations.hpp"
#include "model/messages.hpp"
#include "session/faults.hpp"
#include "session/sub_jobs.hpp"

namespace spillway {

// Mirror of Batsim's records of jobs and hosts.
class Wire {
 public:
  // dynamic: whether jobs may be registered.
  explicit Wire(bool dynamic = false) : dynamic_(dynamic), open_(dynamic) {}

  // Record a job in Batsim's queue.
  void submitted(const std::string& job_id) { jobs_[job_id] = State::SUBMITTED; }

  // Batsim has the requests of the last message: jobs that they start can end from now on.
  void sent() { ++message_; }

  // Remove a job that Batsim has reported as ended; false: it did not run.
  bool completed(const std::string& job_id) {
    const auto found = jobs_.find(job_id);
    if (found == jobs_.end() || found->second != State::RUNNING) return false;
    if (!unsent_.empty()) {
      if (unsent_message_ == message_ && unsent_.count(job_id)) return false;
    }
    jobs_.erase(found);
    return true;
  }

  // Whether Batsim runs a job, as far as it has reported.
  bool running(const std::string& job_id) const {
    const auto found = jobs_.find(job_id);
    return found != jobs_.end() && found->second == State::RUNNING;
  }

  // Record a kill confirmed by Batsim; false: it was not requested, or confirmed before.
  bool killed(const std::string& job_id) { return dying_.erase(job_id) > 0; }

  // Hosts that are unavailable in Batsim, ascending: an execution there makes it abort.
  const Nodes& closed() const { return closed_; }

  // Record hosts as unavailable, or available again; return those that have changed, ascending.
  Nodes close(const Nodes& hosts) {
    Nodes fresh;
    for (const std::int32_t host : hosts)
      if (!has(closed_, host)) {
        closed_.insert(std::upper_bound(closed_.begin(), closed_.end(), host), host);
        fresh.push_back(host);
      }
    return ascending(std::move(fresh));
  }
  Nodes open(const Nodes& hosts) {
    Nodes back, left;
    const Nodes sorted = ascending(hosts);
    for (const std::int32_t host : closed_) (has(sorted, host) ? back : left).push_back(host);
    closed_.swap(left);
    return back;
  }

  // Whether dynamic jobs are enabled and their registration has not been finished, or has been.
  bool registration_open() const { return open_; }
  bool registration_finished() const { return dynamic_ && !open_; }
  void registration(bool finished) { open_ = !finished; }

  // Check a request; it counts as carried out.
  void check(const Request& request) {
    switch (request.kind) {
      case Request::Kind::EXECUTE_JOB:
        execute(request);
        break;
      case Request::Kind::REJECT_JOB:
        reject(request);
        break;
      case Request::Kind::KILL_JOB:
        kill(request);
        break;
      case Request::Kind::REGISTER_PROFILE:
        need_registration(request, "REGISTER_PROFILE", request.name);
        break;
      case Request::Kind::REGISTER_JOB: {
        const std::string& job_id = request.job ? request.job->id : request.job_id;
        need_registration(request, "REGISTER_JOB", job_id);
        jobs_[job_id] = State::SUBMITTED;
        break;
      }
      case Request::Kind::SET_METADATA:
        metadata(request);
        break;
      default:
        break;
    }
  }

 private:
  enum class State : std::uint8_t { SUBMITTED, RUNNING };

  [[noreturn]] static void refuse(Refused why, const std::string& job_id, std::int64_t a = 0,
                                  std::string text = "") {
    Refusing refused(why, job_id, a);
    refused.text = std::move(text);
    throw refused;
  }

  void execute(const Request& request) {
    const auto found = jobs_.find(request.job_id);
    if (found == jobs_.end() || found->second != State::SUBMITTED)
      refuse(Refused::NOT_SUBMITTED, request.job_id);
    if (!closed_.empty() && request.alloc) {
      std::int32_t least = std::numeric_limits<std::int32_t>::max();
      for (const std::int32_t host : *request.alloc)
        if (has(closed_, host)) least = std::min(least, host);
      if (least < std::numeric_limits<std::int32_t>::max())
        refuse(Refused::HOST_CLOSED, request.job_id, least);
    }
    found->second = State::RUNNING;
    if (unsent_message_ != message_) unsent_.clear();
    unsent_message_ = message_;
    unsent_.insert(request.job_id);
  }

  void reject(const Request& request) {
    const auto found = jobs_.find(request.job_id);
    if (found == jobs_.end() || found->second != State::SUBMITTED)
      refuse(Refused::NOT_REJECTABLE, request.job_id);
    jobs_.erase(found);
  }

  void kill(const Request& request) {
    for (const std::string& job_id : request.job_ids) {
      const auto found = jobs_.find(job_id);
      if (found == jobs_.end() || found->second != State::RUNNING)
        refuse(Refused::NOT_KILLABLE, job_id);
      dying_.insert(job_id);
    }
  }

  void metadata(const Request& request) const {
    if (jobs_.find(request.job_id) == jobs_.end())
      refuse(Refused::METADATA_OF_NONE, request.job_id);
    if (request.name.find('"') != std::string::npos)
      refuse(Refused::METADATA_QUOTE, request.job_id, 0, request.name);
  }

  void need_registration(const Request&, const char* what, const std::string& name) const {
    if (!open_) refuse(Refused::NO_DYNAMIC_JOBS, name, dynamic_, what);
  }

  bool dynamic_, open_;
  std::unordered_map<std::string, State> jobs_;
  std::unordered_set<std::string> unsent_, dying_;
  std::int64_t message_ = 0, unsent_message_ = -1;
  Nodes closed_;
};

}  // namespace spillway
