// The machine as a timeline's columns, and the sets of nodes that jobs may be restricted to.
//
// A row has the free resources of a segment of time:
//   FREE_NODES      number of free nodes (the number of bits set in the words)
//   FREE_BYTES      bytes free on all storage nodes (the sum over them)
//   HEAD ...        `words` columns: the free nodes
//   first_storage   bytes free of each storage node
//   first_link      bytes per second left of each link
//   first_pool      amount left of each counted pool, up to `width`
// A usage, which is what a job holds, has the same columns. Clearing the bit of a node that was
// free is a subtraction: booking subtracts the usage and releasing adds it, in all columns alike.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "bits.hpp"
#include "model/job.hpp"
#include "model/payload.hpp"
#include "model/resource.hpp"

namespace spillway {

constexpr std::int64_t FREE_NODES = 0, FREE_BYTES = 1, HEAD = 2;

// Further flags of a demand, beside the kinds: each request has a storage node of its own; the
// amounts held of pools depend on the job's nodes.
constexpr std::int64_t STRIPED = 16, LAYERED = 32;

// Order in which a job gets qualifying nodes: the lowest first; node by node under the link with
// most, or with least, bandwidth left.
enum class NodeOrder : std::int32_t { FIRST_FIT, SPREAD, PACK };

// Choice of the storage node of a request. Up to RACK the first that fits is taken, from EMPTIEST
// on one with more bytes left is better.
enum class StorageOrder : std::int32_t {
  NEAREST,
  BY_ID,
  RACK,
  FULLEST,
  FULLEST_AT_END,
  EMPTIEST,
  LEAST_LOADED,
  COMPACT,
  SPREAD,
  EQUAL
};

// A counted resource: a licence, the limit of a group, or a layer of a hierarchical resource, which
// counts on its nodes. What a job with a request holds of layers, by mode: 0: nothing, but it runs
// on their nodes only; 1: the request, of one layer with a node of the job; 2: the request, of each
// such layer; 3: the request for each of its nodes in the layer.
struct Pool {
  std::int64_t count = 0;
  bool overdrawn = false;      // whether jobs may be charged more than there is: a limit
  std::int32_t resource = -1;  // number of the hierarchical resource; -1: no layer
  std::int32_t mode = -1;
  std::vector<std::int32_t> nodes;
};

// All that is known of a machine, and its rules of placement.
struct Facts {
  std::int64_t nodes = 0;
  std::int32_t rows = 1;                    // time slices that share the nodes
  std::vector<std::int64_t> storage_bytes;  // below 2^53 each: sizes are divided as doubles
  std::vector<std::int64_t> link_rates;     // bytes per second
  std::vector<std::int32_t>
      link_parents;  // the link above, -1 at a root; every link comes after its parent
  std::vector<std::int32_t> node_link;  // innermost link above each node, -1 without one
  std::vector<std::int32_t> nearest;    // for each node the storage nodes, nearest first
  std::vector<std::int32_t> own;        // number of these that are in the node's own rack
  std::vector<std::vector<std::int32_t>> partitions;
  std::vector<Pool> pools;
  NodeOrder node_order = NodeOrder::FIRST_FIT;
  StorageOrder storage_order = StorageOrder::NEAREST;
  PayloadPtr source;  // the caller's own object
};

// A job's request in whole numbers; it stays valid in copies of the timeline and after pools were
// added.
struct JobDemand {
  std::int64_t nodes = 0, bb_bytes = 0, io_rate = 0;
  std::int64_t uses = 0;  // kinds, STRIPED, LAYERED; BURST_BUFFERS only with bytes, BANDWIDTH only
                          // with a rate and links
  std::int64_t requests = 0;   // as many as nodes, or stripes
  std::int64_t first_set = 0;  // first of its alternative sets of nodes
};

// A set of nodes that a job may be restricted to, and the pools that it holds there.
struct NodeSet {
  std::int64_t count = 0;            // nodes
  std::int64_t following = 0;        // number of next sets that the same job may use instead
  std::vector<std::uint64_t> words;  // its nodes
  std::vector<std::uint64_t>
      needed;  // nodes that are taken first, of which the job needs one; empty: no restriction
  std::vector<std::int64_t> by_node;  // its request for each layer of modes 2 and 3
  std::vector<std::int64_t> amounts;  // of each pool whatever its nodes; below 0: charged only
};

// A layer of mode 2 or 3.
struct NodeLayer {
  std::int32_t mode = 0;
  std::int64_t pool = 0;
  std::vector<std::uint64_t> words;
};

// Nodes of one word that are directly under one link; nodes without a link have the number of
// links.
struct LinkGroup {
  std::int64_t link = 0;
  std::int64_t word = 0;
  std::uint64_t bits = 0;
};

// A machine that is too large: sums must stay below 2^62, storage nodes below 2^53 bytes.
enum class SizeFault : std::int32_t { NONE, STORAGE_SUM, LINK_SUM, STORAGE };

class Machine {
 public:
  explicit Machine(Facts facts);

  static SizeFault size_fault(const Facts& facts);

  // A job's demand of some kinds; false if not even the empty machine can meet it.
  bool demand(const Job& job, Kinds kinds, JobDemand& out);

  // The same machine with more pools, all free; demands stay valid.
  std::shared_ptr<Machine> widened(const std::vector<Pool>& pools, PayloadPtr source) const;

  const Facts& facts() const { return facts_; }
  const NodeSet& set(std::int64_t number) const { return sets_[static_cast<std::size_t>(number)]; }

  std::int64_t words = 0, storages = 0, links = 0, pools = 0;
  std::int64_t first_storage = 0, first_link = 0, first_pool = 0, width = 0;
  std::int64_t total_bytes = 0, largest_bytes = 0, widest_rate = 0;
  bool racks = false;                  // only storage nodes of a node's own rack serve it
  bool layered = false;                // some pools are layers
  std::vector<std::int64_t> capacity;  // the row of the empty machine
  std::vector<std::int64_t> least;     // least amounts left, by column
  std::vector<std::int64_t> below;     // nodes below each link, directly or not
  std::vector<LinkGroup> groups;       // by link and word
  std::vector<std::int32_t> lists;  // by node: equal for neighbours with the same nearest storages
  std::vector<NodeLayer> layers;

  // A set of nodes as words.
  std::vector<std::uint64_t> bits(const std::vector<std::int32_t>& nodes) const;

 private:
  using SetKey = std::pair<std::vector<std::int32_t>, std::vector<std::int64_t>>;

  std::int64_t first_set(const SetKey& key);
  void add_choices(const std::vector<std::uint64_t>& nodes,
                   const std::vector<std::int64_t>& requested, std::vector<NodeSet>& found) const;
  void lay_out();

  Facts facts_;
  // Sets keep their places: demands name them. A machine and its timelines are used from one thread
  // at a time.
  std::deque<NodeSet> sets_;
  std::map<SetKey, std::int64_t> known_;
};

using MachinePtr = std::shared_ptr<Machine>;

}  // namespace spillway
