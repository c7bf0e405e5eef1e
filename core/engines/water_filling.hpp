#pragma once

#include <vector>

namespace spillway {

/// Bandwidth that each child of a resource gets, in the order of `requests` (at least 0): its
/// request, or an equal share of the rest that smaller requests leave, ActualBW_i = min(ReqBW_i,
/// (PeakBW - sum of ActualBW_j, j < i) / (n - i)), requests ascending (Herbein et al., HPDC 2016,
/// DOI 10.1145/2907294.2907316, section 4.4).
///
/// `whole`: shares are cut to whole units, as in one version of the authors' emulator, which counts
/// whole MB/s; the remainder goes to the children served last.
std::vector<double> water_fill(const std::vector<double>& requests, double peak, bool whole);

/// Share of the time that a job computes: 1 if it gets its request, else `actual / requested`.
inline double interference_factor(double actual, double requested) {
  return actual >= requested ? 1.0 : actual / requested;
}

}  // namespace spillway
