#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engines/network.hpp"
#include "engines/task.hpp"

namespace spillway {

/// What a task asks of one resource for its whole work, in the resource's unit times seconds.
/// Resources are numbered links first, then the processors of the hosts.
struct Weight {
  std::int32_t resource;
  double amount;
};

/// What a task asks of the machine.
struct Demand {
  std::vector<Weight> weights;
  /// Largest latency of its transfers.
  double latency_s = 0.0;
  /// Largest product of a transfer's latency and bytes, which the TCP window bounds.
  double window = 0.0;
};

/// Adds up the demand of tasks.
///
/// An all-to-all counts the occurrences of each link, by groups of hosts if these are known, and
/// then turns counts into bytes. Sums of bytes are rounded exactly as in SimGrid, which adds pair
/// after pair.
class DemandSum {
 public:
  explicit DemandSum(const Network& network);

  void add_up(Network& network, const Task& task, Demand& demand);

 private:
  void add_work(const Network& network, const Task& task, Demand& demand) const;
  void add_flows(Network& network, const Task& task, Demand& demand);
  void add_bytes(const Network& network, std::int32_t link, double bytes, Demand& demand);
  void add_all_to_all(Network& network, const Task& task, Demand& demand);
  /// Each counts the links of an all-to-all and returns its largest latency.
  double count_by_pairs(Routes& routes, const std::vector<std::int32_t>& hosts);
  double count_by_groups(const Routes& routes, const std::vector<std::int32_t>& hosts);
  void count(const LinkRange& part, std::int64_t times);
  void counts_to_bytes(const Network& network, double bytes, Demand& demand);
  /// Whether all hosts belong to groups, and no host occurs twice.
  bool are_grouped(const RouteGroups& groups, const std::vector<std::int32_t>& hosts);

  std::vector<std::int32_t> ids_;  // routes of the task
  /// By link: place of its weight in the demand that is added up, or -1.
  std::vector<std::int32_t> places_;
  /// By link: occurrences in the all-to-all that is counted; and the links with such, in order of
  /// the first.
  std::vector<std::int64_t> counts_;
  std::vector<std::int32_t> counted_;
  std::vector<std::size_t> by_count_;
  std::vector<char> seen_;             // by host
  std::vector<std::int64_t> sizes_;    // by group: hosts of the all-to-all in it
  std::vector<std::int32_t> present_;  // groups with such
};

}  // namespace spillway
