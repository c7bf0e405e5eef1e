// Bookings of a timeline: reservations, releases, and why they are refused.
#include <algorithm>
#include <cmath>
#include <utility>

#include "book/timeline.hpp"

namespace spillway {
namespace {

constexpr Kinds OTHERS = BURST_BUFFERS | BANDWIDTH | POOLS;

double after(double time_s) { return std::nextafter(time_s, NEVER); }

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

}  // namespace

bool Timeline::reserve(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                       Refusal& why) {
  return book_all(start_s, end_s, allocation, kinds, 1, why);
}

bool Timeline::release(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                       Refusal& why) {
  return book_all(start_s, end_s, allocation, kinds, -1, why);
}

double Timeline::reserve_from(double not_before_s, double duration_s, const Allocation& allocation,
                              Refusal& why) {
  double start_s = not_before_s;
  why.fault = Fault::NONE;
  while (start_s < NEVER) {
    if (reserve(start_s, start_s + duration_s, allocation, ALL_KINDS, why)) return start_s;
    if (why.fault < Fault::NODE) return NEVER;
    start_s = why.until_s;
    why.fault = Fault::NONE;
  }
  return NEVER;
}

bool Timeline::book_all(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                        int sign, Refusal& why) {
  if (allocation.lives) return book_parts(start_s, end_s, allocation, kinds, sign, why);
  if (longer_) return book_longer(start_s, end_s, allocation, kinds, sign, why);
  return book(start_s, end_s, allocation, kinds, sign, why);
}

// Book each part of an allocation over its own interval, all or nothing.
bool Timeline::book_parts(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                          int sign, Refusal& why) {
  if (allocation.storages.empty()) kinds &= ~BURST_BUFFERS;  // nothing to hold before the nodes
  const std::vector<LifePart> all = parts(allocation.lives, start_s, end_s, kinds);
  const auto book_part = [&](const LifePart& part, int one, Refusal& fault) {
    return longer_ ? book_longer(part.start_s, part.end_s, allocation, part.covering, one, fault)
                   : book(part.start_s, part.end_s, allocation, part.covering, one, fault);
  };
  for (std::size_t done = 0; done < all.size(); done++) {
    if (book_part(all[done], sign, why)) continue;
    Refusal none;
    for (std::size_t before = done; before-- > 0;) book_part(all[before], -sign, none);
    if (why.fault >= Fault::NODE && sign > 0) {
      const double lead_s = all[done].start_s > start_s ? allocation.lives->storage_lead_s : 0.0;
      why.until_s = start_before(why.until_s, lead_s);
    }
    return false;
  }
  return true;
}

// The published rule: nodes first, one rounding step longer, unless a reservation begins at the
// end: it has precedence. A job that is extended at its expected end holds the step after it
// already.
bool Timeline::book_longer(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                           int sign, Refusal& why) {
  const double intervals[3][2] = {
      {start_s, after(end_s)}, {start_s, end_s}, {after(start_s), after(end_s)}};
  int held = -1;
  if (kinds & NODES) {
    for (held = 0; held < 3; held++) {
      if (book(intervals[held][0], intervals[held][1], allocation, NODES, sign, why)) break;
    }
    if (held == 3) return false;
  }
  if (!(kinds & OTHERS) || book(start_s, end_s, allocation, kinds & OTHERS, sign, why)) return true;
  Refusal none;
  if (held >= 0) book(intervals[held][0], intervals[held][1], allocation, NODES, -sign, none);
  return false;
}

// Book an allocation, also for replicas of jobs that share nodes in time, and on drained storage
// nodes.
bool Timeline::book(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                    int sign, Refusal& why) {
  if (machine_->facts().rows > 1 && kinds & NODES && !allocation.striped &&
      !allocation.storages.empty() && allocation.storages.size() < allocation.nodes.size()) {
    return book_stacked(start_s, end_s, allocation, kinds, sign, why);
  }
  if (!drained_.empty() && allocation.bb_bytes && kinds & BURST_BUFFERS &&
      std::any_of(allocation.storages.begin(), allocation.storages.end(),
                  [&](std::int32_t one) { return drained_.count(one) > 0; })) {
    return book_drained(start_s, end_s, allocation, kinds, sign, why);
  }
  return write(start_s, end_s, allocation, kinds, sign, why);
}

// Replicas of a job in further rows share its buffer: one storage node for each node of its first
// row.
bool Timeline::book_stacked(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                            int sign, Refusal& why) {
  Allocation buffers;
  buffers.nodes.assign(
      allocation.nodes.begin(),
      allocation.nodes.begin() + static_cast<std::ptrdiff_t>(allocation.storages.size()));
  buffers.storages = allocation.storages;
  buffers.bb_bytes = allocation.bb_bytes;
  if (!book(start_s, end_s, buffers, kinds & BURST_BUFFERS, sign, why)) return false;
  if (write(start_s, end_s, allocation, kinds & ~BURST_BUFFERS, sign, why)) return true;
  Refusal none;
  book(start_s, end_s, buffers, kinds & BURST_BUFFERS, -sign, none);
  return false;
}

// Book an allocation with storage nodes that are partly drained, all or nothing.
bool Timeline::book_drained(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                            int sign, Refusal& why) {
  if (!(now_s() <= start_s && start_s < end_s))
    return write(start_s, end_s, allocation, 0, sign, why);
  std::vector<std::pair<std::int32_t, std::int64_t>> sizes;  // in the order of the allocation
  Allocation elsewhere;
  elsewhere.bb_bytes = allocation.bb_bytes;
  for (const std::int32_t storage : allocation.storages) {
    if (!drained_.count(storage)) {
      elsewhere.storages.push_back(storage);
      continue;
    }
    const auto same = std::find_if(sizes.begin(), sizes.end(),
                                   [&](const auto& one) { return one.first == storage; });
    if (same == sizes.end()) {
      sizes.emplace_back(storage, sign * allocation.bb_bytes);
    } else {
      same->second += sign * allocation.bb_bytes;
    }
  }
  for (const auto& [storage, size] : sizes) {
    const Drained& node = drained_.at(storage);
    Drained::Fault fault;
    if (!node.fault(start_s, end_s, size, fault)) continue;
    why.fault = Fault::DRAINED;
    why.taking = sign > 0;
    why.time_s = fault.time_s;
    why.until_s = fault.until_s;
    why.index = storage;
    why.free = fault.booked;
    why.most = node.capacity();
    why.size = size;
    return false;
  }
  if (!write(start_s, end_s, elsewhere, BURST_BUFFERS, sign, why)) return false;
  if (!write(start_s, end_s, allocation, kinds & ~BURST_BUFFERS, sign, why)) {
    Refusal none;
    write(start_s, end_s, elsewhere, BURST_BUFFERS, -sign, none);
    return false;
  }
  for (const auto& [storage, size] : sizes) {
    write_changes(storage, drained_.at(storage).book(start_s, end_s, size));
  }
  return true;
}

// Write changes of the free bytes of a drained storage node to the rows.
void Timeline::write_changes(std::int32_t storage, const std::vector<Drained::Change>& all) {
  for (const Drained::Change& change : all) {
    Allocation part;
    part.storages = {storage};
    part.bb_bytes = std::abs(change.taken);
    Refusal none;
    write(change.start_s, change.end_s, part, BURST_BUFFERS, change.taken > 0 ? 1 : -1, none);
  }
}

// Book an allocation in the rows, or release it, unless free amounts would leave their bounds.
bool Timeline::write(double start_s, double end_s, const Allocation& allocation, Kinds kinds,
                     int sign, Refusal& why) {
  const auto refuse = [&](Fault fault) {
    why.fault = fault;
    why.taking = sign > 0;
    why.until_s = NEVER;
    why.start_s = start_s;
    why.end_s = end_s;
    why.allocation = allocation;
    return false;
  };
  if (!(now_s() <= start_s && start_s < end_s)) {
    return now_s() <= start_s && start_s == end_s ? true : refuse(Fault::INTERVAL);
  }
  const auto requests = static_cast<std::int64_t>(allocation.storages.size());
  const std::int64_t bb_bytes = requests && kinds & BURST_BUFFERS ? allocation.bb_bytes : 0;
  if (bb_bytes < 0 || (requests && bb_bytes > machine_->total_bytes / requests) ||
      (kinds & BANDWIDTH && allocation.io_rate < 0)) {
    return refuse(Fault::SIZES);
  }
  Scratch& scratch = Scratch::of(*machine_, size());
  const Fault wrong = measure(allocation, kinds, scratch.usage);
  if (wrong != Fault::NONE) return refuse(wrong);
  const std::int64_t segment = conflict(start_s, end_s, scratch.usage, sign);
  if (segment >= 0) {
    refuse(Fault::NONE);
    why.time_s = std::max(time_s(segment), start_s);
    explain(segment, scratch.usage, why);
    if (sign > 0) why.until_s = room_after(segment, end_s - start_s, scratch.usage);
    return false;
  }
  steps_.book(start_s, end_s, scratch.usage, sign);
  return true;
}

// Write the usage of an allocation.
Fault Timeline::measure(const Allocation& allocation, Kinds kinds, std::int64_t* usage) const {
  const Machine& machine = *machine_;
  const std::int64_t count = machine.facts().nodes;
  const std::int64_t io_rate = kinds & BANDWIDTH && machine.links
                                   ? std::min(allocation.io_rate, machine.widest_rate + 1)
                                   : 0;
  std::fill(usage, usage + machine.width, 0);
  std::uint64_t* words = words_of(usage + HEAD);
  for (const std::int32_t node : allocation.nodes) {
    if (node < 0 || node >= count || words[node >> 6] & bit_of(node)) return Fault::BAD_NODE;
    words[node >> 6] |= bit_of(node);
    if (!io_rate) continue;
    for (std::int32_t link = machine.facts().node_link[at(node)]; link >= 0;
         link = machine.facts().link_parents[at(link)]) {
      usage[machine.first_link + link] += io_rate;
    }
  }
  if (kinds & NODES) {
    usage[FREE_NODES] = static_cast<std::int64_t>(allocation.nodes.size());
  } else {
    std::fill(words, words + machine.words, 0);
  }
  if (kinds & BURST_BUFFERS) {
    if (kinds & NODES && !allocation.striped && !allocation.storages.empty() &&
        allocation.storages.size() != allocation.nodes.size()) {
      return Fault::BAD_COUNT;
    }
    for (const std::int32_t storage : allocation.storages) {
      if (storage < 0 || storage >= machine.storages) return Fault::BAD_STORAGE;
      usage[machine.first_storage + storage] += allocation.bb_bytes;
    }
    usage[FREE_BYTES] = static_cast<std::int64_t>(allocation.storages.size()) * allocation.bb_bytes;
  }
  if (kinds & POOLS) {
    const std::size_t pools = std::min(allocation.pools.size(), at(machine.pools));
    std::copy(allocation.pools.begin(),
              allocation.pools.begin() + static_cast<std::ptrdiff_t>(pools),
              usage + machine.first_pool);
  }
  return Fault::NONE;
}

// First segment of [start_s, end_s) in which a booking does not fit, or -1. Taking requires free
// nodes, and enough free bytes and bandwidth; releasing requires taken nodes, and must not lead
// above the capacity.
std::int64_t Timeline::conflict(double start_s, double end_s, const std::int64_t* usage,
                                int sign) const {
  const Machine& machine = *machine_;
  const std::uint64_t* taken = words_of(usage + HEAD);
  for (std::int64_t segment = segment_at(start_s); segment < size() && time_s(segment) < end_s;
       segment++) {
    const std::int64_t* cells = row(segment);
    const std::uint64_t* free = words_of(cells + HEAD);
    std::uint64_t wrong = 0;
    for (std::int64_t word = 0; word < machine.words; word++) {
      wrong |= taken[word] & (sign > 0 ? ~free[word] : free[word]);
    }
    if (wrong) return segment;
    for (std::int64_t column = machine.first_storage; column < machine.width; column++) {
      const std::int64_t left =
          sign > 0 ? cells[column] - usage[column] : cells[column] + usage[column];
      if (left < machine.least[at(column)] || left > machine.capacity[at(column)]) return segment;
    }
  }
  return -1;
}

// Name the first resource of a segment that conflicts with a usage.
void Timeline::explain(std::int64_t segment, const std::int64_t* usage, Refusal& why) const {
  const Machine& machine = *machine_;
  const std::int64_t* cells = row(segment);
  for (std::int64_t node = 0; node < machine.facts().nodes; node++) {
    const bool taken = words_of(usage + HEAD)[node >> 6] & bit_of(node);
    const bool free = words_of(cells + HEAD)[node >> 6] & bit_of(node);
    if (taken && free != why.taking) {
      why.fault = Fault::NODE;
      why.index = node;
      return;
    }
  }
  for (std::int64_t column = machine.first_storage; column < machine.width; column++) {
    why.free = cells[column];
    why.size = usage[column];
    why.most = machine.capacity[at(column)];
    if (why.taking ? why.free - why.size >= machine.least[at(column)]
                   : why.free + why.size <= why.most)
      continue;
    const bool storage = column < machine.first_link, link = column < machine.first_pool;
    why.fault = storage ? Fault::STORAGE : link ? Fault::LINK : Fault::POOL;
    why.index = column - (storage ? machine.first_storage
                          : link  ? machine.first_link
                                  : machine.first_pool);
    return;
  }
}

// Earliest start after a segment with a conflict at which a usage can be taken for a duration.
double Timeline::room_after(std::int64_t segment, double duration_s,
                            const std::int64_t* usage) const {
  double start_s = NEVER;
  while (segment >= 0) {
    start_s = steps_.end(segment);  // every earlier start meets the conflict
    if (start_s == NEVER) return NEVER;
    segment = conflict(start_s, start_s + duration_s, usage, 1);
  }
  return start_s;
}

}  // namespace spillway
