// The timeline: free nodes (by identity), bytes per storage node, bandwidth per link and counted
// pools over time.
//
// References: Herbein et al., HPDC 2016, section 3.4, for the bandwidth levels
// (DOI 10.1145/2907294.2907316); Kopanski's thesis (Euro-Par version
// DOI 10.1007/978-3-030-85665-6_8) for burst buffers as whole requests on storage nodes.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "book/drains.hpp"
#include "book/fit.hpp"
#include "book/lives.hpp"
#include "book/machine.hpp"
#include "book/steps.hpp"

namespace spillway {

// Why a booking was refused. From NODE on it conflicts with earlier bookings.
enum class Fault : std::int32_t {
  NONE,
  INTERVAL,     // begins before now, or ends before it begins
  SIZES,        // below 0, or more than all storage
  BAD_NODE,     // unknown or repeated
  BAD_STORAGE,  // unknown
  BAD_COUNT,    // not one storage node per node
  NODE,
  STORAGE,
  LINK,
  POOL,
  DRAINED
};

// A fault with its numbers; words are made of it in Python.
struct Refusal {
  Fault fault = Fault::NONE;
  bool taking = true;                                    // reserve, else release
  double time_s = 0.0;                                   // of the conflict
  double until_s = NEVER;                                // first later start that may succeed
  std::int64_t index = 0, free = 0, most = 0, size = 0;  // of the node, storage node, link or pool
  double start_s = 0.0, end_s = 0.0;
  Allocation allocation;  // the part that was refused
};

// A state of a timeline, to return to any number of times.
struct Snapshot {
  Steps steps;
  std::map<std::int32_t, Drained> drained;
};

class Timeline {
 public:
  // Everything is free at first. holds_nodes_longer: the published scheduler's rule, by which
  // intervals of nodes end at the next floating-point number after the job's estimated end, and
  // intervals of burst buffers at that end itself.
  Timeline(MachinePtr machine, double now_s, bool holds_nodes_longer = false);
  Timeline(const Timeline& other);
  Timeline& operator=(const Timeline&) = delete;

  const MachinePtr& machine() const { return machine_; }
  bool holds_nodes_longer() const { return longer_; }

  double now_s() const { return steps_.time(0); }
  std::int64_t size() const { return steps_.size(); }
  double time_s(std::int64_t segment) const { return steps_.time(segment); }
  const std::int64_t* row(std::int64_t segment) const { return steps_.row(segment); }
  std::int64_t segment_at(double time_s) const { return steps_.segment_at(time_s); }
  const Steps& steps() const { return steps_; }
  const std::map<std::int32_t, Drained>& drained() const { return drained_; }

  double next_change_s() const { return steps_.end(0); }
  std::int64_t free_nodes_now() const { return row(0)[FREE_NODES]; }
  std::int64_t free_bytes_now(std::int64_t storage) const {
    return row(0)[machine_->first_storage + storage];
  }
  std::int64_t free_rate_now(std::int64_t link) const {
    return row(0)[machine_->first_link + link];
  }
  std::int64_t free_pool_now(std::int64_t pool) const {
    return row(0)[machine_->first_pool + pool];
  }
  // Resources that are free over the whole of [now, end_s); the totals are those of now.
  std::vector<std::int64_t> free_until(double end_s) const;

  // A search's answer is an allocation with the covered resources. Durations are at least 0, also
  // infinite; if one is too short to be added to a start, the start itself counts.
  bool fit_now(const Job& job, double duration_s, Kinds kinds, Allocation& found) const;
  double earliest_fit(const Job& job, double duration_s, double not_before_s, double latest_s,
                      Kinds kinds, Allocation& found) const;
  // A job's demand for first_fit_now and plans; one that nothing meets, if the empty machine cannot
  // hold it.
  JobDemand demand_of(const Job& job) const;
  // First of `count` jobs without lives that fits now, -1 without one. Jobs are asked for only as
  // far as needed.
  std::int64_t first_fit_now(const std::function<const Job&(std::int64_t)>& job_at,
                             const JobDemand* demands, const double* durations_s,
                             std::int64_t count, Allocation& found) const;

