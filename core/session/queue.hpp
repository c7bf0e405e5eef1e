// Waiting jobs in order of submission.
//
// A new job gets a place at the end. A job that others held, or that waits again, has that of its
// number from the next pass on. Jobs leave when the next pass begins, so that a pass sees the
// queue as it was at its beginning; places without jobs are removed when there are many.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/job.hpp"

namespace spillway {

// What two jobs have in common that request the same: where one does not fit, the other does not.
struct JobRequest {
  double walltime_s;
  std::array<std::int64_t, 4> amounts;  // nodes, burst buffer, stripes, I/O rate
  std::optional<Lives> lives;
  std::vector<std::int32_t> partitions;
  std::vector<std::int64_t> pools;

  explicit JobRequest(const Job& job)
      : walltime_s(job.walltime_s),
        amounts{job.nodes, job.bb_bytes, job.stripes, job.io_rate},
        lives(job.lives),
        partitions(job.partitions),
        pools(job.pools) {}
  bool operator==(const JobRequest& other) const {
    return walltime_s == other.walltime_s && amounts == other.amounts && lives == other.lives &&
           partitions == other.partitions && pools == other.pools;
  }
};

struct JobRequestHash {
  std::size_t operator()(const JobRequest& request) const {
    std::size_t found = std::hash<double>()(request.walltime_s);
    const auto mix = [&](auto value) {
      found = (found ^ std::hash<decltype(value)>()(value)) * 0x9E3779B97F4A7C15u;
      found ^= found >> 29;
    };
    for (const std::int64_t amount : request.amounts) mix(amount);
    for (const std::int32_t partition : request.partitions) mix(partition);
    for (const std::int64_t amount : request.pools) mix(amount);
    return found;
  }
};

// Jobs by place, null at places of jobs that no longer wait; shared by a queue and the passes that
// see it. Jobs of one request form a group, so that a pass tries one of them, however many wait.
struct Line {
  struct Group {
    std::vector<std::size_t> places;
    std::size_t first = 0;  // in `places`: all before it are empty
  };

  std::vector<JobPtr> jobs;
  std::vector<std::size_t> group_of;  // of each place
  std::vector<Group> groups;
  // Nodes that must be free for a job of each group to start now; where none waits, more than any
  // machine has.
  std::vector<std::int64_t> fewest;

  void add(JobPtr job) {
    const auto [found, fresh] = group_by_.try_emplace(JobRequest(*job), groups.size());
    const std::size_t number = found->second;
    if (fresh) {
      groups.emplace_back();
      fewest.emplace_back();
    }
    fewest[number] = job->lives ? 0 : job->nodes;
    groups[number].places.push_back(jobs.size());
    group_of.push_back(number);
    jobs.push_back(std::move(job));
  }
  void leave(std::size_t place) {
    jobs[place] = nullptr;
    Group& group = groups[group_of[place]];
    while (group.first < group.places.size() && !jobs[group.places[group.first]]) ++group.first;
    if (group.first == group.places.size())
      fewest[group_of[place]] = std::numeric_limits<std::int64_t>::max();
  }
  // First place of a group's job from `place` on; `end` where there is none before it.
  std::size_t next_of(std::size_t group, std::size_t place, std::size_t end) const {
    const std::vector<std::size_t>& places = groups[group].places;
    auto at = places.begin() + std::ptrdiff_t(groups[group].first);
    if (at != places.end() && *at < place) at = std::lower_bound(at, places.end(), place);
    while (at != places.end() && *at < end && !jobs[*at]) ++at;
    return at == places.end() ? end : std::min(*at, end);
  }

 private:
  std::unordered_map<JobRequest, std::size_t, JobRequestHash> group_by_;
};

// A part of a line as a pass sees it: the jobs at places [first, end), and their number.
struct Waiting {
  std::shared_ptr<Line> line;
  std::size_t first = 0, end = 0, count = 0;
};

class Queue {
 public:
  std::size_t size() const { return places_.size(); }
  bool has(const std::string& job_id) const { return places_.find(job_id) != places_.end(); }

  // A waiting job, or null.
  JobPtr find(const std::string& job_id) const {
    const auto found = places_.find(job_id);
    return found == places_.end() ? nullptr : line_->jobs[found->second];
  }

  // The waiting jobs, in order of submission.
  std::vector<JobPtr> jobs() {
    put_in_order();
    std::vector<JobPtr> found;
    found.reserve(size());
    for (const JobPtr& job : line_->jobs)
      if (job && has_place(job)) found.push_back(job);
    return found;
  }

  // Add a job behind all others, until the next pass. A pass that sees the line sees no more of it
  // than there was at its beginning.
  void add(const JobPtr& job) {
    if (job->number < last_) in_order_ = false;
    last_ = std::max(last_, job->number);
    places_[job->id] = line_->jobs.size();
    line_->add(job);
  }

  // Remove a job that no longer waits.
  void remove(const std::string& job_id) {
    const auto found = places_.find(job_id);
    gone_.push_back(found->second);
    places_.erase(found);
  }

  // The waiting jobs as of now, for one pass.
  Waiting shown() {
    put_in_order();
    let_go();
    return {line_, first_, line_->jobs.size(), size()};
  }

  // First fault of the queue against itself, in words; empty: none.
  std::string fault() {
    let_go();
    std::size_t there = 0;
    for (std::size_t place = 0; place < line_->jobs.size(); ++place) {
      const JobPtr& job = line_->jobs[place];
      if (!job) continue;
      ++there;
      const auto found = places_.find(job->id);
      if (found == places_.end() || found->second != place)
        return "job " + job->id + " is at another place";
      if (place < first_) return "job " + job->id + " waits before the first place";
    }
    return there == size() ? "" : "a job waits without a place";
  }

 private:
  static constexpr std::size_t MOST_GAPS = 64;  // places without a job that are always tolerated

  // Sort the jobs by number, where some came out of order.
  void put_in_order() {
    if (in_order_) return;
    in_order_ = true;
    std::vector<JobPtr> all = jobs();
    std::stable_sort(all.begin(), all.end(),
                     [](const JobPtr& a, const JobPtr& b) { return a->number < b->number; });
    lay_out(std::move(all));
  }

  bool has_place(const JobPtr& job) const {
    const auto found = places_.find(job->id);
    return found != places_.end() && line_->jobs[found->second] == job;
  }

  // Empty the places of jobs that no longer wait; a pass that still sees the line keeps it as it
  // was.
  void let_go() {
    if (gone_.empty()) return;
    if (line_.use_count() > 1) line_ = std::make_shared<Line>(*line_);
    for (const std::size_t place : gone_) line_->leave(place);
    gone_.clear();
    while (first_ < line_->jobs.size() && !line_->jobs[first_]) ++first_;
    if (line_->jobs.size() - size() > std::max(MOST_GAPS, size() / 4)) {
      std::vector<JobPtr> left;
      left.reserve(size());
      for (JobPtr& job : line_->jobs)
        if (job) left.push_back(std::move(job));
      lay_out(std::move(left));
    }
  }

  void lay_out(std::vector<JobPtr> jobs) {
    line_ = std::make_shared<Line>();
    for (JobPtr& job : jobs) line_->add(std::move(job));
    places_.clear();
    for (std::size_t place = 0; place < line_->jobs.size(); ++place)
      places_[line_->jobs[place]->id] = place;
    gone_.clear();
    first_ = 0;
  }

  std::shared_ptr<Line> line_ = std::make_shared<Line>();
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::size_t> gone_;
  std::size_t first_ = 0;
  std::int64_t last_ = -1;  // largest number that came
  bool in_order_ = true;
};

}  // namespace spillway
