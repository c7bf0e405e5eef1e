// Resource usage by user, and the jobs that have ended: recorded as events occur, summed when a
// policy reads it.
#pragma once
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "book/holdings.hpp"

namespace spillway {

// Resources held, times durations: nodes and bytes of burst buffer times seconds.
struct Usage {
  double node_s = 0.0, byte_s = 0.0;
};

// Usage until since_s of a job with a changed allocation; also the total of a user's past jobs.
struct Meter {
  double node_s = 0.0, byte_s = 0.0, since_s = 0.0;

  // Add the usage of an allocation held from since_s until now.
  void add(const Allocation& held, double now_s) {
    const double seconds = now_s - since_s;
    since_s = now_s;
    node_s += double(held.nodes.size()) * seconds;
    byte_s += double(std::int64_t(held.storages.size()) * held.bb_bytes) * seconds;
  }
};

// A started job that has ended; each attempt of a job restarted after an outage is one.
struct FinishedJob {
  std::string id, user, account, qos;
  double submit_time_s, start_s, end_s, walltime_s;
  std::int64_t nodes;
  std::uint8_t state;  // place in the table of states
  Usage usage;
};

// Jobs that have ended, in order of their ends. Only grows; views hold it while they are read.
struct FinishedLog {
  std::vector<FinishedJob> jobs;
};

// The accounts of one conversation.
class Accounts {
 public:
  std::size_t most = 100'000;  // least number of finished jobs to keep

  // Record the start of a job that has held a burst buffer before.
  void staged(const std::string& job_id, const Holding& holding, double now_s) {
    Meter meter{0.0, 0.0, holding.start_s};
    meter.add(*holding.allocation, now_s);
    meters_[job_id] = meter;
  }

  // Count the usage of a running job before its allocation changes.
  void changes(const Running& running, double now_s) {
    const auto found = meters_.try_emplace(running.job->id, Meter{0.0, 0.0, running.start_s}).first;
    found->second.add(*running.allocation, now_s);
  }

  // Count the burst buffer that a waiting job has lost.
  void evicted(const Job& job, const Holding& holding, double now_s) {
    Meter meter{0.0, 0.0, holding.start_s};
    meter.add(*holding.allocation, now_s);
    count(job.user, {meter.node_s, meter.byte_s});
  }

  // Record a job that has ended; running is its last allocation.
  void ended(const Running& running, std::uint8_t state, double now_s) {
    const Job& job = *running.job;
    const Usage usage = used(running, now_s);
    meters_.erase(job.id);
    count(job.user, usage);
    if (log_->jobs.size() >= 2 * most) {  // earlier views keep their jobs
      auto last = std::make_shared<FinishedLog>();
      last->jobs.assign(log_->jobs.end() - std::ptrdiff_t(most), log_->jobs.end());
      log_ = std::move(last);
    }
    log_->jobs.push_back({job.id, job.user, job.account, job.qos, job.submit_time_s,
                          running.start_s, now_s, job.walltime_s, job.nodes, state, usage});
    ++total_;
  }

  // Usage of a running job until now.
  Usage used(const Running& running, double now_s) const {
    const Allocation& held = *running.allocation;
    const auto known = meters_.find(running.job->id);
    Meter meter = known == meters_.end() ? Meter{0.0, 0.0, running.start_s} : known->second;
    if (known == meters_.end()) {
      const double seconds = now_s - running.start_s;
      return {double(held.nodes.size()) * seconds,
              double(std::int64_t(held.storages.size()) * held.bb_bytes) * seconds};
    }
    meter.add(held, now_s);
    return {meter.node_s, meter.byte_s};
  }

  const std::shared_ptr<FinishedLog>& log() const { return log_; }
  std::size_t first() const { return log_->jobs.size() > most ? log_->jobs.size() - most : 0; }
  std::int64_t total() const { return total_; }
  // Usage of the past jobs of each user, in order of the users' first ends.
  const std::vector<std::pair<std::string, Usage>>& users() const { return users_; }

 private:
  void count(const std::string& user, const Usage& usage) {
    const auto [found, fresh] = places_.try_emplace(user, users_.size());
    if (fresh) users_.emplace_back(user, Usage{});
    users_[found->second].second.node_s += usage.node_s;
    users_[found->second].second.byte_s += usage.byte_s;
  }

  std::shared_ptr<FinishedLog> log_ = std::make_shared<FinishedLog>();
  std::int64_t total_ = 0;
  std::vector<std::pair<std::string, Usage>> users_;
  std::unordered_map<std::string, std::size_t> places_;
  std::unordered_map<std::string, Meter> meters_;
};

}  // namespace spillway
