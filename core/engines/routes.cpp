#include "engines/routes.hpp"

namespace spillway {
namespace {

/// Mean number of visits of each pair of hosts before groups are searched for.
constexpr std::int64_t VISITS_BEFORE_SEARCH = 20;
constexpr std::uint64_t MIX = 0x9E3779B97F4A7C15;  // 2**64 / golden ratio: spreads neighbours
constexpr int SHIFT = 40;

}  // namespace

Routes::Routes(std::int32_t hosts, std::unique_ptr<RouteSource> source, GroupLimits limits)
    : hosts_(hosts),
      source_(std::move(source)),
      limits_(limits),
      keys_(256, VACANT),
      ids_(256, 0),
      begins_(1, 0),
      took_part_(static_cast<std::size_t>(hosts), 0) {}

std::size_t Routes::place(std::int64_t key) const {
  const std::size_t mask = keys_.size() - 1;
  std::size_t at = ((static_cast<std::uint64_t>(key) * MIX) >> SHIFT) & mask;
  while (keys_[at] != key && keys_[at] != VACANT) at = (at + 1) & mask;
  return at;
}

std::int32_t Routes::find(std::int32_t from, std::int32_t to) {
  const std::int64_t pair = key(from, to);
  const std::size_t at = place(pair);
  return keys_[at] == pair ? ids_[at] : add(pair, source_->find(from, to));
}

std::int32_t Routes::add(std::int64_t pair, const Route& route) {
  const auto id = static_cast<std::int32_t>(latencies_.size());
  if (2 * (latencies_.size() + 1) > keys_.size()) {
    std::vector<std::int64_t> keys(4 * keys_.size(), VACANT);
    std::vector<std::int32_t> ids(keys.size(), 0);
    keys_.swap(keys);
    ids_.swap(ids);
    for (std::size_t old = 0; old < keys.size(); ++old) {
      if (keys[old] == VACANT) continue;
      const std::size_t at = place(keys[old]);
      keys_[at] = keys[old];
      ids_[at] = ids[old];
    }
  }
  const std::size_t at = place(pair);
  keys_[at] = pair;
  ids_[at] = id;
  links_.insert(links_.end(), route.links.begin(), route.links.end());
  begins_.push_back(static_cast<std::int64_t>(links_.size()));
  latencies_.push_back(route.latency_s);
  return id;
}

LinkRange Routes::links(std::int32_t route) const {
  const auto at = static_cast<std::size_t>(route);
  return {links_.data() + begins_[at], links_.data() + begins_[at + 1]};
}

bool Routes::many_missing(const std::vector<std::int32_t>& members) const {
  std::int64_t missing = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = 0; j < members.size(); ++j) {
      if (i == j) continue;
      missing += keys_[place(key(members[i], members[j]))] == VACANT;
      if (missing >= limits_.many) return true;
    }
  }
  return false;
}

void Routes::prepare(const std::vector<std::int32_t>& members) {
  if (hosts_ <= limits_.most_hosts || !many_missing(members)) return;
  if (!known_) known_.emplace(*source_, hosts_);
  if (auto found = known_->include(members)) groups_ = std::move(*found);
}

void Routes::note_visit(const std::vector<std::int32_t>& members) {
  const auto count = static_cast<std::int64_t>(members.size());
  visits_ += count * count;
  for (const std::int32_t host : members) took_part_[static_cast<std::size_t>(host)] = 1;
}

void Routes::look_for_groups() {
  if (visits_ < next_search_) return;
  std::vector<std::int32_t> members;
  for (std::int32_t host = 0; host < hosts_; ++host) {
    if (took_part_[static_cast<std::size_t>(host)]) members.push_back(host);
  }
  const auto count = static_cast<std::int64_t>(members.size());
  std::int64_t price = VISITS_BEFORE_SEARCH * count * count;
  if (visits_ >= price) {
    group(members);
    price *= 2;  // only new hosts can justify the next search
    visits_ = 0;
  }
  next_search_ = price;
}

void Routes::group(const std::vector<std::int32_t>& members) {
  const auto count = static_cast<std::int64_t>(members.size());
  if (count <= 2 || count > limits_.most_hosts) return;
  if (auto found = find_groups(*this, members)) groups_ = std::move(*found);
}

}  // namespace spillway
