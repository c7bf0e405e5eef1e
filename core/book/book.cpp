#include "book/book.hpp"

#include <algorithm>

#include "book/lives.hpp"

namespace spillway {

namespace {

const AllocationPtr& nothing() {
  static const AllocationPtr empty = std::make_shared<Allocation>();
  return empty;
}

HoldingPtr until(const Holding& holding, double end_s) {
  Holding ended = holding;
  ended.end_s = end_s;
  return std::make_shared<Holding>(std::move(ended));
}

// An allocation without its storages, and without its pools where these are not held any more.
Allocation bare(const Allocation& allocation, bool counted = true) {
  Allocation part;
  part.nodes = allocation.nodes;
  part.io_rate = allocation.io_rate;
  if (counted) part.pools = allocation.pools;
  return part;
}

AllocationPtr merged(const std::vector<Allocation>& parts) {
  if (parts.empty()) return nothing();
  Allocation whole = parts.front();
  for (std::size_t place = 1; place < parts.size(); ++place) whole = together(whole, parts[place]);
  return shared(std::move(whole));
}

}  // namespace

Book::Book(std::shared_ptr<Timeline> timeline, std::shared_ptr<Estimator> estimator)
    : timeline_(std::move(timeline)),
      estimator_(std::move(estimator)),
      now_s_(timeline_->now_s()),
      holder_(std::size_t(timeline_->machine()->facts().nodes)) {}

// -------------------------------------------------------------------- questions

std::vector<RunningPtr> Book::running() const {
  std::vector<RunningPtr> found;
  found.reserve(order_.size());
  for (const auto& [order, entry] : order_) found.push_back(entry->running);
  return found;
}

RunningPtr Book::running(const std::string& job_id) const {
  const Entry* entry = find(job_id);
  return entry ? entry->running : nullptr;
}

HoldingPtr Book::held(const std::string& job_id) const {
  const Entry* entry = find(job_id);
  return entry ? entry->held : nullptr;
}

std::vector<std::string> Book::held_ids() const {
  std::vector<std::string> found;
  for (const auto& [order, entry] : held_order_) found.push_back(entry->job->id);
  return found;
}

Nodes Book::free_nodes() const {
  Nodes free;
  for (std::int32_t node = 0; node < node_count(); ++node)
    if (!holder(node) && !node_out(node)) free.push_back(node);
  return free;
}

std::int64_t Book::left_bytes(std::int32_t storage) const {
  if (storage_out(storage)) return 0;
  const auto drained = drained_.find(storage);
  if (drained != drained_.end())
    return timeline_->machine()->facts().storage_bytes[std::size_t(storage)] - drained->second -
           bytes_on(storage);
  return timeline_->free_bytes_now(storage);
}

Allocation Book::there(const Allocation& allocation) const {
  Allocation part;
  for (const std::int32_t node : allocation.nodes)
    if (!node_out(node)) part.nodes.push_back(node);
  for (const std::int32_t storage : allocation.storages)
    if (!storage_out(storage)) part.storages.push_back(storage);
  part.bb_bytes = allocation.bb_bytes;
  part.io_rate = allocation.io_rate;
  part.striped = allocation.striped;
  return part;
}

bool Book::holds(const std::string& job_id) const { return find(job_id) != nullptr; }

std::optional<Held> Book::parts_of(const std::string& job_id) const {
  const Entry* entry = find(job_id);
  if (!entry) return std::nullopt;
  if (entry->lifted) return Held{nothing(), entry->lifted->allocation, nothing()};
  const auto& parts = entry->parts;
  if (parts.size() == 1 && parts[0]->kinds == ALL_KINDS)
    return Held{parts[0]->allocation, parts[0]->allocation, parts[0]->allocation};
  bool whole = true, counted = false;
  for (const BookingPtr& part : parts) {
    whole &= part->kinds == ALL_KINDS;
    counted |= (part->kinds & POOLS) != 0;
  }
  std::vector<Allocation> nodes, buffers, links;
  for (const BookingPtr& part : parts) {
    if (whole) {
      nodes.push_back(*part->allocation);
      continue;
    }
    if (part->kinds & NODES) nodes.push_back(bare(*part->allocation, counted));
    if ((part->kinds & BURST_BUFFERS) && !part->allocation->storages.empty())
      buffers.push_back(*part->allocation);
    if (part->kinds & BANDWIDTH) links.push_back(bare(*part->allocation));
  }
  if (whole) {
    const AllocationPtr all = merged(nodes);
    return Held{all, all, all};
  }
  return Held{merged(nodes), merged(buffers), merged(links)};
}

Nodes Book::extra_nodes(const std::string& job_id) const {
  Nodes found;
  if (const Entry* entry = find(job_id))
    for (const BookingPtr& part : entry->parts)
      if (part->extra)
        found.insert(found.end(), part->allocation->nodes.begin(), part->allocation->nodes.end());
  return ascending(std::move(found));
}

std::vector<std::pair<std::string, Usage>> Book::usage(const std::vector<JobPtr>& queue,
                                                       double now_s) const {
  auto sums = accounts.users();
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t place = 0; place < sums.size(); ++place) places[sums[place].first] = place;
  const auto add = [&](const std::string& user, const Usage& used) {
    const auto [found, fresh] = places.try_emplace(user, sums.size());
    if (fresh) sums.emplace_back(user, Usage{});
    sums[found->second].second.node_s += used.node_s;
    sums[found->second].second.byte_s += used.byte_s;
  };
  for (const auto& [order, entry] : order_)
    add(entry->job->user, accounts.used(*entry->running, now_s));
  if (!held_order_.empty())
    for (const JobPtr& job : queue)
      if (const HoldingPtr part = held(job->id)) {
        const auto size =
            double(std::int64_t(part->allocation->storages.size()) * part->allocation->bb_bytes);
        add(job->user, {0.0, size * (now_s - part->start_s)});
      }
  return sums;
}

