#pragma once

namespace spillway {

/// Times below this are nothing (SimGrid's `precision/timing`), s.
constexpr double TIME_PRECISION = 1e-9;
/// Free capacity below this is nothing (SimGrid's `maxmin/precision`).
constexpr double RATE_PRECISION = 1e-5;
/// Remaining work below this is nothing: the product of the two.
constexpr double WORK_PRECISION = RATE_PRECISION * TIME_PRECISION;
/// No transfer is faster than this per two latencies (SimGrid's `network/TCP-gamma`), bytes.
constexpr double TCP_WINDOW = 4194304.0;

}  // namespace spillway
