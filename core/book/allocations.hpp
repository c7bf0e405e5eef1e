// Operations on allocations: merge them, split them. Pure functions.
//
// A striped burst buffer and amounts of pools belong to the job as a whole: they are held until its
// last node is given back.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "model/job.hpp"

namespace spillway {

using Nodes = std::vector<std::int32_t>;  // indices of nodes or of storage nodes

// Whether a sorted list has an index.
inline bool has(const Nodes& sorted, std::int32_t index) {
  return std::binary_search(sorted.begin(), sorted.end(), index);
}

// Whether two sorted lists have no index in common.
inline bool disjoint(const Nodes& one, const Nodes& two) {
  return std::none_of(one.begin(), one.end(), [&](std::int32_t index) { return has(two, index); });
}

// An ascending copy.
inline Nodes ascending(Nodes indices) {
  std::sort(indices.begin(), indices.end());
  return indices;
}

inline AllocationPtr shared(Allocation allocation) {
  return std::make_shared<Allocation>(std::move(allocation));
}

// Merge two allocations with disjoint nodes and equal amounts per node; only the first may be
// striped.
inline Allocation together(const Allocation& first, const Allocation& second) {
  if (first.striped || (first.storages.empty() && second.storages.empty())) {
    Allocation merged = first;
    merged.nodes.insert(merged.nodes.end(), second.nodes.begin(), second.nodes.end());
    std::sort(merged.nodes.begin(), merged.nodes.end());
    merged.lives.reset();
    return merged;
  }
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const Allocation* part : {&first, &second})
    for (std::size_t place = 0; place < part->nodes.size(); ++place)
      pairs.emplace_back(part->nodes[place], part->storages[place]);
  std::sort(pairs.begin(), pairs.end());
  Allocation merged;
  for (const auto& [node, storage] : pairs) {
    merged.nodes.push_back(node);
    merged.storages.push_back(storage);
  }
  merged.bb_bytes = first.bb_bytes;
  merged.io_rate = first.io_rate;
  merged.pools = first.pools;
  return merged;
}

// Some nodes of an allocation with a striped buffer, with the whole buffer or without it.
inline Allocation of_striped(const Allocation& allocation, Nodes kept, bool with_buffer) {
  Allocation part;
  if (with_buffer) {
    part = allocation;
    part.lives.reset();
  } else {
    part.io_rate = allocation.io_rate;
  }
  part.nodes = std::move(kept);
  return part;
}

// The part of an allocation on these nodes (ascending); nodes outside the allocation are ignored.
inline Allocation only(const Allocation& allocation, const Nodes& nodes) {
  Nodes kept;
  Allocation part;
  for (std::size_t place = 0; place < allocation.nodes.size(); ++place) {
    if (!has(nodes, allocation.nodes[place])) continue;
    kept.push_back(allocation.nodes[place]);
    if (!allocation.striped && !allocation.storages.empty())
      part.storages.push_back(allocation.storages[place]);
  }
  const bool all = kept.size() == allocation.nodes.size();
  if (allocation.striped) return of_striped(allocation, std::move(kept), all);
  part.nodes = std::move(kept);
  part.bb_bytes = allocation.bb_bytes;
  part.io_rate = allocation.io_rate;
  if (all) part.pools = allocation.pools;
  return part;
}

// An allocation without these nodes (ascending).
inline Allocation without(const Allocation& allocation, const Nodes& nodes) {
  Nodes kept;
  for (const std::int32_t node : allocation.nodes)
    if (!has(nodes, node)) kept.push_back(node);
  if (allocation.striped) {
    const bool any = !kept.empty();
    return of_striped(allocation, std::move(kept), any);
  }
  Allocation left = only(allocation, kept);
  if (!kept.empty()) left.pools = allocation.pools;
  return left;
}

}  // namespace spillway
