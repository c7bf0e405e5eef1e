#pragma once

#include <cstdint>
#include <vector>

namespace spillway {

/// Bytes that one host sends to another.
struct Flow {
  std::int32_t from = 0;
  std::int32_t to = 0;
  double bytes = 0.0;
};

/// One parallel task: all computation of all hosts and all transfers advance together, from
/// progress 0 to 1 (SimGrid's `ptask_L07`).
///
/// A value to be filled anew for each start: its vectors keep their room. Whoever makes it has
/// checked it: hosts exist, amounts are finite and not negative.
struct Task {
  /// Numbers of the hosts; a host that occurs more than once takes as many shares of its cores.
  std::vector<std::int32_t> hosts;
  /// Work in flop: one number for every host, one number per position of `hosts`, or empty: none.
  std::vector<double> flops;
  /// Transfers between hosts (not positions), added up in this order.
  std::vector<Flow> flows;
  /// Bytes between every ordered pair of different positions, in place of `flows` if above 0.
  double bytes_each_pair = 0.0;

  double work(std::size_t position) const {
    return flops.empty() ? 0.0 : flops.size() == 1 ? flops[0] : flops[position];
  }

  void clear() {
    hosts.clear();
    flops.clear();
    flows.clear();
    bytes_each_pair = 0.0;
  }
};

}  // namespace spillway
