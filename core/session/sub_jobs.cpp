#include "session/sub_jobs.hpp"

#include <algorithm>
#include <utility>

namespace spillway {

namespace {

std::shared_ptr<const Origin> own_workload(const std::string& job_id) {
  auto origin = std::make_shared<Origin>();
  origin->name = job_id;
  std::replace(origin->name.begin(), origin->name.end(), '!', OWN_MARK);
  origin->kind = Origin::Kind::LOCAL;
  return origin;
}

}  // namespace

SubJobs::SubJobs(const std::string& job_id, bool reuse)
    : origin_(own_workload(job_id)), reuse_(reuse) {
  prefix_ = origin_->name + "!";
}

std::int64_t SubJobs::run(const Lowered& lowered, double walltime_s, double now_s,
                          std::vector<Request>& requests) {
  const std::int64_t first = count_;
  count_ += static_cast<std::int64_t>(lowered.tasks.size());
  bool known = false;
  const ProfilePtr profile = named(lowered.profile, known);
  const double limit_s = walltime_s < NEVER ? walltime_s : NO_WALLTIME;
  requests.reserve(requests.size() + 2 * lowered.tasks.size() + 1);
  if (!known) {
    Request& request = requests.emplace_back();
    request.kind = Request::Kind::REGISTER_PROFILE;
    request.time_s = now_s;
    request.job_id = origin_->name;
    request.name = profile->name;
    request.profile = profile;
  }
  std::int64_t number = first;
  for (const SubTask& task : lowered.tasks) {
    Request& request = requests.emplace_back();
    request.kind = Request::Kind::REGISTER_JOB;
    request.time_s = now_s;
    auto job = std::make_shared<JobFacts>(origin_, std::to_string(number), profile, now_s,
                                          static_cast<std::int32_t>(task.hosts->size()), limit_s);
    request.job_id = job->id;
    request.job = std::move(job);
    ++number;
  }
  number = first;
  for (const SubTask& task : lowered.tasks) {
    Request& request = requests.emplace_back();
    request.kind = Request::Kind::EXECUTE_JOB;
    request.time_s = now_s;
    request.job_id = id(number);
    request.alloc = task.hosts;
    request.storage = task.storage;
    ++number;
  }
  return first;
}

ProfilePtr SubJobs::named(const DescriptionPtr& description, bool& known) {
  Known& place =
      description->key.empty() ? by_identity_[description->identity] : by_key_[description->key];
  known = place.profile != nullptr && reuse_;
  if (known) return place.profile;
  auto profile = std::make_shared<Profile>();
  profile->kind = description->kind;
  profile->name = description->kind + "_profile_" + std::to_string(kinds_[description->kind]++);
  profile->work = description->work();
  profile->source = description;
  place = {profile, description};
  return profile;
}

}  // namespace spillway