// -------------------------------------------------------------------- burst buffers without nodes

void Book::hold(const JobPtr& job, const AllocationPtr& allocation, double now_s, double until_s) {
  book(now_s, until_s, *allocation, BURST_BUFFERS);
  Entry& held = entry(job->id);
  held.job = job;
  const double extension_s = std::max(until_s - now_s, OVERDUE_S);
  enter(held, std::make_shared<Booking>(
                  Booking{job, BURST_BUFFERS, allocation, now_s, until_s, 0.0, extension_s}));
  refresh(held, now_s);
}

HoldingPtr Book::evict(const std::string& job_id, double now_s) {
  advance(now_s, &job_id);
  Entry& held = entry(job_id);
  for (const BookingPtr& part : held.parts) release(*part, *part->allocation, part->kinds, now_s);
  const HoldingPtr holding = until(*held.held, now_s);
  accounts.evicted(*held.parts.front()->job, *holding, now_s);
  held_order_.erase(held.order);
  entries_.erase(job_id);
  return holding;
}

void Book::keep(KeptBuffer buffer) {
  book(buffer.since_s, NEVER, *buffer.allocation, BURST_BUFFERS);
  kept_.push_back(std::move(buffer));
}

KeptBuffer Book::discard(const std::string& name, double now_s) {
  advance(now_s);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const KeptBuffer& one) { return one.name == name; });
  KeptBuffer buffer = std::move(*found);
  kept_.erase(found);
  give(*timeline_, now_s, NEVER, *buffer.allocation, BURST_BUFFERS);
  return buffer;
}

// -------------------------------------------------------------------- jobs

