#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/profile.hpp"

namespace spillway {

/// Numbers of machines, shared by all that name the same ones.
using Ids = std::shared_ptr<const std::vector<std::int32_t>>;

/// State of a job in Batsim's vocabulary.
enum class JobState : std::uint8_t {
  NOT_SUBMITTED,
  SUBMITTED,
  RUNNING,
  COMPLETED_SUCCESSFULLY,
  COMPLETED_FAILED,
  COMPLETED_WALLTIME_REACHED,
  COMPLETED_KILLED,
  REJECTED
};

constexpr double NO_WALLTIME = -1.0;

/// Where jobs come from: the workload of a file, one that the scheduler registers by messages, or
/// (`local`) sub-jobs of a scheduler in this process, which are forgotten when they have ended.
struct Origin {
  enum class Kind : std::uint8_t { FILE, REGISTERED, LOCAL };
  std::string name;
  Kind kind = Kind::FILE;
};

/// What a job requests, as it was registered or stands in its file.
struct JobFacts {
  JobFacts() = default;
  JobFacts(std::shared_ptr<const Origin> from, std::string own_name, ProfilePtr work, double at_s,
           std::int32_t machines, double limit_s)
      : origin(std::move(from)),
        name(std::move(own_name)),
        id(origin->name + "!" + name),
        profile(std::move(work)),
        subtime_s(at_s),
        walltime_s(limit_s),
        res(machines) {}

  std::shared_ptr<const Origin> origin;
  /// In its workload; `id` is `workload!name`.
  std::string name;
  std::string id;
  ProfilePtr profile;
  double subtime_s = 0.0;
  /// -1: no limit.
  double walltime_s = NO_WALLTIME;
  /// Number of resources.
  std::int32_t res = 0;
};

}  // namespace spillway
