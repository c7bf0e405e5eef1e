// Search for the first of many jobs that fits now: windows begin at the first segment and share
// minima.
#include <algorithm>

#include "book/fit.hpp"
#include "book/window.hpp"

namespace spillway {
namespace {

// Set a window to the resources free in a wider one and in a row, in all columns.
void narrow_all(std::int64_t* to, const std::int64_t* wider, const std::int64_t* row,
                const Machine& machine) {
  std::int64_t nodes = 0, bytes = 0;
  for (std::int64_t word = 0; word < machine.words; word++) {
    const std::uint64_t both = words_of(wider + HEAD)[word] & words_of(row + HEAD)[word];
    words_of(to + HEAD)[word] = both;
    nodes += popcount(both);
  }
  for (std::int64_t column = machine.first_storage; column < machine.width; column++) {
    to[column] = std::min(wider[column], row[column]);
  }
  for (std::int64_t column = machine.first_storage; column < machine.first_link; column++)
    bytes += to[column];
  to[FREE_NODES] = nodes;
  to[FREE_BYTES] = bytes;
}

// First of a job's sets of nodes on which a window holds it, or -1; scratch.window is the window
// there.
std::int64_t set_that_holds(const std::int64_t* window, const JobDemand& demand,
                            const Machine& machine, Scratch& scratch) {
  Wanted request{demand, &machine.set(demand.first_set)};
  if (demand.first_set == 0) {
    if (!holds(window, request, machine, scratch)) return -1;
    std::copy(window, window + machine.width, scratch.window);
    return 0;
  }
  std::copy(window, window + machine.width, scratch.window);
  const std::int64_t last = demand.first_set + request.set->following;
  for (std::int64_t number = demand.first_set; number <= last; number++) {
    request.set = &machine.set(number);
    if (demand.uses & POOLS && !pools_hold(window, request, machine)) continue;
    std::int64_t free = 0;
    for (std::int64_t word = 0; word < machine.words; word++) {
      const std::uint64_t both =
          words_of(window + HEAD)[word] & request.set->words[static_cast<std::size_t>(word)];
      words_of(scratch.window + HEAD)[word] = both;
      free += popcount(both);
    }
    scratch.window[FREE_NODES] = free;
    if (free >= demand.nodes && holds(scratch.window, request, machine, scratch)) return number;
  }
  return -1;
}

}  // namespace

std::int64_t first_that_fits(const Steps& steps, const Machine& machine, const JobDemand* demands,
                             const double* durations_s, std::int64_t count) {
  Scratch& scratch = Scratch::of(machine, steps.size());
  scratch.begin(machine, machine.set(0));
  const double now_s = steps.time(0);
  const std::int64_t free = steps.row(0)[FREE_NODES];
  std::int64_t known =
      0;  // back(k), for k below, has what is free from the begin up to and including segment k
  for (std::int64_t job = 0; job < count; job++) {
    const JobDemand& demand = demands[job];
    if (free < demand.nodes) continue;
    const double end_s = now_s + durations_s[job];
    std::int64_t last = steps.segment_at(end_s);
    if (last > 0 && steps.time(last) >= end_s) last--;
    for (; known <= last; known++) {
      const std::int64_t* wider = known ? scratch.back(known - 1) : scratch.full;
      narrow_all(scratch.back(known), wider, steps.row(known), machine);
    }
    const std::int64_t* window = scratch.back(last);
    if (window[FREE_NODES] < demand.nodes) continue;
    if (demand.uses & BURST_BUFFERS && window[FREE_BYTES] < demand.requests * demand.bb_bytes)
      continue;
    const std::int64_t number = set_that_holds(window, demand, machine, scratch);
    if (number < 0) continue;
    const std::int64_t after = segment_after(steps, machine, demand, end_s, 0, scratch);
    choose(scratch.window, steps.row(after), {demand, &machine.set(number)}, machine, scratch);
    return job;
  }
  return -1;
}

}  // namespace spillway
