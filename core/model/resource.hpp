// Kinds of resources; a reservation covers a union of kinds.
#pragma once
#include <cstdint>
#include <limits>

namespace spillway {

constexpr double NEVER = std::numeric_limits<double>::infinity();

using Kinds = std::uint32_t;
constexpr Kinds NODES = 1;          // compute nodes, by identity
constexpr Kinds BURST_BUFFERS = 2;  // bytes on storage nodes
constexpr Kinds BANDWIDTH = 4;      // bytes per second on the links above the nodes
constexpr Kinds POOLS = 8;          // counted pools (licences, limits)
constexpr Kinds ALL_KINDS = 15;

}  // namespace spillway
