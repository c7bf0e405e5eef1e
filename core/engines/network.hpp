#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engines/routes.hpp"

namespace spillway {

/// Hosts and links of a machine as columns, and its routes. Engines on one machine may share it.
struct Network {
  /// Speed of one core in flop/s, and number of cores, by host.
  std::vector<double> speeds;
  std::vector<std::int64_t> cores;
  /// Bytes/s, and whether each user gets the whole bandwidth (a fat pipe), by link.
  std::vector<double> bandwidths;
  std::vector<char> fatpipe;
  Routes routes;

  Network(std::vector<double> host_speeds, std::vector<std::int64_t> host_cores,
          std::vector<double> link_bandwidths, std::vector<char> link_fatpipe,
          std::unique_ptr<RouteSource> source, GroupLimits limits = {})
      : speeds(std::move(host_speeds)),
        cores(std::move(host_cores)),
        bandwidths(std::move(link_bandwidths)),
        fatpipe(std::move(link_fatpipe)),
        routes(static_cast<std::int32_t>(speeds.size()), std::move(source), limits) {}

  std::int32_t hosts() const { return static_cast<std::int32_t>(speeds.size()); }
  std::int32_t links() const { return static_cast<std::int32_t>(bandwidths.size()); }
};

}  // namespace spillway
