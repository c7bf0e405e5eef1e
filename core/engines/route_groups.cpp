#include "engines/route_groups.hpp"

#include <algorithm>
#include <limits>

#include "engines/routes.hpp"

namespace spillway {
namespace {

using Links = std::vector<std::int32_t>;

/// Most groups by construction; beyond, none are used, because there is a core for each pair of
/// them.
constexpr std::size_t MOST_GROUPS = 2048;
/// Fewest hosts per group, as a ratio; below, pairs are counted.
constexpr std::size_t LEAST_HOSTS = 3, LEAST_GROUPS = 2;

/// All routes between some hosts, by positions of source and destination.
class RouteMatrix {
 public:
  RouteMatrix(Routes& routes, const std::vector<std::int32_t>& members) : size_(members.size()) {
    std::vector<std::int32_t> found;
    for (const std::int32_t from : members) {
      for (const std::int32_t to : members) found.push_back(routes.find(from, to));
    }
    for (const std::int32_t route : found) {  // only now: a new route may move the others
      links_.push_back(routes.links(route));
      latencies_s_.push_back(routes.latency_s(route));
    }
  }

  std::size_t size() const { return size_; }
  const LinkRange& links(std::size_t i, std::size_t j) const { return links_[i * size_ + j]; }
  double latency_s(std::size_t i, std::size_t j) const { return latencies_s_[i * size_ + j]; }

 private:
  std::size_t size_;
  std::vector<LinkRange> links_;
  std::vector<double> latencies_s_;
};

/// Numbers of first links that all routes from a host share, and of last links to it.
struct Ends {
  std::vector<std::size_t> ups;
  std::vector<std::size_t> downs;
};

std::size_t common_begin(const LinkRange& one, const LinkRange& other, std::size_t longest) {
  longest = std::min({longest, one.size(), other.size()});
  std::size_t length = 0;
  while (length < longest && one.first[length] == other.first[length]) ++length;
  return length;
}

std::size_t common_end(const LinkRange& one, const LinkRange& other, std::size_t longest) {
  longest = std::min({longest, one.size(), other.size()});
  std::size_t length = 0;
  while (length < longest && *(one.last - 1 - length) == *(other.last - 1 - length)) ++length;
  return length;
}

/// At most `longest` links at each end; empty if the ends of some route overlap.
std::optional<Ends> ends_of(const RouteMatrix& routes, std::size_t longest) {
  const std::size_t n = routes.size();
  Ends ends;
  for (std::size_t host = 0; host < n; ++host) {
    const std::size_t other = host == 0 ? 1 : 0;
    std::size_t up = std::min(longest, routes.links(host, other).size());
    std::size_t down = std::min(longest, routes.links(other, host).size());
    for (std::size_t third = 0; third < n; ++third) {
      if (third == host) continue;
      up = common_begin(routes.links(host, other), routes.links(host, third), up);
      down = common_end(routes.links(other, host), routes.links(third, host), down);
    }
    ends.ups.push_back(up);
    ends.downs.push_back(down);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j && ends.ups[i] + ends.downs[j] > routes.links(i, j).size()) return std::nullopt;
    }
  }
  return ends;
}

/// Number of the core of each route: equal numbers, equal links between the ends and equal
/// latencies.
class CoreMatrix {
 public:
  using Core = std::pair<Links, double>;

