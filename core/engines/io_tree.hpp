#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace spillway {

/// A link between compute hosts and the file system; `parent` is its number, -1 at a root.
struct IoLink {
  double bytes_per_s;
  std::int32_t parent;
};

/// Bytes per second that a host requests of the links above it: a whole number.
struct IoRate {
  std::int32_t host;
  double bytes_per_s;
};

/// The links between compute hosts and the parallel file system, a tree or several, and each host's
/// share of their bandwidth (Herbein et al., HPDC 2016, section 4.4).
///
/// From the roots down, a link shares the smaller of its own bandwidth and its parent's share among
/// its children by `water_fill`. Children request the sum of the requests of the hosts below them,
/// even beyond their own bandwidth, as in the authors' emulator. Sums of requests are whole
/// numbers, exact below 2**53.
class IoTree {
 public:
  /// Every link comes after its parent; `above`: innermost link above each host, or -1;
  /// `whole_units`: shares are cut to whole MB/s.
  IoTree(std::vector<IoLink> links, std::vector<std::int32_t> above, bool whole_units);

  std::int32_t above(std::int32_t host) const { return above_[static_cast<std::size_t>(host)]; }

  /// Adds to (`sign` -1: takes from) the bandwidth that hosts request.
  void change_demand(const std::vector<IoRate>& rates, double sign);
  /// Whether the requests of any link exceed its bandwidth.
  bool contended() const { return !over_.empty(); }
  /// Finds the interference factors of all hosts, for `factor`.
  void share();
  /// Interference factor of a host with a request and a link above it.
  double factor(std::int32_t host) const;

 private:
  /// What is requested of a link, and how it is shared.
  struct Node {
    IoLink link;
    double requested = 0.0;
    double given = 0.0;
    double factor = 1.0;                   // of the hosts right below it, if they all have the same
    bool by_host = false;                  // they have factors of their own
    std::size_t users = 0;                 // hosts right below it with a request
    std::map<double, std::int64_t> rates;  // number of these by request
    std::vector<std::int32_t> inner;       // links right below it
    std::vector<std::int32_t> hosts;       // hosts right below it, ascending
  };

  Node& node(std::int32_t number) { return nodes_[static_cast<std::size_t>(number)]; }
  const Node& node(std::int32_t number) const { return nodes_[static_cast<std::size_t>(number)]; }
  void request(Node& innermost, std::int32_t host, double change);
  void share_among_children(Node& sharing, double peak);

  std::vector<Node> nodes_;
  std::vector<std::int32_t> above_;
  bool whole_units_;
  std::set<std::int32_t> over_;   // links whose requests exceed their bandwidth
  std::vector<double> requests_;  // by host
  std::vector<double> factors_;   // by host, where its link says so
};

}  // namespace spillway
