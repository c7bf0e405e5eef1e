// A job as schedulers see it, and the resources that it holds.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/payload.hpp"
#include "model/resource.hpp"

namespace spillway {

// Starts and ends of a job's holdings, relative to the interval of its nodes (s). A job's start in
// a timeline is the start of its burst buffer; its nodes follow storage_lead_s later.
struct Lives {
  double storage_lead_s =
      0.0;  // burst buffers are held this long before the nodes, finite, at least 0
  double storage_tail_s =
      0.0;  // and this long after them, finite; below 0: given back before the nodes
  double bandwidth_tail_s = 0.0;  // the same for bandwidth, which begins with the nodes

  bool operator==(const Lives& other) const {
    return storage_lead_s == other.storage_lead_s && storage_tail_s == other.storage_tail_s &&
           bandwidth_tail_s == other.bandwidth_tail_s;
  }
};

// One submitted job; never changed. Compared by identity, ordered by its number.
struct Job {
  std::string id;           // full id on the wire (w0!12)
  std::int64_t number = 0;  // rank of submission in this conversation: the tie breaker everywhere
  double submit_time_s = 0.0;  // waits count from there
  double walltime_s = NEVER;   // requested time; infinite if the job states no walltime
  double grace_s = 0.0;        // time beyond it for which its site lets it run; plans ignore it
  double over_s =
      0.0;  // time beyond it at which it is expected to end once it is overdue; 0: at once
  std::int64_t nodes =
      0;  // whole nodes requested; 0: it only creates or destroys persistent buffers
  std::int64_t bb_bytes = 0;  // burst-buffer bytes per request
  std::int64_t io_rate = 0;   // average I/O rate per node (bytes/s)
  std::int64_t stripes = 0;   // 0: a request for each node; above: requests of the job as a whole
  std::optional<Lives> lives;
  std::vector<std::int32_t>
      partitions;  // partitions of which it may use the nodes of one; empty: any nodes
  // Amounts of the counted pools, 0 beyond the last; below 0: it is charged this amount, and starts
  // whatever is left.
  std::vector<std::int64_t> pools;
  double held_s = 0.0;            // time from its submission to submit_time_s (s)
  bool default_walltime = false;  // its walltime is the default of its partition
  std::string profile_name;
  PayloadPtr profile, extras,
      left;                        // kind of work; further fields; state kept from its last attempt
  std::string user, account, qos;  // from its fields, "" without
  std::int64_t gpus = 0;           // GPUs on each of its nodes

  // Number of requests for burst buffer of bb_bytes each: one per node, or per stripe.
  std::int64_t requests() const { return stripes ? stripes : nodes; }
};

using JobPtr = std::shared_ptr<Job>;

// Resources that a job holds; never changed.
struct Allocation {
  std::vector<std::int32_t> nodes;  // indices, ascending
  std::vector<std::int32_t>
      storages;  // storage node of each node's request, or of each stripe; may be empty
  std::int64_t bb_bytes = 0;  // bytes per request
  std::int64_t io_rate = 0;   // bytes/s per node, booked on every link above it
  std::optional<Lives> lives;
  bool striped = false;             // the buffer belongs to the job as a whole
  std::vector<std::int64_t> pools;  // amounts held of the counted pools

  bool operator==(const Allocation& other) const {
    return nodes == other.nodes && storages == other.storages && bb_bytes == other.bb_bytes &&
           io_rate == other.io_rate && lives == other.lives && striped == other.striped &&
           pools == other.pools;
  }
};

using AllocationPtr = std::shared_ptr<Allocation>;

}  // namespace spillway
