#pragma once

namespace spillway {

/// Latest time and longest duration, s (`spillway.protocol.limits`).
constexpr double LATEST_S = 8589934592.0;

}  // namespace spillway
