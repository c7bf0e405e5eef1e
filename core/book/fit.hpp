// Searches in a step function: the earliest window of a job, with one interval or with lives of its
// holdings, and the first of many jobs that fits now.
#pragma once
#include <cstdint>

#include "placement.hpp"
#include "steps.hpp"

namespace spillway {

// A job's interval, and its lives: seconds on the nodes; seconds for which burst buffers are held
// before them; tails of burst buffer and bandwidth after them.
struct Span {
  double duration_s = 0.0, lead_s = 0.0, tail_s = 0.0, links_tail_s = 0.0;
};

// Earliest start of a demand, among not_before_s and the later breakpoints up to latest_s; NEVER
// without one. At a start, the nodes qualify that are free over the whole of [start, start +
// duration), and the bytes of a storage node and the bandwidth of a link are their minima over it.
// The choice is in the scratch memory of this thread.
double find_fit(const Steps& steps, const Machine& machine, const JobDemand& demand,
                double duration_s, double not_before_s, double latest_s);

// The same for holdings with lives of their own: candidates are not_before_s and the later starts
// up to latest_s at which some part begins at a breakpoint. The start is that of the burst buffer.
double find_apart(const Steps& steps, const Machine& machine, const JobDemand& demand,
                  const Span& span, double not_before_s, double latest_s);

// Book the choice of find_apart, each part over its own interval.
void book_apart(Steps& steps, const Machine& machine, const Span& span, double start_s,
                Scratch& scratch);

// First of many jobs that fits at the begin of the step function, or -1; not for machines with
// racks, where windows share nothing. Its choice is in the scratch memory.
std::int64_t first_that_fits(const Steps& steps, const Machine& machine, const JobDemand* demands,
                             const double* durations_s, std::int64_t count);

// Earliest start with a lead that does not end before a time, rounding considered.
double start_before(double begin_s, double lead_s);

}  // namespace spillway
