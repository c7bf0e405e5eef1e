#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/task.hpp"

namespace spillway::bindings {

/// Tasks one behind the other, as `simulator/engines/batch.py` lays them out: hosts and work of
/// every position, bytes of each all-to-all, transfers.
struct Batch {
  std::vector<std::int32_t> hosts;
  std::vector<std::size_t> ends;
  std::vector<double> work;
  std::vector<double> each;
  std::vector<std::size_t> pair_ends;
  std::vector<std::int32_t> sources;
  std::vector<std::int32_t> destinations;
  std::vector<double> amounts;

  std::size_t size() const { return each.size(); }

  void fill(std::size_t number, Task& task) const {
    task.clear();
    for (std::size_t at = ends[number]; at < ends[number + 1]; ++at) {
      task.hosts.push_back(hosts[at]);
      task.flops.push_back(work[at]);
    }
    for (std::size_t at = pair_ends[number]; at < pair_ends[number + 1]; ++at) {
      task.flows.push_back({sources[at], destinations[at], amounts[at]});
    }
    task.bytes_each_pair = each[number];
  }
};

}  // namespace spillway::bindings
