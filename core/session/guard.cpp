#include "session/guard.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace spillway {

namespace {

using Wholes = std::vector<std::pair<std::int32_t, std::int64_t>>;  // a number for each index, in
                                                                    // order of appearance

// Batsim's clock may be this far past the rounded time that it prints: an earlier call may be in
// its past.
constexpr double SHORTEST_CALL_S = 1e-6;

void count(Wholes& counts, std::int32_t index, std::int64_t more) {
  const auto found = std::find_if(counts.begin(), counts.end(),
                                  [&](const auto& one) { return one.first == index; });
  if (found == counts.end())
    counts.emplace_back(index, more);
  else
    found->second += more;
}

// The first fault of the nodes: they do not ascend, are unknown, held or out.
void check_nodes(const Book& book, const Job& job, const Nodes& nodes) {
  const std::int32_t most = book.node_count();
  std::int32_t last = -1;
  bool ascend = true;
  for (const std::int32_t node : nodes) {
    if (!(last < node && node < most)) {
      ascend = false;
      break;
    }
    if (const JobPtr& holder = book.holder(node)) {
      Refusing refused(Refused::NODE_HELD, job.id, node);
      refused.text = holder->id;
      throw refused;
    }
    last = node;
  }
  if (ascend) {
    for (const std::int32_t node : nodes)
      if (book.node_out(node)) throw Refusing(Refused::NODE_OUT, job.id, node);
    return;
  }
  for (const std::int32_t node : nodes)
    if (node < 0 || node >= most) throw Refusing(Refused::NODE_UNKNOWN, job.id, node, most);
  for (const std::int32_t node : nodes)
    if (std::count(nodes.begin(), nodes.end(), node) > 1)
      throw Refusing(Refused::NODE_TWICE, job.id, node);
  throw Refusing(Refused::NODES_DESCEND, job.id);
}

void check_partition(const Facts& facts, const Job& job, const Nodes& nodes) {
  const auto inside = [&](std::int32_t place, std::int32_t node) {
    return has(facts.partitions[std::size_t(place)], node);
  };
  for (const std::int32_t place : job.partitions)
    if (std::all_of(nodes.begin(), nodes.end(),
                    [&](std::int32_t node) { return inside(place, node); }))
      return;
  for (const std::int32_t node : nodes)
    if (std::none_of(job.partitions.begin(), job.partitions.end(),
                     [&](std::int32_t place) { return inside(place, node); }))
      throw Refusing(Refused::NODE_OUTSIDE, job.id, node);
  throw Refusing(Refused::NO_ONE_PARTITION, job.id);
}

// Under `rack`, a storage outside its node's own rack is refused; a buffer without nodes is not
// checked.
void check_racks(const Facts& facts, const Job& job, const Allocation& allocation) {
  if (facts.storage_order != StorageOrder::RACK || allocation.striped) return;
  const std::size_t storages = facts.storage_bytes.size();
  for (std::size_t place = 0; place < std::min(allocation.nodes.size(), allocation.storages.size());
       ++place) {
    const std::int32_t node = allocation.nodes[place], storage = allocation.storages[place];
    const auto first = facts.nearest.begin() + std::ptrdiff_t(std::size_t(node) * storages);
    const auto own = first + facts.own[std::size_t(node)];
    if (std::find(first, own, storage) == own)
      throw Refusing(Refused::STORAGE_AWAY, job.id, node, storage);
  }
}

void check_space(const Book& book, const Job& job, const Allocation& allocation) {
  const auto most = std::int32_t(book.timeline().machine()->facts().storage_bytes.size());
  Wholes requests;
  for (const std::int32_t storage : allocation.storages) count(requests, storage, 1);
  for (const auto& [storage, number] : requests) {
    if (storage < 0 || storage >= most)
      throw Refusing(Refused::STORAGE_UNKNOWN, job.id, storage, most);
    if (book.storage_out(storage)) throw Refusing(Refused::STORAGE_OUT, job.id, storage);
  }
  for (const auto& [storage, number] : requests) {
    const std::int64_t size = number * allocation.bb_bytes,
                       left = book.timeline().free_bytes_now(storage);
    if (size > left) throw Refusing(Refused::STORAGE_FULL, job.id, storage, left, size);
  }
}

// The first link, from the nodes outwards, without enough free bandwidth.
void check_flow(const Book& book, const Job& job, const Allocation& allocation) {
  const Facts& facts = book.timeline().machine()->facts();
  if (facts.link_rates.empty()) return;
  Wholes inner, flow;
  for (const std::int32_t node : allocation.nodes)
    count(inner, facts.node_link[std::size_t(node)], 1);
  for (const auto& [innermost, nodes] : inner)
    for (std::int32_t link = innermost; link >= 0; link = facts.link_parents[std::size_t(link)])
      count(flow, link, nodes);
  for (const auto& [link, nodes] : flow) {
    const std::int64_t left = book.timeline().free_rate_now(link),
                       size = nodes * allocation.io_rate;
    if (size > left) throw Refusing(Refused::LINK_FULL, job.id, link, left, size);
  }
}

// The first pool of which an allocation has another amount than the job needs there, or more than
// is free. Amounts of layers depend on the nodes: their rule is checked by the caller. A limit that
// others have overdrawn is no obstacle to an allocation that takes nothing of it.
void check_pools(const Book& book, const Job& job, const Allocation& allocation) {
  const auto& pools = book.timeline().machine()->facts().pools;
  const bool layered =
      std::any_of(pools.begin(), pools.end(), [](const Pool& pool) { return pool.resource >= 0; });
  const auto amount = [](const std::vector<std::int64_t>& amounts, std::size_t pool) {
    return pool < amounts.size() ? amounts[pool] : 0;
  };
  for (std::size_t pool = 0; pool < pools.size() && !layered; ++pool) {
    const std::int64_t wanted = std::abs(amount(job.pools, pool)),
                       given = amount(allocation.pools, pool);
    if (wanted != given)
      throw Refusing(Refused::POOL_AMOUNT, job.id, std::int64_t(pool), wanted, given);
  }
  for (std::size_t pool = 0; pool < std::min(pools.size(), allocation.pools.size()); ++pool) {
    const std::int64_t taken = allocation.pools[pool],
                       left = book.timeline().free_pool_now(std::int64_t(pool));
    if (taken > std::max<std::int64_t>(left, 0) && amount(job.pools, pool) >= 0)
      throw Refusing(Refused::POOL_FULL, job.id, std::int64_t(pool), left, taken);
  }
}

void check_own_buffer(const Held& held, const Job& job, const Allocation& allocation) {
  if (allocation.bb_bytes != held.storage->bb_bytes ||
      ascending(allocation.storages) != ascending(held.storage->storages))
    throw Refusing(Refused::OTHER_BUFFER, job.id);
}

// On a stacked machine an allocation has the same columns, one per task, in each of its rows.
void check_rows(const Facts& facts, const Job& job, const Allocation& allocation) {
  const auto width = std::int32_t(facts.nodes / facts.rows);
  std::vector<std::pair<std::int32_t, Nodes>> rows;
  for (const std::int32_t node : allocation.nodes) {
    if (rows.empty() || rows.back().first != node / width) rows.emplace_back(node / width, Nodes{});
    rows.back().second.push_back(node % width);
  }
  for (const auto& [row, columns] : rows)
    if (std::int64_t(columns.size()) != job.nodes) throw Refusing(Refused::ROW_TASKS, job.id);
  for (const auto& [row, columns] : rows)
    if (columns != rows.front().second) throw Refusing(Refused::ROW_COLUMNS, job.id);
}

}  // namespace

