// Resource usage by user, and the jobs that have ended: recorded as events occur, summed when a
// policy reads it.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
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

// Texts that many jobs share, each kept once.
class SharedTexts {
 public:
  std::uint32_t place_of(const std::string& text) {
    const auto [found, fresh] = places_.try_emplace(text, std::uint32_t(texts_.size()));
    if (fresh) texts_.push_back(text);
    return found->second;
  }
  const std::string& at(std::uint32_t place) const { return texts_[place]; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> places_;
};

// A started job that has ended; each attempt of a job restarted after an outage is one.
struct FinishedJob {
  std::string id;
  double submit_time_s, start_s, end_s, walltime_s;
  Usage usage;
  std::int64_t nodes;
  std::uint32_t user, account, qos;  // places of their texts
  std::uint8_t state;                // place in the table of states
};

// Jobs that have ended, in order of their ends. Views hold it while they are read, and while one
// does it only grows. A deque: the room of a vector that grows is twice as large.
struct FinishedLog {
  std::shared_ptr<SharedTexts> texts = std::make_shared<SharedTexts>();
  std::deque<FinishedJob> jobs;
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
    if (log_->jobs.size() >= most) drop_first();
    SharedTexts& texts = *log_->texts;
    log_->jobs.push_back({job.id, job.submit_time_s, running.start_s, now_s, job.walltime_s, usage,
                          job.nodes, texts.place_of(job.user), texts.place_of(job.account),
                          texts.place_of(job.qos), state});
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
  // Forget the jobs that policies do not see any more. A log that a view still reads stays as it
  // is; it is replaced once it is an eighth too long.
  void drop_first() {
    if (log_.use_count() == 1) {
      log_->jobs.pop_front();
    } else if (log_->jobs.size() > most + most / 8) {
      auto last = std::make_shared<FinishedLog>();
      last->texts = log_->texts;
      last->jobs.assign(log_->jobs.end() - std::ptrdiff_t(most), log_->jobs.end());
      log_ = std::move(last);
    }
  }

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
