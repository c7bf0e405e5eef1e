// Windows: the resources that are free over a run of segments, narrowed segment by segment.
#pragma once
#include <algorithm>
#include <cstdint>

#include "placement.hpp"
#include "steps.hpp"
#include "wide.hpp"

namespace spillway {

// Narrows windows for one request. Only the columns in use are set.
class Narrowing {
 public:
  Narrowing(const Steps& steps, const Machine& machine, const Wanted& request)
      : steps_(steps),
        machine_(machine),
        request_(request),
        demand_(request.demand),
        bytes_(demand_.requests * demand_.bb_bytes),
        units_(steps.units_of(bytes_)) {}

  // Set a window to the resources free both in a wider one and in the segments from begin to end
  // (not included, at least one). False when nodes, bytes or pools are too few (then the columns
  // may not all be set); otherwise holds() decides.
  bool by_segments(std::int64_t* to, const std::int64_t* wider, std::int64_t begin,
                   std::int64_t end) const {
    return narrow(to, wider, {steps_.row(begin), begin + 1, end});
  }

  // The same by one row.
  bool by_row(std::int64_t* to, const std::int64_t* wider, const std::int64_t* row) const {
    return narrow(to, wider, {row});
  }

  // One kind of resources by one row: NODES with POOLS, BURST_BUFFERS or BANDWIDTH.
  bool kind_by_row(std::int64_t* to, const std::int64_t* wider, const std::int64_t* row,
                   Kinds kind) const {
    const Rows rows{row};
    if (kind == NODES) {
      return nodes(to, wider, rows) && (!(demand_.uses & POOLS) || pools(to, wider, rows));
    }
    if (kind == BURST_BUFFERS) return storages(to, wider, rows);
    links(to, wider, rows);
    return true;
  }

  // Whether a segment may hold the job, by cheap tests; if one fails, no window with this segment
  // holds the job.
  bool may_hold(std::int64_t segment) const {
    const std::int64_t uses = demand_.uses;
    const Totals& totals = steps_.totals()[segment];
    if (uses & NODES && totals.nodes < demand_.nodes) return false;
    if (uses & BURST_BUFFERS) {
      if (totals.units < units_) return false;
      if (totals.units == units_ && steps_.row(segment)[FREE_BYTES] < bytes_) return false;
    }
    if (!(uses & (BANDWIDTH | POOLS))) return true;
    const std::int64_t* row = steps_.row(segment);
    if (uses & BANDWIDTH) {  // nodes that the first link, which has none above it, cannot carry
                             // must be outside of it
      const std::int64_t outside = machine_.facts().nodes - machine_.below[0];
      if (outside + row[machine_.first_link] / demand_.io_rate < demand_.nodes) return false;
    }
    return !(uses & POOLS) || pools_hold(row, request_, machine_);
  }

  // First segment from `first` on that may hold the job, or their number.
  std::int64_t next_that_may(std::int64_t first) const {
    while (first < steps_.size()) {
      first = next_with_enough(first);
      if (first < steps_.size() && may_hold(first)) break;
      first++;
    }
    return std::min(first, steps_.size());
  }

  // First segment from `first` on with enough nodes and bytes in total, or their number.
  std::int64_t next_with_enough(std::int64_t first) const {
    return steps_.next_with(first, demand_.uses & NODES ? demand_.nodes : 0, bytes_);
  }

 private:
  // A row, and those of the segments from `next` to `end` (not included).
  struct Rows {
    const std::int64_t* first;
    std::int64_t next = 0, end = 0;
  };

  bool narrow(std::int64_t* to, const std::int64_t* wider, const Rows& rows) const {
    const std::int64_t uses = demand_.uses;
    if (uses & NODES) {
      if (!nodes(to, wider, rows)) return false;
    } else {
      std::copy(wider + HEAD, wider + machine_.first_storage, to + HEAD);
      to[FREE_NODES] = wider[FREE_NODES];
    }
    if (uses & BURST_BUFFERS && !storages(to, wider, rows)) return false;
    if (uses & BANDWIDTH) links(to, wider, rows);
    return !(uses & POOLS) || pools(to, wider, rows);
  }

  bool nodes(std::int64_t* to, const std::int64_t* wider, const Rows& rows) const {
    std::uint64_t* into = words_of(to + HEAD);
    const std::int64_t count = machine_.words;
    const auto take = [&](const std::int64_t* from, const std::int64_t* row) {
      for (std::int64_t word = 0; word < count; word++)
        into[word] = words_of(from + HEAD)[word] & words_of(row + HEAD)[word];
    };
    take(wider, rows.first);
    for (std::int64_t next = rows.next; next < rows.end; next++) take(to, steps_.row(next));
    std::int64_t free = 0;
    for (std::int64_t word = 0; word < count; word++) free += popcount(into[word]);
    to[FREE_NODES] = free;
    return free >= demand_.nodes;
  }

  bool storages(std::int64_t* to, const std::int64_t* wider, const Rows& rows) const {
    columns(to, wider, rows, machine_.first_storage, machine_.first_link);
    std::int64_t total = 0;
    for (std::int64_t column = machine_.first_storage; column < machine_.first_link; column++)
      total += to[column];
    to[FREE_BYTES] = total;
    return total >= bytes_;
  }

  void links(std::int64_t* to, const std::int64_t* wider, const Rows& rows) const {
    columns(to, wider, rows, machine_.first_link, machine_.first_pool);
  }

  bool pools(std::int64_t* to, const std::int64_t* wider, const Rows& rows) const {
    columns(to, wider, rows, machine_.first_pool, machine_.width);
    return pools_hold(to, request_, machine_);
  }

  void columns(std::int64_t* to, const std::int64_t* wider, const Rows& rows, std::int64_t first,
               std::int64_t last) const {
    to += first;
    take_least(to, wider + first, rows.first + first, last - first);
    for (std::int64_t next = rows.next; next < rows.end; next++)
      take_least(to, to, steps_.row(next) + first, last - first);
  }

  const Steps& steps_;
  const Machine& machine_;
  const Wanted& request_;
  const JobDemand& demand_;
  const std::int64_t bytes_;  // in total
  const std::int32_t units_;
};

// Note for each storage node the first segment up to `last` from which on its free bytes are those
// of `last`.
inline void note_since(const Steps& steps, std::int64_t last, const Machine& machine,
                       Scratch& scratch) {
  for (std::int64_t column = machine.first_storage; column < machine.first_link; column++) {
    std::int64_t segment = last;
    while (segment > 0 && steps.row(segment - 1)[column] == steps.row(last)[column]) segment--;
    scratch.since[column] = segment;
  }
}

// Segment in which a job ends, for the one order of storage nodes that reads it; otherwise any.
inline std::int64_t segment_after(const Steps& steps, const Machine& machine,
                                  const JobDemand& demand, double end_s, std::int64_t otherwise,
                                  Scratch& scratch) {
  if (machine.facts().storage_order != StorageOrder::FULLEST_AT_END || !demand.bb_bytes)
    return otherwise;
  const std::int64_t after = steps.segment_at(end_s);
  note_since(steps, after, machine, scratch);
  return after;
}

}  // namespace spillway
