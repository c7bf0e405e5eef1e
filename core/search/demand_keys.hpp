// Demands as single whole numbers, so that one subtraction compares all their parts.
//
// Each part (nodes, bytes, duration ...) is replaced by its rank among the values that occur, and
// the ranks stand side by side in one word, each below a guard bit. With the guard bits of the one
// set, subtracting the other clears a guard bit exactly where its part is larger: no borrow crosses
// a guard bit.
//
// Reference: L. Lamport, Multiple byte processing with full-word instructions, CACM 18(8), 1975.
#pragma once
#include <cstdint>
#include <vector>

namespace spillway {

// Demand k requests no more of all than j if (~((above[j] | guards) - below[k]) & guards) == 0.
struct DemandKeys {
  // Keys of the demands as the smaller and the larger one of a comparison. They are equal unless
  // there are more values than bits: then ranks are made coarse, `below` upwards and `above`
  // downwards, and some pairs no longer compare.
  std::vector<std::uint64_t> below, above;
  std::uint64_t guards = 0;
  std::uint64_t nothing =
      0;  // larger in every part than all demands, so that it compares below no demand
};

// Make keys: parts[p][k] is part p of demand k, and all parts rise with the demand.
DemandKeys demand_keys(const std::vector<std::vector<std::int64_t>>& parts);

}  // namespace spillway
