// Holdings with lives of their own in a timeline: the interval of each.
#pragma once
#include <optional>
#include <vector>

#include "model/job.hpp"
#include "model/resource.hpp"

namespace spillway {

// Kinds of resources that are held over the same interval [start_s, end_s).
struct LifePart {
  Kinds covering = 0;
  double start_s = 0.0, end_s = 0.0;
};

// Intervals of a job's holdings, kinds with the same one together; that of the nodes comes first.
// start_s is the start of the job, which is that of its burst buffer, and end_s this time plus the
// seconds for which it has its nodes. No part ends before its own start.
std::vector<LifePart> parts(const std::optional<Lives>& lives, double start_s, double end_s,
                            Kinds covering);

}  // namespace spillway
