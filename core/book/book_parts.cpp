// Parts of jobs: how they are booked, released, moved, and shown as one job.
#include <algorithm>

#include "book/book.hpp"

namespace spillway {

Book::Entry& Book::entry(const std::string& job_id) { return entries_[job_id]; }

const Book::Entry* Book::find(const std::string& job_id) const {
  const auto found = entries_.find(job_id);
  return found == entries_.end() ? nullptr : &found->second;
}

void Book::enter(Entry& entry, BookingPtr part) {
  watch(part);
  entry.parts.push_back(std::move(part));
}

void Book::add_extra(Entry& entry, const AllocationPtr& allocation, double now_s, double until_s) {
  // Whenever they are overdue, they are booked again for as long.
  const double extension_s = std::max(until_s - now_s, SHORTEST_S);
  book(now_s, now_s + extension_s, *allocation, ALL_KINDS);
  enter(entry, std::make_shared<Booking>(Booking{entry.job, ALL_KINDS, allocation, now_s,
                                                 now_s + extension_s, 0.0, extension_s, true}));
}

void Book::watch(const BookingPtr& part) {
  if (part->end_s < NEVER) ends_.push({part->end_s, part->job->number, ++pushed_, part});
}

void Book::free(const Nodes& nodes) {
  for (const std::int32_t node : nodes) holder_[std::size_t(node)] = nullptr;
}

// Book the available part of an allocation.
void Book::book(double start_s, double end_s, const Allocation& allocation, Kinds kinds) {
  if (nodes_out_.empty() && storages_out_.empty()) {
    reserve(start_s, end_s, allocation, kinds);
    return;
  }
  for (const auto& [part, kind] : available(allocation, kinds)) reserve(start_s, end_s, part, kind);
}

// Release some of a part from now on, also exactly at its end: published rules hold nodes a step
// longer.
void Book::release(const Booking& part, const Allocation& allocation, Kinds kinds, double now_s) {
  if (part.end_s >= now_s) give(*timeline_, now_s, part.end_s, allocation, kinds);
}

// Release the available part of an allocation, in the timeline or in a copy of it.
void Book::give(Timeline& timeline, double start_s, double end_s, const Allocation& allocation,
                Kinds kinds) const {
  Refusal refusal;
  if (nodes_out_.empty() && storages_out_.empty()) {
    if (!timeline.release(start_s, end_s, allocation, kinds, refusal)) throw Overbooking(refusal);
    return;
  }
  for (const auto& [part, kind] : available(allocation, kinds))
    if (!timeline.release(start_s, end_s, part, kind, refusal)) throw Overbooking(refusal);
}

// Book in the timeline; entries were checked before, so that a refusal is a fault of the caller.
void Book::reserve(double start_s, double end_s, const Allocation& allocation, Kinds kinds) {
  Refusal refusal;
  if (!timeline_->reserve(start_s, end_s, allocation, kinds, refusal)) throw Overbooking(refusal);
}

// The available parts of an allocation, with the kinds that apply to each.
std::vector<std::pair<Allocation, Kinds>> Book::available(const Allocation& allocation,
                                                          Kinds kinds) const {
  const auto any_out = [](const Nodes& out, const Nodes& some) {
    return std::any_of(some.begin(), some.end(), [&](std::int32_t one) { return has(out, one); });
  };
  if (!any_out(nodes_out_, allocation.nodes) && !any_out(storages_out_, allocation.storages))
    return {{allocation, kinds}};
  Allocation left = there(allocation), nodes, pools, buffers, links;
  nodes.nodes = std::move(left.nodes);
  pools.pools = allocation.pools;
  buffers.storages = std::move(left.storages);
  buffers.bb_bytes = allocation.bb_bytes;
  links.nodes = allocation.nodes;
  links.io_rate = allocation.io_rate;
  std::vector<std::pair<Allocation, Kinds>> found;
  if (kinds & NODES) found.emplace_back(std::move(nodes), NODES);
  if (kinds & POOLS) found.emplace_back(std::move(pools), POOLS);
  if (kinds & BURST_BUFFERS) found.emplace_back(std::move(buffers), BURST_BUFFERS);
  if (kinds & BANDWIDTH) found.emplace_back(std::move(links), BANDWIDTH);
  return found;
}

// Extend a booking that a job has outlived: nodes by the estimator, all else by its extension.
void Book::extend(Entry& entry, const BookingPtr& part, double now_s) {
  double until_s = now_s + part->extension_s;
  bool by_nodes = entry.running && (part->kinds & NODES) && !part->extra;
  if (entry.leaving) {
    until_s = now_s + OVERDUE_S;
    by_nodes = false;
  }
  if (by_nodes) {
    const double elapsed_s = now_s - entry.running->start_s;
    const Job& job = *entry.job;
    const double start_s = entry.running->start_s;
    const double limit_s = start_s + job.walltime_s;
    const bool over = limit_s <= now_s && now_s < limit_s + job.over_s;
    const double expected_s =
        over ? job.walltime_s + job.over_s : estimator_->correct_s(entry.job, elapsed_s);
    until_s = std::max(start_s + expected_s, now_s + OVERDUE_S);
  }
  book(now_s, until_s, *part->allocation, part->kinds);
  part->end_s = until_s;
  watch(part);
  if (!by_nodes) return;
  for (const BookingPtr& other : entry.parts)  // its tail begins later, too
    if (other != part && !other->extra && until_s + other->tail_s > std::max(other->end_s, now_s))
      move_end(other, until_s + other->tail_s, now_s);
}

// Extend or shorten the booking of a part, and watch its new end.
void Book::move_end(const BookingPtr& part, double end_s, double now_s) {
  if (end_s > part->end_s)
    book(std::max(part->end_s, now_s), end_s, *part->allocation, part->kinds);
  else if (end_s < part->end_s)
    give(*timeline_, std::max(end_s, now_s), part->end_s, *part->allocation, part->kinds);
  part->end_s = end_s;
  watch(part);
}

// Update what is seen of a job to its present resources, and return it (null for a waiting job).
RunningPtr Book::refresh(Entry& entry, double now_s, const Holdings& past) {
  if (!entry.running) {
    if (!entry.held) {
      entry.order = ++orders_;
      held_order_[entry.order] = &entry;
    }
    entry.held = entry.parts.front()->holding();
    return nullptr;
  }
  accounts.changes(*entry.running, now_s);
  const Running& before = *entry.running;
  const std::optional<Held> held = parts_of(entry.job->id);
  Holdings apart;
  for (const bool extra : {false, true})
    for (const BookingPtr& part : entry.parts)
      if (part->extra == extra) apart.push_back(part->holding());
  if (apart.size() == 1 && apart.front()->kinds == ALL_KINDS) apart.clear();
  Holdings all_past = before.past;
  all_past.insert(all_past.end(), past.begin(), past.end());
  entry.running =
      std::make_shared<Running>(Running{before.job, before.start_s, before.end_s, held->as_one(),
                                        std::move(apart), std::move(all_past)});
  return entry.running;
}

// Bytes held on a storage node now; may exceed the part of its capacity that is not drained.
std::int64_t Book::bytes_on(std::int32_t storage) const {
  std::int64_t sum = 0;
  const auto add = [&](const Allocation& allocation) {
    sum += allocation.bb_bytes *
           std::count(allocation.storages.begin(), allocation.storages.end(), storage);
  };
  for (const auto& [id, held] : entries_)
    for (const BookingPtr& part : held.parts)
      if (part->kinds & BURST_BUFFERS) add(*part->allocation);
  for (const KeptBuffer& buffer : kept_) add(*buffer.allocation);
  return sum;
}

// Keep what remains of a part after some of its kinds were given back, for all or for some nodes.
void Book::leave_left(Entry& entry, const Booking& part, Kinds kinds, const Nodes* nodes) {
  if (part.kinds & ~kinds) {
    auto rest = std::make_shared<Booking>(part);
    rest->kinds = part.kinds & ~kinds;
    enter(entry, std::move(rest));
  }
  if (!nodes) return;
  Allocation kept = without(*part.allocation, *nodes);
  if (kept.nodes.empty()) return;
  auto rest = std::make_shared<Booking>(part);
  rest->kinds = kinds;
  rest->allocation = shared(std::move(kept));
  enter(entry, std::move(rest));
}

}  // namespace spillway
