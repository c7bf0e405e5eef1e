// The book as time passes: jobs that outlive their expected ends, outages, drains.
#include <algorithm>

#include "book/book.hpp"

namespace spillway {

void Book::advance(double now_s, const std::string* ending) {
  if (now_s != now_s_) {
    timeline_->advance(now_s);
    now_s_ = now_s;
  }
  while (!ends_.empty() && ends_.top().end_s <= now_s) {
    const End end = ends_.top();
    ends_.pop();
    const BookingPtr& part = end.part;
    const std::string& job_id = part->job->id;
    if (part->end_s != end.end_s || (ending && *ending == job_id)) continue;
    const auto found = entries_.find(job_id);
    if (found == entries_.end()) continue;
    Entry& held = found->second;
    if (std::find(held.parts.begin(), held.parts.end(), part) == held.parts.end()) continue;
    extend(held, part, now_s);
    if (!part->extra && (held.held || !held.running->apart.empty())) refresh(held, now_s);
  }
}

void Book::close(const Nodes& nodes, const Nodes& storages, double now_s) {
  advance(now_s);
  timeline_->close(nodes, storages);
  const auto add = [](Nodes& out, const Nodes& more) {
    for (const std::int32_t one : more)
      if (!has(out, one)) out.insert(std::upper_bound(out.begin(), out.end(), one), one);
  };
  add(nodes_out_, nodes);
  add(storages_out_, storages);
}

void Book::open(const Nodes& nodes, const Nodes& storages, double now_s) {
  advance(now_s);
  Nodes back, filled;
  const auto take = [](Nodes& out, const Nodes& some, Nodes& common) {
    Nodes left;
    for (const std::int32_t one : out) (has(some, one) ? common : left).push_back(one);
    out.swap(left);
  };
  take(nodes_out_, nodes, back);
  take(storages_out_, storages, filled);
  timeline_->reopen(back, filled);
  for (const std::int32_t storage : filled) {
    const auto drained = drained_.find(storage);
    if (drained != drained_.end()) timeline_->drain(storage, drained->second);
  }
  const auto again = [&](Kinds kinds, const Allocation& allocation, double end_s) {
    if (!(end_s > now_s)) return;
    if (kinds & NODES) {
      Allocation part;
      for (const std::int32_t node : allocation.nodes)
        if (has(back, node)) part.nodes.push_back(node);
      if (!part.nodes.empty()) reserve(now_s, end_s, part, NODES);
    }
    if (kinds & BURST_BUFFERS) {
      Allocation part;
      for (const std::int32_t storage : allocation.storages)
        if (has(filled, storage)) part.storages.push_back(storage);
      part.bb_bytes = allocation.bb_bytes;
      if (!part.storages.empty()) reserve(now_s, end_s, part, BURST_BUFFERS);
    }
  };
  for (const auto& [id, held] : entries_)
    for (const BookingPtr& part : held.parts) again(part->kinds, *part->allocation, part->end_s);
  for (const KeptBuffer& buffer : kept_) again(BURST_BUFFERS, *buffer.allocation, NEVER);
}

void Book::drain(std::int32_t storage, std::int64_t drained, double now_s) {
  advance(now_s);
  if (drained)
    drained_[storage] = drained;
  else
    drained_.erase(storage);
  if (!storage_out(storage)) timeline_->drain(storage, drained);
}

}  // namespace spillway
