#include "loop/registry.hpp"

#include <algorithm>
#include <utility>

#include "loop/fault.hpp"

namespace spillway::batsim {

void JobRegistry::enter(JobPtr job) {
  job->entry = entries_++;
  jobs_[job->id] = std::move(job);
}

void JobRegistry::forget(const Job& job) {
  if (job.origin->kind == Origin::Kind::REGISTERED) extension_.forget(job);
  jobs_.erase(job.id);
}

JobPtr JobRegistry::known(const std::string& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second;
}

JobPtr JobRegistry::find(const std::string& id) {
  std::string reason;
  JobPtr found = find(id, reason);
  if (found == nullptr) throw Fault(Rule::TEXT, {}, {reason});
  return found;
}

JobPtr JobRegistry::find(const std::string& id, std::string& reason) {
  JobPtr found = known(id);
  return found != nullptr ? found : extension_.find(id, reason);
}

std::vector<JobPtr> JobRegistry::waiting() const {
  std::vector<JobPtr> found;
  for (const auto& [id, job] : jobs_) {
    if (job->state == JobState::SUBMITTED && job->origin->kind == Origin::Kind::FILE)
      found.push_back(job);
  }
  std::sort(found.begin(), found.end(),
            [](const JobPtr& one, const JobPtr& other) { return one->entry < other->entry; });
  return found;
}

std::vector<std::string> JobRegistry::running_on(std::int32_t machine) const {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const auto& [id, job] : jobs_) {
    if (job->state != JobState::RUNNING || job->allocation == nullptr) continue;
    const auto& ids = *job->allocation->ids;
    if (std::binary_search(ids.begin(), ids.end(), machine)) found.emplace_back(job->entry, id);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& pair : found) names.push_back(std::move(pair.second));
  return names;
}

}  // namespace spillway::batsim
