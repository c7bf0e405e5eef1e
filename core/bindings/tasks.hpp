#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "bindings/payload.hpp"
#include "engines/task.hpp"

namespace spillway::bindings {

/// A task in Python: hosts; flop of each or one number for all, or none; bytes of an all-to-all;
/// and transfers between positions of its hosts.
using TaskParts =
    std::tuple<std::vector<std::int32_t>, std::vector<double>, double, std::vector<std::int32_t>,
               std::vector<std::int32_t>, std::vector<double>>;

inline TaskParts parts_of(const Task& task) {
  TaskParts parts{task.hosts, task.flops, task.bytes_each_pair, {}, {}, {}};
  const auto position = [&task](std::int32_t host) {
    const auto found = std::find(task.hosts.begin(), task.hosts.end(), host);
    return static_cast<std::int32_t>(found - task.hosts.begin());
  };
  for (const Flow& flow : task.flows) {
    std::get<3>(parts).push_back(position(flow.from));
    std::get<4>(parts).push_back(position(flow.to));
    std::get<5>(parts).push_back(flow.bytes);
  }
  return parts;
}

}  // namespace spillway::bindings