  CoreMatrix(const RouteMatrix& routes, const Ends& ends) : size_(routes.size()) {
    numbers_.assign(size_ * size_, -1);
    std::map<Core, std::int32_t> known;
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        if (i == j) continue;
        const LinkRange& links = routes.links(i, j);
        Core core(Links(links.first + ends.ups[i], links.last - ends.downs[j]),
                  routes.latency_s(i, j));
        const auto next = static_cast<std::int32_t>(cores_.size());
        const auto [place, is_new] = known.emplace(std::move(core), next);
        if (is_new) cores_.push_back(place->first);
        numbers_[i * size_ + j] = place->second;
      }
    }
  }

  std::int32_t number(std::size_t i, std::size_t j) const { return numbers_[i * size_ + j]; }
  Core core(std::size_t i, std::size_t j) const {
    const std::int32_t found = number(i, j);
    return found < 0 ? Core() : cores_[static_cast<std::size_t>(found)];
  }

  /// Partition of the hosts so that the core of a route depends on the groups of its ends only.
  std::vector<std::vector<std::size_t>> alike() const {
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t host = 0; host < size_; ++host) {
      const auto home = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        const std::size_t first = group[0];
        return interchangeable(first, host) &&
               (group.size() == 1 || number(first, host) == number(first, group[1]));
      });
      if (home == groups.end()) {
        groups.push_back({host});
      } else {
        home->push_back(host);
      }
    }
    return groups;
  }

 private:
  bool interchangeable(std::size_t one, std::size_t other) const {
    if (number(one, other) != number(other, one)) return false;
    for (std::size_t third = 0; third < size_; ++third) {
      if (third == one || third == other) continue;
      if (number(one, third) != number(other, third)) return false;
      if (number(third, one) != number(third, other)) return false;
    }
    return true;
  }

  std::size_t size_;
  std::vector<std::int32_t> numbers_;
  std::vector<Core> cores_;
};

}  // namespace

RouteGroups::RouteGroups(std::vector<std::int32_t> group,
                         const std::vector<std::vector<std::int32_t>>& parts,
                         std::vector<double> latencies_s, std::int32_t count)
    : group_(std::move(group)), latencies_s_(std::move(latencies_s)), count_(count) {
  begins_.push_back(0);
  for (const Links& part : parts) {
    links_.insert(links_.end(), part.begin(), part.end());
    begins_.push_back(static_cast<std::int64_t>(links_.size()));
  }
}

LinkRange RouteGroups::part(std::int64_t number) const {
  const auto at = static_cast<std::size_t>(number);
  return {links_.data() + begins_[at], links_.data() + begins_[at + 1]};
}

std::optional<RouteGroups> find_groups(Routes& routes, const std::vector<std::int32_t>& members) {
  const RouteMatrix matrix(routes, members);
  std::optional<Ends> ends = ends_of(matrix, std::numeric_limits<std::size_t>::max());
  if (!ends) ends = ends_of(matrix, 1);
  if (!ends) return std::nullopt;
  const CoreMatrix cores(matrix, *ends);
  const auto groups = cores.alike();
  if (LEAST_GROUPS * members.size() < LEAST_HOSTS * groups.size()) return std::nullopt;

  const auto hosts = static_cast<std::size_t>(routes.hosts());
  std::vector<std::int32_t> group(hosts, -1);
  std::vector<Links> parts(2 * hosts);
  for (std::size_t number = 0; number < groups.size(); ++number) {
    for (const std::size_t at : groups[number]) {
      const auto host = static_cast<std::size_t>(members[at]);
      const std::size_t other = at == 0 ? 1 : 0;
      const LinkRange& there = matrix.links(at, other);
      const LinkRange& back = matrix.links(other, at);
      group[host] = static_cast<std::int32_t>(number);
      parts[host].assign(there.first, there.first + ends->ups[at]);
      parts[hosts + host].assign(back.last - ends->downs[at], back.last);
    }
  }
  std::vector<double> latencies_s;
  for (const auto& from : groups) {
    for (const auto& to : groups) {
      auto [links, latency_s] = cores.core(from[0], &from == &to ? to.back() : to[0]);
      parts.push_back(std::move(links));
      latencies_s.push_back(latency_s);
    }
  }
  return RouteGroups(std::move(group), parts, std::move(latencies_s),
                     static_cast<std::int32_t>(groups.size()));
}

KnownGroups::KnownGroups(RouteSource& source, std::int32_t hosts)
    : source_(source),
      hosts_(static_cast<std::size_t>(hosts)),
      groups_(source.alike()),
      group_of_(hosts_, -1),
      parts_(2 * hosts_),
      group_(hosts_, -1) {
  std::stable_sort(groups_.begin(), groups_.end(),
                   [](const auto& one, const auto& other) { return one.size() > other.size(); });
  for (std::size_t number = 0; number < groups_.size(); ++number) {
    for (const std::int32_t host : groups_[number]) {
      group_of_[static_cast<std::size_t>(host)] = static_cast<std::int32_t>(number);
    }
  }
}

