// Rules of placement: whether a window holds a job, and which nodes and storage nodes it gets
// there.
//
// A window is a row with the resources that are free over some time. No rule but RACK changes
// whether a job fits. All requests of a job are equal and every node may use every storage node, so
// whole requests fit exactly when the sum of free_bytes / bb_bytes, rounded down each, suffices;
// the stripes of a buffer are on different storage nodes. The node sets that a tree of links can
// carry are the independent sets of a laminar matroid, in which every greedy choice ends with a set
// of the same, largest size. Where a node may only use the storage of its own rack, racks count as
// links do: that is exact as long as links and racks are nested.
//
// References: Herbein et al., HPDC 2016, section 3.4, for the bandwidth levels
// (DOI 10.1145/2907294.2907316); Kopanski's thesis (Euro-Par version
// DOI 10.1007/978-3-030-85665-6_8), section 4.2, for burst buffers as whole requests.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "machine.hpp"

namespace spillway {

// A demand on one of its sets of nodes.
struct Wanted {
  JobDemand demand;
  const NodeSet* set = nullptr;
};

// Working memory of searches, one for each thread. Nothing in it lasts from one call to the next
// but the answer of a search: the usage, the chosen nodes (ascending), and the storage node of each
// request.
class Scratch {
 public:
  // This thread's memory, for rows of a machine and windows of so many segments.
  static Scratch& of(const Machine& machine, std::int64_t segments);

  std::int64_t* full =
      nullptr;  // where windows begin: the empty machine with the nodes of the current set
  std::int64_t* forward = nullptr;  // windows
  std::int64_t* window = nullptr;
  std::int64_t* spare = nullptr;
  std::int64_t* since = nullptr;  // first segment with the final free bytes of each storage node
  std::int64_t* taken = nullptr;  // requests of the job on each storage node
  std::int64_t* usage = nullptr;
  std::vector<std::int32_t> nodes, storages;
  std::int64_t start_segment = 0;  // that of the start found by find_fit

  std::int64_t* back(std::int64_t segment) { return back_ + segment * width_; }
  // Begin windows from the nodes of a set.
  void begin(const Machine& machine, const NodeSet& set);

 private:
  std::vector<std::int64_t> cells_;
  std::int64_t* back_ = nullptr;
  std::int64_t width_ = 0;
};

// Whether the free bytes of a row hold all requests of the job whole; its total suffices. Counted
// only where the sum does not decide.
bool whole_requests_fit(const std::int64_t* row, const JobDemand& demand, const Machine& machine);

// Whether a row has enough of every pool.
bool pools_hold(const std::int64_t* row, const Wanted& request, const Machine& machine);

// Whether a window with enough nodes and bytes in total has them in usable pieces.
bool holds(const std::int64_t* window, const Wanted& request, const Machine& machine,
           Scratch& scratch);

// Choose nodes and storage nodes in a window that holds them: fills the scratch memory's usage and
// choice, overwrites the window. Only FULLEST_AT_END reads `after`, the row of the segment in which
// the job will have ended, and `since`.
void choose(std::int64_t* window, const std::int64_t* after, const Wanted& request,
            const Machine& machine, Scratch& scratch);

// Storage nodes for the requests of a job on these nodes, or for its stripes; none: too few bytes
// are free. Everything stays free as long: FULLEST_AT_END looks at the bytes before the choice.
std::optional<std::vector<std::int32_t>> choose_storages(
    const Machine& machine, const std::vector<std::int32_t>& nodes,
    const std::vector<std::int64_t>& free_bytes, std::int64_t bb_bytes, StorageOrder order,
    std::int64_t stripes);

}  // namespace spillway
