#include "book/lives.hpp"

#include <algorithm>

namespace spillway {

std::vector<LifePart> parts(const std::optional<Lives>& lives, double start_s, double end_s,
                            Kinds covering) {
  if (!lives) return {{covering, start_s, end_s}};
  const double on_s = start_s + lives->storage_lead_s, off_s = end_s + lives->storage_lead_s;
  const LifePart spans[] = {
      {NODES | POOLS, on_s, off_s},
      {BURST_BUFFERS, start_s, std::max(off_s + lives->storage_tail_s, start_s)},
      {BANDWIDTH, on_s, std::max(off_s + lives->bandwidth_tail_s, on_s)}};
  std::vector<LifePart> found;
  for (const LifePart& span : spans) {
    const Kinds kinds = span.covering & covering;
    if (!kinds) continue;
    const auto same = std::find_if(found.begin(), found.end(), [&](const LifePart& one) {
      return one.start_s == span.start_s && one.end_s == span.end_s;
    });
    if (same == found.end()) {
      found.push_back({kinds, span.start_s, span.end_s});
    } else {
      same->covering |= kinds;
    }
  }
  return found;
}

}  // namespace spillway
