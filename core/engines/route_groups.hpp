#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace spillway {

/// The way from one host to another: numbers of links in order of travel, and the sum of their
/// latencies.
struct Route {
  std::vector<std::int32_t> links;
  double latency_s = 0.0;
};

/// Links of a part of a route, within a longer list.
struct LinkRange {
  const std::int32_t* first = nullptr;
  const std::int32_t* last = nullptr;

  const std::int32_t* begin() const { return first; }
  const std::int32_t* end() const { return last; }
  std::size_t size() const { return static_cast<std::size_t>(last - first); }
};

/// Where routes come from: a platform.
class RouteSource {
 public:
  virtual ~RouteSource() = default;

  /// The route between two hosts; may throw what the platform throws.
  virtual Route find(std::int32_t from, std::int32_t to) = 0;
  /// The same for a caller who asks for each pair once: the source need not remember it.
  virtual Route find_once(std::int32_t from, std::int32_t to) = 0;
  /// Groups of hosts that routing treats alike by construction, apart from the first and the last
  /// link of routes.
  virtual std::vector<std::vector<std::int32_t>> alike() = 0;
};

/// When groups are searched for, and which.
struct GroupLimits {
  /// Most hosts of which all routes are compared; beyond, only groups by construction are used.
  std::int32_t most_hosts = 512;
  /// Fewest missing routes of an all-to-all for which groups by construction are used.
  std::int64_t many = 1000;
};

/// Groups of hosts that routing treats alike.
///
/// Two hosts are alike when, apart from the links that only lead to and from the host itself, the
/// routes between either of them and any third host are the same: the hosts of one router of a
/// Dragonfly, all hosts of a star (not those of a fat-tree's leaf: its routes choose ports by the
/// very host that they lead to). A route between hosts of groups g and h then is: links up from the
/// source, the core from g to h, links down to the destination; an all-to-all can be counted by
/// groups instead of by pairs.
class RouteGroups {
 public:
  RouteGroups() = default;
  /// `group`: of each host, or -1; `parts`: the way up of each host, then the way down to each
  /// host, then the core of each pair of groups (row: source); `latencies_s`: of the whole route,
  /// by pair of groups.
  RouteGroups(std::vector<std::int32_t> group, const std::vector<std::vector<std::int32_t>>& parts,
              std::vector<double> latencies_s, std::int32_t count);

  std::int32_t of(std::int32_t host) const {
    return group_.empty() ? -1 : group_[static_cast<std::size_t>(host)];
  }
  std::int32_t count() const { return count_; }
  LinkRange up(std::int32_t host) const { return part(host); }
  LinkRange down(std::int32_t host) const { return part(hosts() + host); }
  LinkRange core(std::int32_t from, std::int32_t to) const {
    return part(2 * hosts() + static_cast<std::int64_t>(from) * count_ + to);
  }
  double latency_s(std::int32_t from, std::int32_t to) const {
    return latencies_s_[static_cast<std::size_t>(from) * static_cast<std::size_t>(count_) +
                        static_cast<std::size_t>(to)];
  }

 private:
  std::int64_t hosts() const { return static_cast<std::int64_t>(group_.size()); }
  LinkRange part(std::int64_t number) const;

  std::vector<std::int32_t> group_;
  std::vector<std::int64_t> begins_;
  std::vector<std::int32_t> links_;
  std::vector<double> latencies_s_;
  std::int32_t count_ = 0;
};

class Routes;

/// Groups some hosts by comparing all routes between them; empty if that gains nothing.
std::optional<RouteGroups> find_groups(Routes& routes, const std::vector<std::int32_t>& members);

/// Groups of a large machine by the construction of its routes, only for the hosts in use.
///
/// Each host's way up and way down are the first and the last link of its routes; that these and
/// the core between two groups make up a route is checked once for each host and direction, inside
/// and outside of its group.
class KnownGroups {
 public:
  KnownGroups(RouteSource& source, std::int32_t hosts);

  /// The groups in use, these hosts' included; empty if a host has no group, or nothing is gained.
  std::optional<RouteGroups> include(const std::vector<std::int32_t>& members);

 private:
  /// Adds a group; false if its routes contradict the platform's construction.
  bool add(std::int32_t alike);
  bool fits(std::int32_t host, std::int32_t number, std::int32_t other, std::int32_t group);
  RouteGroups made() const;

  RouteSource& source_;
  std::size_t hosts_;
  std::vector<std::vector<std::int32_t>> groups_;  // single hosts last
  std::vector<std::int32_t> group_of_;             // by host, in `groups_`; -1 without
  std::vector<std::int32_t> used_;                 // numbers in `groups_`, in order of use
  std::map<std::pair<std::int32_t, std::int32_t>, Route> cores_;  // by numbers in `used_`
  std::vector<std::vector<std::int32_t>> parts_;
  std::vector<std::int32_t> group_;
};

}  // namespace spillway