std::optional<RouteGroups> KnownGroups::include(const std::vector<std::int32_t>& members) {
  std::vector<std::int32_t> found;
  for (const std::int32_t host : members) {
    found.push_back(group_of_[static_cast<std::size_t>(host)]);
    if (found.back() < 0) return std::nullopt;
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  const auto is_used = [this](std::int32_t number) {
    const std::int32_t first_host = groups_[static_cast<std::size_t>(number)][0];
    return group_[static_cast<std::size_t>(first_host)] >= 0;
  };
  found.erase(std::remove_if(found.begin(), found.end(), is_used), found.end());
  if (found.empty() || used_.size() + found.size() > MOST_GROUPS) return std::nullopt;
  const auto first = static_cast<std::size_t>(found[0]);
  if (used_.empty() && groups_[first].size() == 1) return std::nullopt;
  for (const std::int32_t number : found) {
    if (add(number)) continue;
    std::fill(group_of_.begin(), group_of_.end(), -1);  // nothing that was said is trusted now
    return std::nullopt;
  }
  return made();
}

RouteGroups KnownGroups::made() const {
  const auto count = static_cast<std::int32_t>(used_.size());
  std::vector<Links> parts = parts_;
  std::vector<double> latencies_s;
  for (std::int32_t from = 0; from < count; ++from) {
    for (std::int32_t to = 0; to < count; ++to) {
      const Route& core = cores_.at({from, to});
      const bool has_core = core.links.size() > 2;
      parts.push_back(has_core ? Links(core.links.begin() + 1, core.links.end() - 1) : Links());
      latencies_s.push_back(core.latency_s);
    }
  }
  return RouteGroups(group_, parts, std::move(latencies_s), count);
}

bool KnownGroups::add(std::int32_t alike) {
  const std::vector<std::int32_t>& members = groups_[static_cast<std::size_t>(alike)];
  const auto number = static_cast<std::int32_t>(used_.size());
  used_.push_back(alike);
  const std::int32_t origin = groups_[static_cast<std::size_t>(used_[0])][0];
  const std::int32_t second = members.size() > 1 ? members[1] : origin;
  cores_[{number, number}] = source_.find_once(members[0], second);  // unused for a single host
  for (std::int32_t other = 0; other < number; ++other) {
    const auto group = static_cast<std::size_t>(used_[static_cast<std::size_t>(other)]);
    cores_[{number, other}] = source_.find_once(members[0], groups_[group][0]);
    cores_[{other, number}] = source_.find_once(groups_[group][0], members[0]);
  }
  for (const std::int32_t host : members) {
    const std::int32_t near = host != members[0] ? members[0] : second;
    const Links there = source_.find_once(host, near).links;
    const Links back = source_.find_once(near, host).links;
    const auto at = static_cast<std::size_t>(host);
    group_[at] = number;
    parts_[at].assign(there.begin(), there.begin() + !there.empty());
    parts_[hosts_ + at].assign(back.end() - !back.empty(), back.end());
    if (members.size() > 1 && !fits(host, number, near, number)) return false;
    if (number > 0 && !fits(host, number, origin, 0)) return false;
  }
  return true;
}

bool KnownGroups::fits(std::int32_t host, std::int32_t number, std::int32_t other,
                       std::int32_t group) {
  const Route there = source_.find_once(host, other);
  const Route back = source_.find_once(other, host);
  const Route& core = cores_.at({number, group});
  const Route& core_back = cores_.at({group, number});
  if (core.links.size() < 2 || core_back.links.size() < 2) return false;
  Links whole = parts_[static_cast<std::size_t>(host)];
  whole.insert(whole.end(), core.links.begin() + 1, core.links.end() - 1);
  Links whole_back(core_back.links.begin() + 1, core_back.links.end() - 1);
  const Links& down = parts_[hosts_ + static_cast<std::size_t>(host)];
  whole_back.insert(whole_back.end(), down.begin(), down.end());
  return !there.links.empty() && !back.links.empty() &&
         Links(there.links.begin(), there.links.end() - 1) == whole &&
         Links(back.links.begin() + 1, back.links.end()) == whole_back &&
         there.latency_s == core.latency_s && back.latency_s == core_back.latency_s;
}

}  // namespace spillway
