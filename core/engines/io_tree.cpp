#include "engines/io_tree.hpp"

#include <algorithm>

#include "engines/water_filling.hpp"

namespace spillway {
namespace {

/// 1 MB/s: the unit of the authors' emulator.
constexpr double MEGABYTE_PER_S = 1e6;

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

IoTree::IoTree(std::vector<IoLink> links, std::vector<std::int32_t> above, bool whole_units)
    : above_(std::move(above)),
      whole_units_(whole_units),
      requests_(above_.size(), 0.0),
      factors_(above_.size(), 1.0) {
  for (const IoLink& link : links) {
    if (link.parent >= 0)
      node(link.parent).inner.push_back(static_cast<std::int32_t>(nodes_.size()));
    nodes_.emplace_back();
    nodes_.back().link = link;
  }
  for (std::size_t host = 0; host < above_.size(); ++host) {
    if (above_[host] >= 0) node(above_[host]).hosts.push_back(static_cast<std::int32_t>(host));
  }
}

void IoTree::change_demand(const std::vector<IoRate>& rates, double sign) {
  for (const IoRate& rate : rates) {
    const std::int32_t innermost = above(rate.host);
    if (innermost < 0) continue;
    const double change = sign * rate.bytes_per_s;
    request(node(innermost), rate.host, change);
    for (std::int32_t number = innermost; number >= 0; number = node(number).link.parent) {
      Node& passed = node(number);
      passed.requested += change;
      if (passed.requested > passed.link.bytes_per_s) {
        over_.insert(number);
      } else {
        over_.erase(number);
      }
    }
  }
}

void IoTree::request(Node& innermost, std::int32_t host, double change) {
  double& present = requests_[at(host)];
  if (present > 0.0) {
    const auto found = innermost.rates.find(present);
    if (--found->second == 0) innermost.rates.erase(found);
    --innermost.users;
  }
  present += change;
  if (present > 0.0) {
    ++innermost.rates[present];
    ++innermost.users;
  }
}

void IoTree::share() {
  for (Node& sharing : nodes_) {
    sharing.factor = 1.0;
    sharing.by_host = false;
    sharing.given = 0.0;
  }
  for (Node& sharing : nodes_) {
    if (sharing.requested == 0.0) continue;
    if (sharing.link.parent < 0) sharing.given = sharing.requested;
    const double peak = std::min(sharing.given, sharing.link.bytes_per_s);
    if (sharing.requested <= peak) {
      for (const std::int32_t child : sharing.inner) node(child).given = node(child).requested;
    } else {
      share_among_children(sharing, peak);
    }
  }
}

void IoTree::share_among_children(Node& sharing, double peak) {
  const double unit = whole_units_ ? MEGABYTE_PER_S : 1.0;
  std::vector<std::int32_t> inner;
  std::vector<double> requests;
  for (const std::int32_t child : sharing.inner) {
    if (node(child).requested == 0.0) continue;
    inner.push_back(child);
    requests.push_back(node(child).requested / unit);
  }
  if (inner.empty() && !whole_units_ && sharing.rates.size() == 1) {
    // Equal requests get equal shares, without a list of them.
    const double part = peak / static_cast<double>(sharing.users);
    sharing.factor = interference_factor(part, sharing.rates.begin()->first);
    return;
  }
  for (const std::int32_t host : sharing.hosts) {
    if (requests_[at(host)] > 0.0) requests.push_back(requests_[at(host)] / unit);
  }
  const std::vector<double> shares = water_fill(requests, peak / unit, whole_units_);
  std::size_t served = 0;
  for (const std::int32_t child : inner) node(child).given = shares[served++] * unit;
  sharing.by_host = true;
  for (const std::int32_t host : sharing.hosts) {
    const double request = requests_[at(host)];
    if (request > 0.0) factors_[at(host)] = interference_factor(shares[served++] * unit, request);
  }
}

double IoTree::factor(std::int32_t host) const {
  const Node& innermost = node(above(host));
  return innermost.by_host ? factors_[at(host)] : innermost.factor;
}

}  // namespace spillway
