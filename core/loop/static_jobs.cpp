#include "loop/static_jobs.hpp"

#include <algorithm>
#include <utility>

namespace spillway::batsim {

void StaticJobs::append(const Job& job) {
  rows_.push_back(
      {job.origin, job.name, job.profile, job.source, job.subtime_s, job.walltime_s, job.res});
}

JobPtr StaticJobs::made(const Row& row) const {
  const auto named = named_.find(row.name);
  if (named != named_.end()) return named->second;
  auto job = std::make_shared<Job>(row.origin, row.name, row.profile, row.subtime_s, row.res,
                                   row.walltime_s);
  job->source = row.source;
  return job;
}

JobPtr StaticJobs::at(std::size_t place) const { return made(rows_[begin_ + place]); }

void StaticJobs::sort() {
  places_.clear();
  std::stable_sort(rows_.begin() + static_cast<std::ptrdiff_t>(begin_), rows_.end(),
                   [this](const Row& one, const Row& other) {
                     return one.subtime_s != other.subtime_s ? one.subtime_s < other.subtime_s
                                                             : !in_order_ && one.name < other.name;
                   });
}

JobPtr StaticJobs::pop_first() {
  Row& row = rows_[begin_++];
  JobPtr job = made(row);
  named_.erase(row.name);
  places_.erase(row.name);
  row = Row{};
  return job;
}

JobPtr StaticJobs::find(const std::string& name) {
  if (places_.empty()) {
    for (std::size_t at = begin_; at < rows_.size(); ++at) places_.emplace(rows_[at].name, at);
  }
  const auto place = places_.find(name);
  if (place == places_.end()) return nullptr;
  return named_[name] = made(rows_[place->second]);
}

std::vector<ProfilePtr> StaticJobs::profiles() const {
  std::vector<ProfilePtr> found;
  for (std::size_t at = begin_; at < rows_.size(); ++at) found.push_back(rows_[at].profile);
  return found;
}

}  // namespace spillway::batsim
