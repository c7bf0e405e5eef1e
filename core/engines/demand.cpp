#include "engines/demand.hpp"

#include <algorithm>

namespace spillway {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

DemandSum::DemandSum(const Network& network)
    : places_(network.bandwidths.size(), -1),
      counts_(network.bandwidths.size(), 0),
      seen_(network.speeds.size(), 0) {}

void DemandSum::add_up(Network& network, const Task& task, Demand& demand) {
  demand.weights.clear();
  demand.latency_s = 0.0;
  demand.window = 0.0;
  add_work(network, task, demand);
  if (task.bytes_each_pair > 0.0) {
    add_all_to_all(network, task, demand);
  } else {
    add_flows(network, task, demand);
  }
}

void DemandSum::add_work(const Network& network, const Task& task, Demand& demand) const {
  for (std::size_t position = 0; position < task.hosts.size(); ++position) {
    const double flops = task.work(position);
    if (flops > 0.0) demand.weights.push_back({network.links() + task.hosts[position], flops});
  }
}

void DemandSum::add_flows(Network& network, const Task& task, Demand& demand) {
  Routes& routes = network.routes;
  ids_.clear();  // all at first: what the source throws must leave nothing half done
  for (const Flow& flow : task.flows) {
    ids_.push_back(flow.bytes > 0.0 ? routes.find(flow.from, flow.to) : -1);
  }
  for (std::size_t k = 0; k < task.flows.size(); ++k) {
    const Flow& flow = task.flows[k];
    const std::int32_t route = ids_[k];
    if (route < 0) continue;
    demand.latency_s = std::max(demand.latency_s, routes.latency_s(route));
    demand.window = std::max(demand.window, routes.latency_s(route) * flow.bytes);
    for (const std::int32_t link : routes.links(route))
      add_bytes(network, link, flow.bytes, demand);
  }
  for (const Weight& weight : demand.weights) {
    if (weight.resource < network.links()) places_[at(weight.resource)] = -1;
  }
}

/// The weight on a link is the sum over the pairs that use it; on a fat pipe it is the largest.
void DemandSum::add_bytes(const Network& network, std::int32_t link, double bytes, Demand& demand) {
  std::int32_t& place = places_[at(link)];
  if (place < 0) {
    place = static_cast<std::int32_t>(demand.weights.size());
    demand.weights.push_back({link, bytes});
    return;
  }
  double& amount = demand.weights[at(place)].amount;
  amount = network.fatpipe[at(link)] ? std::max(amount, bytes) : amount + bytes;
}

void DemandSum::add_all_to_all(Network& network, const Task& task, Demand& demand) {
  Routes& routes = network.routes;
  if (task.hosts.size() < 2) return;
  if (!are_grouped(routes.groups(), task.hosts)) routes.prepare(task.hosts);
  demand.latency_s = are_grouped(routes.groups(), task.hosts) ? count_by_groups(routes, task.hosts)
                                                              : count_by_pairs(routes, task.hosts);
  demand.window = demand.latency_s * task.bytes_each_pair;
  counts_to_bytes(network, task.bytes_each_pair, demand);
  routes.look_for_groups();
}

bool DemandSum::are_grouped(const RouteGroups& groups, const std::vector<std::int32_t>& hosts) {
  bool known = true;
  bool distinct = true;
  for (const std::int32_t host : hosts) {
    known = known && groups.of(host) >= 0;
    distinct = distinct && !seen_[at(host)];
    seen_[at(host)] = 1;
  }
  for (const std::int32_t host : hosts) seen_[at(host)] = 0;
  return known && distinct;
}

double DemandSum::count_by_pairs(Routes& routes, const std::vector<std::int32_t>& hosts) {
  ids_.clear();  // all at first: what the source throws must leave nothing half done
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t j = 0; j < hosts.size(); ++j) {
      if (i != j) ids_.push_back(routes.find(hosts[i], hosts[j]));
    }
  }
  routes.note_visit(hosts);
  double latency_s = 0.0;
  for (const std::int32_t route : ids_) {
    latency_s = std::max(latency_s, routes.latency_s(route));
    count(routes.links(route), 1);
  }
  return latency_s;
}

double DemandSum::count_by_groups(const Routes& routes, const std::vector<std::int32_t>& hosts) {
  const RouteGroups& groups = routes.groups();
  const auto others = static_cast<std::int64_t>(hosts.size()) - 1;
  sizes_.resize(at(groups.count()), 0);
  present_.clear();
  for (const std::int32_t host : hosts) {
    count(groups.up(host), others);
    count(groups.down(host), others);
    std::int64_t& size = sizes_[at(groups.of(host))];
    if (size == 0) present_.push_back(groups.of(host));
    ++size;
  }
  double latency_s = 0.0;
  for (const std::int32_t from : present_) {
    for (const std::int32_t to : present_) {
      const std::int64_t size = sizes_[at(from)];
      const std::int64_t times = from == to ? size * (size - 1) : size * sizes_[at(to)];
      if (times == 0) continue;
      latency_s = std::max(latency_s, groups.latency_s(from, to));
      count(groups.core(from, to), times);
    }
  }
  for (const std::int32_t group : present_) sizes_[at(group)] = 0;
  return latency_s;
}

void DemandSum::count(const LinkRange& part, std::int64_t times) {
  for (const std::int32_t link : part) {
    if (counts_[at(link)] == 0) counted_.push_back(link);
    counts_[at(link)] += times;
  }
}

/// As many additions as a link has occurrences, rounded one by one; links with fewer come first, so
/// that one run of additions serves all.
void DemandSum::counts_to_bytes(const Network& network, double bytes, Demand& demand) {
  const std::size_t first = demand.weights.size();
  by_count_.clear();
  for (std::size_t place = 0; place < counted_.size(); ++place) {
    by_count_.push_back(place);
    demand.weights.push_back({counted_[place], bytes});
  }
  std::sort(by_count_.begin(), by_count_.end(), [this](std::size_t one, std::size_t other) {
    return counts_[at(counted_[one])] < counts_[at(counted_[other])];
  });
  double sum = 0.0;
  std::int64_t added = 0;
  for (const std::size_t place : by_count_) {
    const std::int32_t link = counted_[place];
    if (network.fatpipe[at(link)]) continue;
    for (; added < counts_[at(link)]; ++added) sum += bytes;
    demand.weights[first + place].amount = sum;
  }
  for (const std::int32_t link : counted_) counts_[at(link)] = 0;
  counted_.clear();
}

}  // namespace spillway
