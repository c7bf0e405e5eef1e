#include "book/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway {
namespace {

constexpr Kinds OTHERS = BURST_BUFFERS | BANDWIDTH | POOLS;

double after(double time_s) { return std::nextafter(time_s, NEVER); }

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

}  // namespace

Timeline::Timeline(MachinePtr machine, double now_s, bool holds_nodes_longer)
    : machine_(std::move(machine)), longer_(holds_nodes_longer), steps_(*machine_, now_s) {}

Timeline::Timeline(const Timeline& other)
    : changes(other.changes),
      machine_(other.machine_),
      longer_(other.longer_),
      steps_(other.steps_.copy()),
      drained_(other.drained_) {}

// ---------------------------------------------------------------- queries

std::int64_t Timeline::most_free_nodes(double until_s) const {
  std::int64_t most = 0;
  for (std::int64_t segment = 0; segment < size() && time_s(segment) <= until_s; segment++) {
    most = std::max(most, row(segment)[FREE_NODES]);
  }
  return most;
}

double Timeline::differs_until(const Timeline& other) const {
  double found_s = now_s();
  std::int64_t mine = 0, theirs = 0;
  for (;;) {
    const double mine_s = steps_.end(mine), theirs_s = other.steps_.end(theirs);
    const double end_s = std::min(mine_s, theirs_s);
    if (!std::equal(row(mine), row(mine) + machine_->width, other.row(theirs))) found_s = end_s;
    if (end_s == NEVER) return found_s;
    mine += mine_s == end_s;
    theirs += theirs_s == end_s;
  }
}

std::vector<std::int64_t> Timeline::free_until(double end_s) const {
  std::vector<std::int64_t> least(row(0), row(0) + machine_->width);
  for (std::int64_t segment = 1; segment < size() && time_s(segment) < end_s; segment++) {
    const std::int64_t* cells = row(segment);
    std::uint64_t* words = words_of(least.data() + HEAD);
    for (std::int64_t word = 0; word < machine_->words; word++)
      words[word] &= words_of(cells + HEAD)[word];
    for (std::int64_t column = machine_->first_storage; column < machine_->width; column++) {
      least[at(column)] = std::min(least[at(column)], cells[column]);
    }
  }
  return least;
}

// ---------------------------------------------------------------- searches

double Timeline::find(const Job& job, double duration_s, double first_s, double latest_s,
                      Kinds kinds) const {
  JobDemand demand;
  if (!machine_->demand(job, kinds, demand)) return NEVER;
  if (!job.lives) return find_fit(steps_, *machine_, demand, duration_s, first_s, latest_s);
  const Span span{duration_s, job.lives->storage_lead_s, job.lives->storage_tail_s,
                  job.lives->bandwidth_tail_s};
  return find_apart(steps_, *machine_, demand, span, first_s, latest_s);
}

// The allocation of the search just done.
Allocation Timeline::chosen(const Job& job, Kinds kinds) const {
  const Scratch& scratch = Scratch::of(*machine_, size());
  Allocation found;
  found.bb_bytes = kinds & BURST_BUFFERS ? job.bb_bytes : 0;
  found.nodes.assign(scratch.nodes.begin(), scratch.nodes.begin() + job.nodes);
  if (found.bb_bytes)
    found.storages.assign(scratch.storages.begin(), scratch.storages.begin() + job.requests());
  found.io_rate = kinds & BANDWIDTH ? job.io_rate : 0;
  found.lives = job.lives;
  found.striped = found.bb_bytes > 0 && job.stripes > 0;
  if (!job.pools.empty() && kinds & POOLS) {
    found.pools = job.pools;
    if (machine_->layered) {
      found.pools.assign(scratch.usage + machine_->first_pool, scratch.usage + machine_->width);
    }
  }
  return found;
}

bool Timeline::fit_now(const Job& job, double duration_s, Kinds kinds, Allocation& found) const {
  if (longer_) return fit_longer(job, duration_s, kinds, found);
  if (kinds & NODES && job.nodes > free_nodes_now() && !job.lives) return false;
  if (find(job, duration_s, now_s(), now_s(), kinds) == NEVER) return false;
  found = chosen(job, kinds);
  return true;
}

double Timeline::earliest_fit(const Job& job, double duration_s, double not_before_s,
                              double latest_s, Kinds kinds, Allocation& found) const {
  const double first_s = std::max(now_s(), not_before_s);
  if (!(first_s <= latest_s)) return NEVER;
  const double start_s = find(job, duration_s, first_s, latest_s, kinds);
  if (start_s < NEVER) found = chosen(job, kinds);
  return start_s;
}

JobDemand Timeline::demand_of(const Job& job) const {
  JobDemand demand;
  if (!machine_->demand(job, ALL_KINDS, demand))
    demand = {std::int64_t{1} << 61, 0, 0, NODES, 0, 0};
  return demand;
}