void Book::start(const JobPtr& job, const AllocationPtr& allocation, double now_s) {
  const double end_s = now_s + estimator_->estimate_s(job);
  for (const std::int32_t node : allocation->nodes) holder_[std::size_t(node)] = job;
  Entry& started = entry(job->id);
  started.job = job;
  started.running = std::make_shared<Running>(Running{job, now_s, end_s, allocation, {}, {}});
  const HoldingPtr before = started.held;
  if (before) held_order_.erase(started.order);
  started.order = ++orders_;
  order_[started.order] = &started;
  started.held = nullptr;
  if (!job->lives && !before) {
    book(now_s, end_s, *allocation, ALL_KINDS);
    enter(started, std::make_shared<Booking>(Booking{job, ALL_KINDS, allocation, now_s, end_s}));
    return;
  }
  AllocationPtr plain = allocation;
  if (allocation->lives) {  // each part is booked separately here
    Allocation without_lives = *allocation;
    without_lives.lives.reset();
    plain = shared(std::move(without_lives));
  }
  const BookingPtr early = started.parts.empty() ? nullptr : started.parts.front();
  std::vector<BookingPtr> further;
  std::optional<Lives> lives = job->lives;
  if (lives) lives->storage_lead_s = 0.0;  // staged by now
  for (const LifePart& life : parts(lives, now_s, end_s, ALL_KINDS)) {
    const double until_s = std::max(
        life.end_s, now_s);  // a kind that ends before the nodes start is held at their start
    const double tail_s = until_s < NEVER ? until_s - end_s : 0.0;
    Kinds kinds = life.covering;
    if (early && (kinds & BURST_BUFFERS)) {
      // Held before the start; from now on for these nodes, until the end that is expected now.
      early->allocation = plain;
      early->tail_s = tail_s;
      early->extension_s = std::max(tail_s, OVERDUE_S);
      move_end(early, until_s, now_s);
      kinds &= ~BURST_BUFFERS;
    }
    if (kinds) {
      book(now_s, until_s, *plain, kinds);
      further.push_back(std::make_shared<Booking>(
          Booking{job, kinds, plain, now_s, until_s, tail_s, std::max(tail_s, OVERDUE_S)}));
    }
  }
  if (before) accounts.staged(job->id, *before, now_s);
  started.running = std::make_shared<Running>(Running{job, now_s, end_s, plain, {}, {}});
  for (BookingPtr& part : further) enter(started, std::move(part));
  if (started.parts.size() > 1) refresh(started, now_s);
}

RunningPtr Book::end(const std::string& job_id, double now_s) {
  advance(now_s, &job_id);
  Entry& ended = entry(job_id);
  RunningPtr running = ended.running;
  for (const BookingPtr& part : ended.parts) {
    if (part->kinds & NODES) free(part->allocation->nodes);
    release(*part, *part->allocation, part->kinds, now_s);
  }
  order_.erase(ended.order);
  entries_.erase(job_id);
  estimator_->observe(running->job, now_s - running->start_s);
  if (!running->apart.empty()) {
    auto held = std::make_shared<Running>(*running);
    for (HoldingPtr& holding : held->apart) holding = until(*holding, now_s);
    running = std::move(held);
  }
  return running;
}

bool Book::lift(const std::string& job_id, double now_s) {
  Entry& moved = entry(job_id);
  if (moved.parts.size() > 1) return false;
  moved.lifted = moved.parts.front();
  moved.parts.clear();
  free(moved.lifted->allocation->nodes);
  release(*moved.lifted, *moved.lifted->allocation, moved.lifted->kinds, now_s);
  return true;
}

void Book::place(const JobPtr& job, const AllocationPtr& allocation, double now_s) {
  Entry& moved = entry(job->id);
  for (const std::int32_t node : allocation->nodes) holder_[std::size_t(node)] = job;
  const BookingPtr part = std::move(moved.lifted);
  moved.lifted = nullptr;
  book(now_s, part->end_s, *allocation, ALL_KINDS);
  part->allocation = allocation;
  moved.parts = {part};
  const Running& before = *moved.running;
  moved.running =
      std::make_shared<Running>(Running{job, before.start_s, before.end_s, allocation, {}, {}});
}

