#include "placement.hpp"

#include <algorithm>
#include <cstring>

#include "book/storage_choice.hpp"
#include "book/wide.hpp"

namespace spillway {
namespace {

constexpr std::int64_t NO_LINK = std::int64_t{1}
                                 << 62;  // bandwidth left above a node without a link
constexpr std::int64_t ROWS = 7;         // rows of scratch memory before those of the segments

std::int32_t link_of(const Machine& machine, std::int64_t node) {
  return machine.links ? machine.facts().node_link[static_cast<std::size_t>(node)] : -1;
}

std::int32_t parent_of(const Machine& machine, std::int64_t link) {
  return machine.facts().link_parents[static_cast<std::size_t>(link)];
}

// Number of nodes of a window that links can give the I/O rate: min(bandwidth / rate, children) up
// the tree.
std::int64_t carried(const std::int64_t* window, const JobDemand& demand, const Machine& machine,
                     std::int64_t* counts) {
  std::fill(counts, counts + machine.links + 1, 0);
  const std::uint64_t* words = words_of(window + HEAD);
  for (const LinkGroup& group : machine.groups)
    counts[group.link] += popcount(words[group.word] & group.bits);
  for (std::int64_t link = machine.links - 1; link >= 0; link--) {
    std::int64_t nodes = counts[link];
    const std::int64_t bandwidth = window[machine.first_link + link];
    if (nodes * demand.io_rate > bandwidth) nodes = bandwidth / demand.io_rate;
    const std::int32_t parent = parent_of(machine, link);
    counts[parent >= 0 ? parent : machine.links] += nodes;
  }
  return counts[machine.links];
}

// Whether the tree of links can carry the job; nodes are only counted where simple bounds do not
// decide. A link costs at most the nodes below it that it cannot carry, and passes no more than it
// carries.
bool links_hold(const std::int64_t* window, const JobDemand& demand, const Machine& machine,
                Scratch& scratch) {
  const std::int64_t free = window[FREE_NODES];
  std::int64_t lost = 0;
  for (std::int64_t link = 0; link < machine.links; link++) {
    const std::int64_t below = machine.below[static_cast<std::size_t>(link)];
    const std::int64_t bandwidth = window[machine.first_link + link], most = std::min(below, free);
    if (bandwidth < most * demand.io_rate) {
      const std::int64_t passing = bandwidth / demand.io_rate;
      if (machine.facts().nodes - below + passing < demand.nodes) return false;
      lost += most - passing;
    }
  }
  return free - lost >= demand.nodes ||
         carried(window, demand, machine, scratch.spare) >= demand.nodes;
}

// Take a rate from a link and all above it; false, with nothing taken, if one of them has less
// left.
bool draw(std::int64_t* rates, std::int64_t link, std::int64_t io_rate, const Machine& machine) {
  for (std::int64_t above = link; above >= 0; above = parent_of(machine, above)) {
    if (rates[above] < io_rate) return false;
  }
  for (std::int64_t above = link; above >= 0; above = parent_of(machine, above))
    rates[above] -= io_rate;
  return true;
}

// Nearest storage node of a node's own rack with free bytes for a request, or -1.
std::int32_t own_storage(const std::int64_t* window, std::int64_t node, std::int64_t bb_bytes,
                         const Machine& machine) {
  const std::int32_t* nearest =
      &machine.facts().nearest[static_cast<std::size_t>(node * machine.storages)];
  for (std::int32_t rank = 0; rank < machine.facts().own[static_cast<std::size_t>(node)]; rank++) {
    if (window[machine.first_storage + nearest[rank]] >= bb_bytes) return nearest[rank];
  }
  return -1;
}

// Chooses the nodes of one job in a window, which it draws from.
class NodeChoice {
 public:
  NodeChoice(std::int64_t* window, std::int64_t* usage, const Wanted& request,
             const Machine& machine, Scratch& scratch)
      : window_(window),
        free_(words_of(window + HEAD)),
        chosen_(words_of(usage + HEAD)),
        request_(request),
        demand_(request.demand),
        machine_(machine),
        scratch_(scratch),
        layered_(demand_.uses & LAYERED),
        racked_(machine.racks && demand_.bb_bytes > 0 && !(demand_.uses & STRIPED)) {}