std::int64_t Timeline::first_fit_now(const std::function<const Job&(std::int64_t)>& job_at,
                                     const JobDemand* demands, const double* durations_s,
                                     std::int64_t count, Allocation& found) const {
  if (longer_ || machine_->racks) {  // their windows share nothing
    for (std::int64_t place = 0; place < count; place++) {
      if (fit_now(job_at(place), durations_s[place], ALL_KINDS, found)) return place;
    }
    return -1;
  }
  const std::int64_t place = first_that_fits(steps_, *machine_, demands, durations_s, count);
  if (place >= 0) found = chosen(job_at(place), ALL_KINDS);
  return place;
}

// Nodes must stay free one rounding step longer than the job runs; the burst buffer need not.
bool Timeline::fit_longer(const Job& job, double duration_s, Kinds kinds, Allocation& found) const {
  const double now = now_s();
  const double longer_s =
      duration_s < NEVER ? std::max(after(now + duration_s) - now, after(duration_s)) : duration_s;
  const Kinds covered = NODES | (kinds & POOLS);
  if (job.nodes > free_nodes_now() && !job.lives) return false;
  if (find(job, longer_s, now, now, covered) == NEVER) return false;
  found = chosen(job, covered);
  if (!job.bb_bytes || !(kinds & BURST_BUFFERS)) return true;
  found.lives.reset();
  found.bb_bytes = job.bb_bytes;
  found.striped = job.stripes > 0;
  return nearest_with_room(job, duration_s, found);
}

// Give each request in turn the nearest storage node that holds it over the whole duration.
bool Timeline::nearest_with_room(const Job& job, double duration_s, Allocation& found) const {
  const std::vector<std::int64_t> least = free_until(now_s() + duration_s);
  std::vector<std::int64_t> free(least.begin() + machine_->first_storage,
                                 least.begin() + machine_->first_link);
  std::vector<bool> taken(free.size(), false);
  const auto count = static_cast<std::int64_t>(found.nodes.size());
  for (std::int64_t request = 0; request < job.requests(); request++) {
    const std::int64_t node =
        found.nodes[at(job.stripes ? request * count / job.stripes : request)];
    const std::int32_t* nearest = &machine_->facts().nearest[at(node * machine_->storages)];
    std::int64_t rank = 0;
    for (; rank < machine_->storages; rank++) {
      const auto storage = at(nearest[rank]);
      if (free[storage] < job.bb_bytes || (job.stripes && taken[storage])) continue;
      free[storage] -= job.bb_bytes;
      taken[storage] = true;
      found.storages.push_back(nearest[rank]);
      break;
    }
    if (rank == machine_->storages) return false;
  }
  return true;
}

// ---------------------------------------------------------------- changes

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
  changes++;
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
      if (left < 0 || left > machine.capacity[at(column)]) return segment;
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
    if (why.taking ? why.size <= why.free : why.free + why.size <= why.most) continue;
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

bool Timeline::advance(double now) {
  if (now == now_s()) return true;
  if (!(now_s() <= now && now < NEVER)) return false;
  steps_.advance(now);
  for (auto& [storage, node] : drained_) node.advance(now);
  return true;
}

bool Timeline::take(double start_s, double end_s, const std::vector<std::int32_t>& nodes,
                    const std::vector<std::int64_t>& bb_bytes,
                    const std::vector<std::int64_t>& amounts) {
  if (!(now_s() <= start_s && start_s < end_s)) return false;
  const std::vector<std::uint64_t> bits = machine_->bits(nodes);
  std::int64_t first = steps_.split(start_s);
  const std::int64_t last = end_s < NEVER ? steps_.split(end_s) : size();
  for (; first < last; first++) {
    std::uint64_t* words = words_of(steps_.writable(first) + HEAD);
    for (std::size_t word = 0; word < bits.size(); word++) words[word] &= ~bits[word];
  }
  steps_.add_up(*machine_);
  changes++;
  for (std::size_t storage = 0; storage < bb_bytes.size(); storage++) {
    Allocation unit;
    unit.storages = {static_cast<std::int32_t>(storage)};
    take_amounts(start_s, end_s, machine_->first_storage + static_cast<std::int64_t>(storage),
                 bb_bytes[storage], unit, BURST_BUFFERS);
  }
  for (std::size_t pool = 0; pool < amounts.size(); pool++) {
    Allocation unit;
    unit.pools.assign(pool + 1, 0);
    take_amounts(start_s, end_s, machine_->first_pool + static_cast<std::int64_t>(pool),
                 amounts[pool], unit, POOLS);
  }
  return true;
}

