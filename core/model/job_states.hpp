#pragma once

#include "model/job_facts.hpp"

namespace spillway {

/// The word of a state, as it stands in messages and tables.
constexpr const char* name_of(JobState state) {
  switch (state) {
    case JobState::NOT_SUBMITTED:
      return "NOT_SUBMITTED";
    case JobState::SUBMITTED:
      return "SUBMITTED";
    case JobState::RUNNING:
      return "RUNNING";
    case JobState::COMPLETED_SUCCESSFULLY:
      return "COMPLETED_SUCCESSFULLY";
    case JobState::COMPLETED_FAILED:
      return "COMPLETED_FAILED";
    case JobState::COMPLETED_WALLTIME_REACHED:
      return "COMPLETED_WALLTIME_REACHED";
    case JobState::COMPLETED_KILLED:
      return "COMPLETED_KILLED";
    case JobState::REJECTED:
      return "REJECTED";
  }
  return "";
}

}  // namespace spillway