  // Number of missing nodes; the chosen ones are in the usage's words, under RACK with their
  // storages in the scratch.
  std::int64_t run() {
    if (layered_) return needed_first();
    if (!demand_.io_rate || machine_.facts().node_order == NodeOrder::FIRST_FIT)
      return lowest_first();
    return by_link(machine_.facts().node_order == NodeOrder::SPREAD);
  }

 private:
  // Whether all layers of a node have enough left for the job.
  bool layers_serve(std::int64_t node) const {
    for (std::size_t place = 0; place < machine_.layers.size(); place++) {
      const NodeLayer& layer = machine_.layers[place];
      const std::int64_t amount = request_.set->by_node[place];
      if (amount > 0 && is_in(layer, node) && window_[machine_.first_pool + layer.pool] < amount)
        return false;
    }
    return true;
  }

  void draw_layers(std::int64_t node) {
    for (std::size_t place = 0; place < machine_.layers.size(); place++) {
      const NodeLayer& layer = machine_.layers[place];
      const std::int64_t amount = request_.set->by_node[place];
      if (amount > 0 && layer.mode == 3 && is_in(layer, node))
        window_[machine_.first_pool + layer.pool] -= amount;
    }
  }

  static bool is_in(const NodeLayer& layer, std::int64_t node) {
    return layer.words[static_cast<std::size_t>(node >> 6)] & bit_of(node);
  }

  // Take a node's bandwidth, its layers, and under RACK its request from its own rack.
  bool take(std::int64_t node, std::int64_t link) {
    std::int32_t storage = -1;
    if (layered_ && !layers_serve(node)) return false;
    if (racked_) {
      storage = own_storage(window_, node, demand_.bb_bytes, machine_);
      if (storage < 0) return false;
    }
    if (demand_.io_rate > 0 &&
        !draw(window_ + machine_.first_link, link, demand_.io_rate, machine_))
      return false;
    if (racked_) {
      window_[machine_.first_storage + storage] -= demand_.bb_bytes;
      scratch_.storages[static_cast<std::size_t>(node)] = storage;
    }
    if (layered_) draw_layers(node);
    return true;
  }

  std::int64_t lowest_first() {
    const bool all = !demand_.io_rate && !racked_;
    std::int64_t missing = demand_.nodes;
    for (std::int64_t at = 0; at < machine_.words; at++) {
      std::uint64_t word = free_[at], taken = 0;
      if (all) {
        const std::int64_t count = popcount(word);
        if (count <= missing) {
          missing -= count;
          chosen_[at] = word;
          continue;
        }
      }
      while (word && missing > 0) {
        const std::int64_t node = at * 64 + lowest_bit(word);
        const std::uint64_t lowest = word & (~word + 1);
        word ^= lowest;
        if (all || take(node, link_of(machine_, node))) {
          taken |= lowest;
          missing--;
        }
      }
      chosen_[at] = taken;
    }
    return missing;
  }

  // Nodes of which the job needs at least one come before all others.
  std::int64_t needed_first() {
    std::fill(chosen_, chosen_ + machine_.words, 0);
    std::int64_t missing = demand_.nodes;
    const bool needs = !request_.set->needed.empty();
    for (int step = needs ? 0 : 1; step < 2; step++) {
      for (std::int64_t at = 0; at < machine_.words; at++) {
        std::uint64_t word =
            free_[at] & (step ? ~chosen_[at] : request_.set->needed[static_cast<std::size_t>(at)]);
        while (word && missing > 0) {
          const std::int64_t node = at * 64 + lowest_bit(word);
          const std::uint64_t lowest = word & (~word + 1);
          word ^= lowest;
          if (take(node, link_of(machine_, node))) {
            chosen_[at] |= lowest;
            missing--;
          }
        }
      }
      if (needs && missing == demand_.nodes) return missing;
    }
    return missing;
  }

  // Node by node under the link with most, or least, bandwidth left; ties: the lowest node.
  std::int64_t by_link(bool spread) {
    std::fill(chosen_, chosen_ + machine_.words, 0);
    const std::vector<LinkGroup>& groups = machine_.groups;
    const std::int64_t none = 64 * machine_.words;
    std::int64_t missing = demand_.nodes;
    while (missing > 0) {
      std::int64_t best = none, best_score = 0, best_link = -1;
      for (std::size_t entry = 0; entry < groups.size();) {
        const std::int64_t link = groups[entry].link;
        std::int64_t node = none;
        for (; entry < groups.size() && groups[entry].link == link; entry++) {
          const std::uint64_t word = free_[groups[entry].word] & groups[entry].bits;
          if (word && node == none) node = groups[entry].word * 64 + lowest_bit(word);
        }
        std::int64_t score = link < machine_.links ? window_[machine_.first_link + link] : NO_LINK;
        if (!spread) score = -score;
        if (node < none &&
            (best == none || score > best_score || (score == best_score && node < best))) {
          best = node;
          best_score = score;
          best_link = link;
        }
      }
      if (best == none) return missing;
      free_[best >> 6] ^= bit_of(best);
      if (take(best, best_link < machine_.links ? best_link : -1)) {
        chosen_[best >> 6] |= bit_of(best);
        missing--;
      }
    }
    return missing;
  }