// Book what is free of a column over the parts of an interval, up to `most`.
void Timeline::take_amounts(double start_s, double end_s, std::int64_t column, std::int64_t most,
                            const Allocation& unit, Kinds kind) {
  struct Free {
    double start_s, end_s;
    std::int64_t amount;
  };
  std::vector<Free> found;
  for (std::int64_t segment = segment_at(start_s); segment < size() && time_s(segment) < end_s;
       segment++) {
    const std::int64_t amount = std::min(row(segment)[column], most);
    if (amount > 0)
      found.push_back(
          {std::max(time_s(segment), start_s), std::min(steps_.end(segment), end_s), amount});
  }
  for (const Free& one : found) {
    Allocation part = unit;
    if (kind == BURST_BUFFERS) {
      part.bb_bytes = one.amount;
    } else {
      part.pools.back() = one.amount;
    }
    Refusal none;
    book_all(one.start_s, one.end_s, part, kind, 1, none);
  }
}

void Timeline::close(const std::vector<std::int32_t>& nodes,
                     const std::vector<std::int32_t>& storages) {
  const std::vector<std::uint64_t> bits = machine_->bits(nodes);
  for (std::int64_t segment = 0; segment < size(); segment++) {
    std::int64_t* cells = steps_.writable(segment);
    for (std::size_t word = 0; word < bits.size(); word++)
      words_of(cells + HEAD)[word] &= ~bits[word];
    for (const std::int32_t storage : storages) cells[machine_->first_storage + storage] = 0;
  }
  for (const std::int32_t storage : storages) drained_.erase(storage);
  steps_.add_up(*machine_);
  changes++;
}

void Timeline::reopen(const std::vector<std::int32_t>& nodes,
                      const std::vector<std::int32_t>& storages) {
  const std::vector<std::uint64_t> bits = machine_->bits(nodes);
  for (std::int64_t segment = 0; segment < size(); segment++) {
    std::int64_t* cells = steps_.writable(segment);
    for (std::size_t word = 0; word < bits.size(); word++)
      words_of(cells + HEAD)[word] |= bits[word];
    for (const std::int32_t storage : storages) {
      const std::int64_t column = machine_->first_storage + storage;
      cells[column] = machine_->capacity[at(column)];
    }
  }
  steps_.add_up(*machine_);
  changes++;
}

void Timeline::drain(std::int32_t storage, std::int64_t bytes) {
  changes++;
  auto found = drained_.find(storage);
  if (found == drained_.end()) {
    const std::int64_t column = machine_->first_storage + storage,
                       capacity = machine_->capacity[at(column)];
    std::vector<std::int64_t> booked;
    for (std::int64_t segment = 0; segment < size(); segment++)
      booked.push_back(capacity - row(segment)[column]);
    found = drained_.emplace(storage, Drained(capacity, steps_.times(), std::move(booked))).first;
  }
  write_changes(storage, found->second.drain(bytes));
  if (!bytes) drained_.erase(found);
}

void Timeline::widen(const std::vector<Pool>& pools, PayloadPtr source) {
  machine_ = machine_->widened(pools, std::move(source));
  steps_ = steps_.widened(*machine_);
  changes++;
}

Snapshot Timeline::snapshot() const { return {steps_.copy(), drained_}; }

void Timeline::restore(const Snapshot& state) {
  steps_ = state.steps.copy();
  drained_ = state.drained;
  changes++;
}

std::string Timeline::check() const {
  const Machine& machine = *machine_;
  for (std::int64_t segment = 0; segment < size(); segment++) {
    if (segment && !(time_s(segment - 1) < time_s(segment))) return "times do not ascend";
    const std::int64_t* cells = row(segment);
    if (segment && std::equal(cells, cells + machine.width, row(segment - 1)))
      return "equal neighbours";
    std::int64_t nodes = 0, bytes = 0;
    for (std::int64_t word = 0; word < machine.words; word++) {
      const std::uint64_t free = words_of(cells + HEAD)[word];
      if (free & ~words_of(machine.capacity.data() + HEAD)[word])
        return "a node is free that does not exist";
      nodes += popcount(free);
    }
    if (nodes != cells[FREE_NODES]) return "free nodes do not add up";
    for (std::int64_t column = machine.first_storage; column < machine.width; column++) {
      if (cells[column] < 0) return "a storage node or a link is over-committed";
      if (cells[column] > machine.capacity[at(column)]) return "more is free than there is";
      if (column < machine.first_link) bytes += cells[column];
    }
    if (bytes != cells[FREE_BYTES]) return "free bytes do not add up";
    const Totals& totals = steps_.totals()[segment];
    if (totals.nodes != nodes || totals.units != steps_.units_of(bytes))
      return "totals differ from the row";
  }
  for (const auto& [storage, node] : drained_) {
    if (node.drained() <= 0) return "nothing of it is drained";
    std::vector<double> times(steps_.times());
    times.insert(times.end(), node.times().begin(), node.times().end());
    for (const double time : times) {
      if (row(segment_at(time))[machine.first_storage + storage] != node.free_at(time)) {
        return "drained bytes do not add up";
      }
    }
  }
  return "";
}

}  // namespace spillway
