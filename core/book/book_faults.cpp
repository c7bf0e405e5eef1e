// Whether the records of the book and its timeline agree with each other.
#include <algorithm>

#include "book/book.hpp"

namespace spillway {

std::string Book::fault() const {
  std::vector<JobPtr> holder(holder_.size());
  for (const auto& [id, held] : entries_) {
    if (bool(held.running) == bool(held.held))
      return "job " + id + " must run or hold a burst buffer, one of both";
    if (held.lifted) return "job " + id + " was taken off its nodes and not put onto others";
    for (const BookingPtr& part : held.parts) {
      if (part->start_s > part->end_s) return "job " + id + " is booked backwards";
      if (!(part->kinds & NODES)) continue;
      for (const std::int32_t node : part->allocation->nodes) {
        if (holder[std::size_t(node)]) return "node " + std::to_string(node) + " is held twice";
        holder[std::size_t(node)] = held.job;
      }
    }
    if (held.running && !(*held.running->allocation == *parts_of(id)->as_one()))
      return "job " + id + " is published with something else than it holds";
  }
  for (std::size_t node = 0; node < holder.size(); ++node)
    if ((holder[node] == nullptr) != (holder_[node] == nullptr))
      return "holders do not follow from the bookings";
  if (timeline_->holds_nodes_longer()) return "";
  for (const double time_s : {timeline_->now_s(), NEVER})
    if (std::string found = timeline_fault(time_s); !found.empty()) return found;
  return "";
}

// Whether the timeline equals the bookings at a time: nothing over-committed, nothing leaked.
std::string Book::timeline_fault(double time_s) const {
  const Machine& machine = *timeline_->machine();
  const Facts& facts = machine.facts();
  const std::int64_t* row = timeline_->row(time_s < NEVER ? 0 : timeline_->size() - 1);
  const std::string at = "at " + std::to_string(time_s) + " s other ";
  std::vector<bool> free(std::size_t(facts.nodes), true);
  for (const std::int32_t node : nodes_out_) free[std::size_t(node)] = false;
  std::vector<std::int64_t> bytes = facts.storage_bytes, rates = facts.link_rates, pools;
  for (const Pool& pool : facts.pools) pools.push_back(pool.count);
  std::string fault;
  const auto take = [&](Kinds kinds, const Allocation& part, double start_s, double end_s) {
    if (!(start_s <= time_s && (time_s < end_s || end_s == NEVER))) return;
    if (kinds & NODES)
      for (const std::int32_t node : part.nodes) {
        if (!free[std::size_t(node)] && !node_out(node))
          fault = "node " + std::to_string(node) + " is booked twice";
        free[std::size_t(node)] = false;
      }
    if (kinds & BURST_BUFFERS)
      for (const std::int32_t storage : part.storages) bytes[std::size_t(storage)] -= part.bb_bytes;
    if ((kinds & BANDWIDTH) && part.io_rate && !rates.empty())
      for (const std::int32_t node : part.nodes)
        for (std::int32_t link = facts.node_link[std::size_t(node)]; link >= 0;
             link = facts.link_parents[std::size_t(link)])
          rates[std::size_t(link)] -= part.io_rate;
    if (kinds & POOLS)
      for (std::size_t pool = 0; pool < part.pools.size(); ++pool) pools[pool] -= part.pools[pool];
  };
  for (const auto& [id, held] : entries_)
    for (const BookingPtr& part : held.parts)
      take(part->kinds, *part->allocation, part->start_s, part->end_s);
  for (const KeptBuffer& buffer : kept_)
    take(BURST_BUFFERS, *buffer.allocation, buffer.since_s, NEVER);
  if (!fault.empty()) return fault;
  for (std::size_t storage = 0; storage < bytes.size(); ++storage) {
    if (bytes[storage] < 0) return "storage node " + std::to_string(storage) + " is over-committed";
    const auto drained = drained_.find(std::int32_t(storage));
    if (drained != drained_.end())
      bytes[storage] = std::max<std::int64_t>(0, bytes[storage] - drained->second);
    if (storage_out(std::int32_t(storage))) bytes[storage] = 0;
  }
  for (std::size_t node = 0; node < free.size(); ++node)
    if ((std::uint64_t(row[HEAD + std::int64_t(node / 64)]) >> (node % 64) & 1) != free[node])
      return at + "nodes are free";
  for (std::size_t storage = 0; storage < bytes.size(); ++storage)
    if (row[machine.first_storage + std::int64_t(storage)] != bytes[storage])
      return at + "bytes are free";
  for (std::size_t link = 0; link < rates.size(); ++link)
    if (row[machine.first_link + std::int64_t(link)] != rates[link])
      return at + "bandwidth is free";
  for (std::size_t pool = 0; pool < pools.size(); ++pool)
    if (row[machine.first_pool + std::int64_t(pool)] != pools[pool])
      return at + "amounts of pools are free";
  return "";
}

}  // namespace spillway