void check_storages(const Book& book, const Job& job, std::int64_t requests,
                    const Allocation& allocation) {
  if (allocation.bb_bytes != job.bb_bytes)
    throw Refusing(Refused::BUFFER_SIZE, job.id, job.bb_bytes, allocation.bb_bytes);
  const std::int64_t wanted = job.bb_bytes ? requests : 0;
  if (std::int64_t(allocation.storages.size()) != wanted)
    throw Refusing(Refused::STORAGE_COUNT, job.id, wanted,
                   std::int64_t(allocation.storages.size()));
  if (allocation.striped != (job.stripes > 0)) throw Refusing(Refused::STRIPING, job.id);
  if (job.stripes) {
    Nodes sorted = ascending(allocation.storages);
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      throw Refusing(Refused::STRIPES_SHARE, job.id, wanted);
  }
  check_racks(book.timeline().machine()->facts(), job, allocation);
  check_space(book, job, allocation);
}

void check_start(const Book& book, bool waiting, const Job& job, std::int64_t nodes,
                 const Allocation& allocation) {
  if (!waiting) throw Refusing(Refused::NOT_WAITING, job.id);
  const Facts& facts = book.timeline().machine()->facts();
  const std::optional<Held> held = book.parts_of(job.id);
  if (held && !held->nodes->nodes.empty())
    throw Refusing(Refused::HOLDS_NODES, job.id, std::int64_t(held->nodes->nodes.size()));
  const auto given = std::int64_t(allocation.nodes.size());
  if (given != nodes && (facts.rows == 1 || !given || given % nodes))
    throw Refusing(Refused::NODE_COUNT, job.id, nodes, given);
  check_nodes(book, job, allocation.nodes);
  if (!job.partitions.empty()) check_partition(facts, job, allocation.nodes);
  if (held)
    check_own_buffer(*held, job, allocation);
  else if (!allocation.storages.empty() || allocation.bb_bytes || job.bb_bytes)
    check_storages(book, job, job.stripes ? job.stripes : nodes, allocation);
  if (allocation.io_rate) {
    if (allocation.io_rate != job.io_rate)
      throw Refusing(Refused::OTHER_RATE, job.id, job.io_rate, allocation.io_rate);
    check_flow(book, job, allocation);
  }
  if (!allocation.pools.empty() || !job.pools.empty()) check_pools(book, job, allocation);
  if (facts.rows > 1) check_rows(facts, job, allocation);
  if (job.lives && job.lives->storage_lead_s != 0.0 && job.bb_bytes != 0 && !held)
    throw Refusing(Refused::BUFFER_FIRST, job.id);
}

void check_hold(const Book& book, bool waiting, const Job& job, const Allocation& allocation,
                double until_s, double now_s) {
  if (!waiting) throw Refusing(Refused::HOLD_NOT_WAITING, job.id);
  if (book.holds(job.id)) throw Refusing(Refused::HOLD_ALREADY, job.id);
  if (!job.bb_bytes) throw Refusing(Refused::HOLD_NOTHING, job.id);
  if (!allocation.nodes.empty() || allocation.io_rate)
    throw Refusing(Refused::HOLD_WITH_NODES, job.id);
  check_storages(book, job, job.requests(), allocation);
  if (!(until_s > now_s)) {
    Refusing refused(Refused::HOLD_PAST, job.id);
    refused.x = until_s;
    throw refused;
  }
}

void check_wake(double time_s, double now_s) {
  if (now_s + SHORTEST_CALL_S <= time_s && time_s < NEVER) return;
  Refusing refused(Refused::WAKE_TIME, "");
  refused.x = time_s;
  throw refused;
}

}  // namespace spillway