  std::int64_t* window_;
  std::uint64_t* free_;
  std::uint64_t* chosen_;
  const Wanted& request_;
  const JobDemand& demand_;
  const Machine& machine_;
  Scratch& scratch_;
  bool layered_, racked_;
};

// Add a job's amounts of the pools to a usage that has its nodes, with those of layers in mode 2.
void take_pools(std::int64_t* usage, const Wanted& request, const Machine& machine) {
  for (std::int64_t pool = 0; pool < machine.pools; pool++) {
    usage[machine.first_pool + pool] +=
        std::abs(request.set->amounts[static_cast<std::size_t>(pool)]);
  }
  if (!(request.demand.uses & LAYERED)) return;
  for (std::size_t place = 0; place < machine.layers.size(); place++) {
    const NodeLayer& layer = machine.layers[place];
    if (layer.mode != 2) continue;
    std::uint64_t inside = 0;
    for (std::int64_t word = 0; word < machine.words; word++) {
      inside |= words_of(usage + HEAD)[word] & layer.words[static_cast<std::size_t>(word)];
    }
    if (inside) usage[machine.first_pool + layer.pool] += request.set->by_node[place];
  }
}

}  // namespace

Scratch& Scratch::of(const Machine& machine, std::int64_t segments) {
  thread_local Scratch scratch;
  const auto needed = static_cast<std::size_t>((ROWS + segments + 1) * machine.width);
  if (scratch.width_ != machine.width || scratch.cells_.size() < needed) {
    if (scratch.cells_.size() < needed) scratch.cells_.resize(2 * needed);
    scratch.width_ = machine.width;
    std::int64_t* cells = scratch.cells_.data();
    std::int64_t** rows[] = {&scratch.full,  &scratch.forward, &scratch.window, &scratch.spare,
                             &scratch.since, &scratch.taken,   &scratch.usage};
    for (std::int64_t** row : rows) {
      *row = cells;
      cells += machine.width;
    }
    scratch.back_ = cells;
  }
  const auto most = static_cast<std::size_t>(std::max(machine.facts().nodes, machine.storages));
  if (scratch.nodes.size() < most) {
    scratch.nodes.resize(most);
    scratch.storages.resize(most);
  }
  return scratch;
}

void Scratch::begin(const Machine& machine, const NodeSet& set) {
  std::memcpy(full, machine.capacity.data(),
              static_cast<std::size_t>(machine.width) * sizeof(std::int64_t));
  full[FREE_NODES] = set.count;
  std::memcpy(full + HEAD, set.words.data(),
              static_cast<std::size_t>(machine.words) * sizeof(std::uint64_t));
}

bool whole_requests_fit(const std::int64_t* row, const JobDemand& demand, const Machine& machine) {
  const std::int64_t requests = demand.requests, bb_bytes = demand.bb_bytes,
                     storages = machine.storages;
  const std::int64_t* free = row + machine.first_storage;
  std::int64_t fitting = 0;
  if (demand.uses & STRIPED) {
    for (std::int64_t place = 0; place < storages; place++) fitting += free[place] >= bb_bytes;
    return fitting >= requests;
  }
  if (row[FREE_BYTES] > (requests - 1) * bb_bytes + storages * (bb_bytes - 1)) return true;
  // Too many free bytes may be in pieces smaller than a request. Most windows are decided by the
  // storage nodes that hold one: as many of them as requests suffice, and all free bytes on them
  // must suffice.
  const Usable usable = usable_cells(free, storages, bb_bytes);
  if (usable.count >= requests || usable.sum < requests * bb_bytes) return usable.count >= requests;
  // The quotient of whole numbers below 2^53 never rounds up to the next whole number, and dividing
  // doubles is faster.
  const double size = static_cast<double>(bb_bytes);
  for (std::int64_t place = 0; place < storages; place++) {
    fitting += static_cast<std::int64_t>(static_cast<double>(free[place]) / size);
  }
  return fitting >= requests;
}

bool pools_hold(const std::int64_t* row, const Wanted& request, const Machine& machine) {
  for (std::int64_t pool = 0; pool < machine.pools; pool++) {
    const std::int64_t amount = request.set->amounts[static_cast<std::size_t>(pool)];
    if (amount > 0 && row[machine.first_pool + pool] < amount) return false;
  }
  return true;
}

bool holds(const std::int64_t* window, const Wanted& request, const Machine& machine,
           Scratch& scratch) {
  const JobDemand& demand = request.demand;
  if (demand.uses & BURST_BUFFERS && !whole_requests_fit(window, demand, machine)) return false;
  if (demand.uses & BANDWIDTH && !links_hold(window, demand, machine, scratch)) return false;
  if (!(demand.uses & LAYERED) &&
      (!machine.racks || !(demand.uses & BURST_BUFFERS) || demand.uses & STRIPED)) {
    return true;
  }
  std::memcpy(scratch.spare, window,
              static_cast<std::size_t>(machine.width) * sizeof(std::int64_t));
  return NodeChoice(scratch.spare, scratch.taken, request, machine, scratch).run() == 0;
}

void choose(std::int64_t* window, const std::int64_t* after, const Wanted& request,
            const Machine& machine, Scratch& scratch) {
  const JobDemand& demand = request.demand;
  std::int64_t* usage = scratch.usage;
  for (std::int64_t column = machine.first_storage; column < machine.width; column++)
    usage[column] = window[column];
  NodeChoice(window, usage, request, machine, scratch).run();
  const bool racked = machine.racks && demand.bb_bytes > 0 && !(demand.uses & STRIPED);
  std::size_t position = 0;
  for (std::int64_t at = 0; at < machine.words; at++) {
    std::uint64_t& chosen = words_of(usage + HEAD)[at];
    for (std::uint64_t word = chosen; word; word &= word - 1) {
      const std::int64_t node = at * 64 + lowest_bit(word);
      scratch.nodes[position] = static_cast<std::int32_t>(node);
      // Never overwritten before: positions are not above their nodes.
      if (racked) scratch.storages[position] = scratch.storages[static_cast<std::size_t>(node)];
      position++;
    }
    if (!(demand.uses & NODES)) chosen = 0;
  }
  if (demand.bb_bytes > 0 && !racked) {
    const StorageOrder order = machine.facts().storage_order;
    StorageChoice(window, after, demand, machine, scratch, order).run();
  }
  usage[FREE_NODES] = demand.uses & NODES ? demand.nodes : 0;
  usage[FREE_BYTES] = demand.requests * demand.bb_bytes;
  for (std::int64_t column = machine.first_storage; column < machine.width; column++) {
    usage[column] -= window[column];  // amounts before less amounts left
  }
  if (demand.uses & POOLS) take_pools(usage, request, machine);
}

std::optional<std::vector<std::int32_t>> choose_storages(
    const Machine& machine, const std::vector<std::int32_t>& nodes,
    const std::vector<std::int64_t>& free_bytes, std::int64_t bb_bytes, StorageOrder order,
    std::int64_t stripes) {
  if (bb_bytes == 0) return std::vector<std::int32_t>();
  Scratch& scratch = Scratch::of(machine, 0);
  for (std::int64_t storage = 0; storage < machine.storages; storage++) {
    const std::int64_t column = machine.first_storage + storage;
    scratch.window[column] = scratch.spare[column] = free_bytes[static_cast<std::size_t>(storage)];
    scratch.since[column] = 0;
  }
  JobDemand demand;
  demand.nodes = static_cast<std::int64_t>(nodes.size());
  demand.bb_bytes = bb_bytes;
  demand.requests = stripes ? stripes : demand.nodes;
  demand.uses = stripes ? STRIPED : 0;
  scratch.nodes[0] = 0;  // where there are stripes but no nodes
  std::copy(nodes.begin(), nodes.end(), scratch.nodes.begin());
  if (!StorageChoice(scratch.window, scratch.spare, demand, machine, scratch, order).run())
    return std::nullopt;
  return std::vector<std::int32_t>(scratch.storages.begin(),
                                   scratch.storages.begin() + demand.requests);
}

}  // namespace spillway