  // Book an allocation over [start_s, end_s); an empty interval books nothing. Where its parts have
  // lives of their own, it starts with the burst buffer, and the interval is as long as that of the
  // nodes. On a partly drained storage node the whole capacity can be booked. False: refused,
  // nothing is changed.
  bool reserve(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
               Refusal& why);
  // Give an allocation back, the reverse of reserve.
  bool release(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
               Refusal& why);
  // Book just this allocation at the earliest start at which all of it is free; the start, or NEVER
  // with a refusal, whose fault is NONE if there is no such start.
  double reserve_from(double not_before_s, double duration_s, const Allocation& allocation,
                      Refusal& why);
  // Drop the time before now_s; false when that is before the timeline's begin, or infinite.
  bool advance(double now_s);
  // Take nodes over [start_s, end_s), whatever is booked there, and free bytes of each storage node
  // and amounts of each pool up to the given ones. False: the interval is empty or begins before
  // now.
  bool take(double start_s, double end_s, const std::vector<std::int32_t>& nodes,
            const std::vector<std::int64_t>& bb_bytes, const std::vector<std::int64_t>& amounts);
  // Take nodes and storage nodes out of service, and put them back: free at no time, and free at
  // all times.
  void close(const std::vector<std::int32_t>& nodes, const std::vector<std::int32_t>& storages);
  void reopen(const std::vector<std::int32_t>& nodes, const std::vector<std::int32_t>& storages);
  // Drain bytes of a storage node in all; 0 gives them back. Bookings stay. It must not be closed.
  void drain(std::int32_t storage, std::int64_t bytes);
  // Append counted pools: the present and the new ones, all free.
  void widen(const std::vector<Pool>& pools, PayloadPtr source);

  Snapshot snapshot() const;
  void restore(const Snapshot& state);
  // The invariant that does not hold, "" if all hold.
  std::string check() const;

 private:
  double find(const Job& job, double duration_s, double first_s, double latest_s,
              Kinds kinds) const;
  Allocation chosen(const Job& job, Kinds kinds) const;
  bool fit_longer(const Job& job, double duration_s, Kinds kinds, Allocation& found) const;
  bool nearest_with_room(const Job& job, double duration_s, Allocation& found) const;

  bool book_all(double start_s, double end_s, const Allocation& allocation, Kinds kinds, int sign,
                Refusal& why);
  bool book_parts(double start_s, double end_s, const Allocation& allocation, Kinds kinds, int sign,
                  Refusal& why);
  bool book(double start_s, double end_s, const Allocation& allocation, Kinds kinds, int sign,
            Refusal& why);
  bool book_longer(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                   int sign, Refusal& why);
  bool book_stacked(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                    int sign, Refusal& why);
  bool book_drained(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                    int sign, Refusal& why);
  bool write(double start_s, double end_s, const Allocation& allocation, Kinds kinds, int sign,
             Refusal& why);
  void write_changes(std::int32_t storage, const std::vector<Drained::Change>& changes);
  Fault measure(const Allocation& allocation, Kinds kinds, std::int64_t* usage) const;
  std::int64_t conflict(double start_s, double end_s, const std::int64_t* usage, int sign) const;
  void explain(std::int64_t segment, const std::int64_t* usage, Refusal& why) const;
  double room_after(std::int64_t segment, double duration_s, const std::int64_t* usage) const;
  void take_amounts(double start_s, double end_s, std::int64_t column, std::int64_t most,
                    const Allocation& unit, Kinds kind);

  MachinePtr machine_;
  bool longer_;
  Steps steps_;
  std::map<std::int32_t, Drained> drained_;
};

}  // namespace spillway
