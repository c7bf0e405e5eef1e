#pragma once

#include <limits>

namespace spillway::batsim {

/// What a message of one byte meets on its way to the master.
struct Way {
  /// Latency of the route, s.
  double latency_s = 0.0;
  /// Bytes a second once that has passed; infinite: it takes no time.
  double bytes_per_s = std::numeric_limits<double>::infinity();

  bool takes_time() const {
    return latency_s > 0.0 || bytes_per_s < std::numeric_limits<double>::infinity();
  }
};

}  // namespace spillway::batsim
