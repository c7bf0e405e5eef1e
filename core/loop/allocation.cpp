#include "loop/allocation.hpp"

#include <algorithm>
#include <utility>

#include "loop/fault.hpp"
#include "model/intervals.hpp"

namespace spillway::batsim {
namespace {

/// Sets of machines that are kept; beyond it they are made anew.
constexpr std::size_t MOST_KEPT = 20'000;

}  // namespace

std::size_t Allocations::Hash::operator()(const std::vector<std::int32_t>& ids) const {
  std::uint64_t hash = 1469598103934665603ULL;  // FNV-1a, a word at a time
  for (const std::int32_t id : ids)
    hash = (hash ^ static_cast<std::uint32_t>(id)) * 1099511628211ULL;
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

AllocationPtr Allocations::of(const std::vector<std::int32_t>& ids) {
  const auto found = known_.find(ids);
  if (found != known_.end()) return found->second;
  if (known_.size() >= MOST_KEPT) known_.clear();
  return known_[ids] = make(ids);
}

AllocationPtr Allocations::make(const std::vector<std::int32_t>& ids) const {
  if (ids.empty()) throw Fault(Rule::NO_MACHINE);
  const auto count = static_cast<std::int64_t>(machines_.size());
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= count) {
      throw Fault(Rule::UNKNOWN_MACHINE, {double(id), double(count)});
    }
  }
  std::vector<std::int32_t> unique = ids;
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  auto made = std::make_shared<Allocation>();
  for (const std::int32_t id : unique) {
    made->hosts.push_back(machines_.host(id));
    if (!machines_.is_storage(id)) ++made->compute;
  }
  made->text = intervals(unique);
  made->way = machines_.way(unique.front());
  made->ids = std::make_shared<const std::vector<std::int32_t>>(std::move(unique));
  return made;
}

Placement placed(AllocationPtr allocation, const Request::Mapping* mapping,
                 std::shared_ptr<const Request::Storage> storage) {
  Placement place{std::move(allocation), {}, std::move(storage)};
  if (mapping == nullptr) return place;
  const auto executors = static_cast<std::int32_t>(mapping->size());
  const auto places = static_cast<std::int32_t>(place.allocation->hosts.size());
  for (std::int32_t executor = 0; executor < executors; ++executor) {
    const auto [given, at] = (*mapping)[static_cast<std::size_t>(executor)];
    if (given != executor) throw Fault(Rule::MAPPING_GAP, {double(executors)});
    if (at < 0 || at >= places) {
      throw Fault(Rule::MAPPING_PLACE, {double(executor), double(at), double(places)});
    }
    place.mapped.push_back(place.allocation->hosts[static_cast<std::size_t>(at)]);
  }
  return place;
}

}  // namespace spillway::batsim