RunningPtr Book::expand(const std::string& job_id, const AllocationPtr& gained, double now_s,
                        double until_s) {
  advance(now_s);
  Entry& grown = entry(job_id);
  add_extra(grown, gained, now_s, until_s);
  for (const std::int32_t node : gained->nodes) holder_[std::size_t(node)] = grown.job;
  return refresh(grown, now_s);
}

void Book::give_up(const std::string& job_id, const Nodes& nodes, double now_s, double until_s) {
  advance(now_s);
  Entry& shrinking = entry(job_id);
  std::vector<BookingPtr> before;
  before.swap(shrinking.parts);
  for (const BookingPtr& part : before) {
    Allocation gone = only(*part->allocation, nodes);
    const bool whole = part->kinds == ALL_KINDS && !part->extra;
    if (!whole || gone.nodes.empty() || !(now_s < until_s && until_s < part->end_s)) {
      shrinking.parts.push_back(part);
      continue;
    }
    release(*part, gone, part->kinds, now_s);
    leave_left(shrinking, *part, ALL_KINDS, &nodes);
    add_extra(shrinking, shared(std::move(gone)), now_s, until_s);
  }
  refresh(shrinking, now_s);
}

RunningPtr Book::give_back(const std::string& job_id, double now_s, const Nodes* nodes, Kinds kinds,
                           GiveBackFault& why) {
  const Entry* found = find(job_id);
  if (!found || found->lifted) {
    why = {GiveBackFault::NOTHING_HELD, -1};
    return nullptr;
  }
  const Nodes extra = extra_nodes(job_id);
  if (!extra.empty() && kinds != ALL_KINDS && (!nodes || !disjoint(extra, *nodes))) {
    why = {GiveBackFault::EXTRA_NOT_WHOLE, extra.front()};
    return nullptr;
  }
  for (const std::int32_t node : nodes ? *nodes : Nodes{}) {
    bool known = false;
    for (const BookingPtr& part : found->parts)
      known |= (part->kinds & kinds) &&
               std::find(part->allocation->nodes.begin(), part->allocation->nodes.end(), node) !=
                   part->allocation->nodes.end();
    if (!known) {
      why = {GiveBackFault::UNKNOWN_NODE, node};
      return nullptr;
    }
  }
  advance(now_s);
  Entry& giving = entry(job_id);
  Holdings past;
  std::vector<BookingPtr> before;
  before.swap(giving.parts);
  for (const BookingPtr& part : before) {
    const Kinds given = part->kinds & kinds;
    const AllocationPtr gone = nodes ? shared(only(*part->allocation, *nodes)) : part->allocation;
    if (!given || (gone->nodes.empty() && gone->storages.empty())) {
      giving.parts.push_back(part);
      continue;
    }
    if (given & NODES) free(gone->nodes);
    release(*part, *gone, given, now_s);
    if (given != ALL_KINDS)
      past.push_back(std::make_shared<Holding>(Holding{given, gone, part->start_s, now_s}));
    leave_left(giving, *part, given, nodes);
  }
  return refresh(giving, now_s, past);
}

void Book::leave(const std::string& job_id, double until_s, double now_s) {
  advance(now_s);
  Entry& leaving = entry(job_id);
  leaving.leaving = true;
  until_s = std::max(until_s, now_s + OVERDUE_S);
  for (const BookingPtr& part : leaving.parts)
    if (until_s < part->end_s) move_end(part, until_s, now_s);
  refresh(leaving, now_s);
}

void Book::vacate(Timeline& timeline, const std::string& job_id, double from_s, Kinds kinds) const {
  const Entry* entry = find(job_id);
  for (const BookingPtr& part : entry->parts)
    if (from_s < part->end_s && (part->kinds & kinds))
      give(timeline, from_s, part->end_s, *part->allocation, part->kinds & kinds);
}

}  // namespace spillway
