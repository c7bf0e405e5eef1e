// Holdings of jobs, part by part: kinds of resources over an interval.
#pragma once
#include <memory>
#include <vector>

#include "book/allocations.hpp"
#include "model/job.hpp"
#include "model/resource.hpp"

namespace spillway {

// Expected remaining time of a job that has outlived its estimate (s). Batsim reports a walltime
// kill one network latency after the walltime; until then the nodes are not free.
constexpr double OVERDUE_S = 1e-3;

// Resources that a job holds, or held, over the same interval.
struct Holding {
  Kinds kinds = ALL_KINDS;   // kinds of these resources
  AllocationPtr allocation;  // in which the covered kinds count; the nodes of a buffer are those it
                             // was granted for
  double start_s = 0.0;      // begin of the interval (s)
  double end_s = NEVER;      // its expected or actual end (s)
};

using HoldingPtr = std::shared_ptr<Holding>;
using Holdings = std::vector<HoldingPtr>;

// A running job, with its start, its allocation and its latest end; never changed once it is seen.
struct Running {
  JobPtr job;
  double start_s = 0.0,
         end_s = NEVER;  // start on its nodes, latest expected end of its hold on them (s)
  AllocationPtr
      allocation;  // present; storages need not correspond to nodes one by one where released apart
  Holdings apart;  // its holdings, if not all are held from start_s to end_s
  Holdings past;   // holdings released before its end
};

using RunningPtr = std::shared_ptr<Running>;

// Kinds of resources that a job holds over one interval, as the book keeps them.
struct Booking {
  JobPtr job;
  Kinds kinds = ALL_KINDS;
  AllocationPtr allocation;
  double start_s = 0.0, end_s = NEVER;
  double tail_s = 0.0;             // from the expected end of the nodes to that of this part
  double extension_s = OVERDUE_S;  // extension of its booking whenever the job outlives it
  bool extra = false;  // nodes by which the job was expanded, or which it will leave before its end

  HoldingPtr holding() const {
    return std::make_shared<Holding>(Holding{kinds, allocation, start_s, end_s});
  }
};

using BookingPtr = std::shared_ptr<Booking>;

// Resources of a job, kind by kind: one and the same allocation while no kind was given back
// without the others. Each counts for its own kind only; the nodes of storage and links are those
// for which these were granted.
struct Held {
  AllocationPtr nodes, storage, links;

  // All kinds together; where they differ, the storages need not correspond to the nodes one by
  // one.
  AllocationPtr as_one() const {
    if (nodes == storage && nodes == links) return nodes;
    Allocation whole;
    whole.nodes = nodes->nodes;
    whole.storages = storage->storages;
    whole.bb_bytes = storage->storages.empty() ? 0 : storage->bb_bytes;
    whole.io_rate = links->nodes.empty() ? 0 : links->io_rate;
    whole.striped = storage->striped;
    whole.pools = nodes->pools;
    return shared(std::move(whole));
  }
};

// Source of the expected durations of jobs.
struct Estimator {
  virtual ~Estimator() = default;
  // Expected duration of a job that has not started (s); at most its walltime.
  virtual double estimate_s(const JobPtr& job) = 0;
  // New expected duration of a running job that has outlived its estimate (s).
  virtual double correct_s(const JobPtr& job, double elapsed_s) = 0;
  // Take the runtime of an ended job into account.
  virtual void observe(const JobPtr& job, double runtime_s) = 0;
};

// Walltimes as expected durations.
struct Walltimes final : Estimator {
  double estimate_s(const JobPtr& job) override { return job->walltime_s; }
  double correct_s(const JobPtr&, double elapsed_s) override { return elapsed_s; }
  void observe(const JobPtr&, double) override {}
};

}  // namespace spillway
