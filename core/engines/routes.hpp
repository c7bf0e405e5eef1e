#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engines/route_groups.hpp"

namespace spillway {

/// The routes of a machine, looked up on demand and kept.
///
/// A hash table leads from pairs of hosts to routes, so that memory follows the pairs in use and
/// not the square of the machine. Groups of hosts that routing treats alike are kept, too; they are
/// searched for once all-to-alls have visited so many pairs that the search is cheap in comparison.
class Routes {
 public:
  /// `limits` are those of the search for groups; results never depend on them.
  Routes(std::int32_t hosts, std::unique_ptr<RouteSource> source, GroupLimits limits = {});

  /// Number of the route between two hosts, for the next two functions.
  std::int32_t find(std::int32_t from, std::int32_t to);
  LinkRange links(std::int32_t route) const;
  double latency_s(std::int32_t route) const { return latencies_[static_cast<std::size_t>(route)]; }

  std::int32_t hosts() const { return hosts_; }
  const RouteGroups& groups() const { return groups_; }
  RouteSource& source() const { return *source_; }

  /// Makes routes ready for an all-to-all among hosts without known groups: a machine too large for
  /// a search takes its groups by construction.
  void prepare(const std::vector<std::int32_t>& members);
  /// Notes that all pairs of these hosts were visited.
  void note_visit(const std::vector<std::int32_t>& members);
  /// Searches for groups among the hosts of all-to-alls, if enough of their pairs were visited.
  void look_for_groups();
  /// Counts all-to-alls among these hosts by groups from now on, if routing treats some of them
  /// alike.
  void group(const std::vector<std::int32_t>& members);

 private:
  static constexpr std::int64_t VACANT = -1;

  std::int64_t key(std::int32_t from, std::int32_t to) const {
    return static_cast<std::int64_t>(from) * hosts_ + to;
  }
  /// Place of a key in the hash table, or the vacant place for it; the table is never full.
  std::size_t place(std::int64_t key) const;
  std::int32_t add(std::int64_t key, const Route& route);
  bool many_missing(const std::vector<std::int32_t>& members) const;

  std::int32_t hosts_;
  std::unique_ptr<RouteSource> source_;
  GroupLimits limits_;
  std::vector<std::int64_t> keys_;
  std::vector<std::int32_t> ids_;
  std::vector<std::int64_t> begins_;  // of each route in `links_`
  std::vector<std::int32_t> links_;
  std::vector<double> latencies_;
  RouteGroups groups_;
  std::optional<KnownGroups> known_;
  std::int64_t visits_ = 0;
  std::int64_t next_search_ = 0;
  std::vector<char> took_part_;  // by host: whether it was in an all-to-all
};

}  // namespace spillway
