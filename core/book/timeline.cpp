#include "book/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway {
namespace {

double after(double time_s) { return std::nextafter(time_s, NEVER); }

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

}  // namespace

Timeline::Timeline(MachinePtr machine, double now_s, bool holds_nodes_longer)
    : machine_(std::move(machine)), longer_(holds_nodes_longer), steps_(*machine_, now_s) {}

Timeline::Timeline(const Timeline& other)
    : machine_(other.machine_),
      longer_(other.longer_),
      steps_(other.steps_.copy()),
      drained_(other.drained_) {}

// ---------------------------------------------------------------- queries

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
    for (std::int64_t& amount : found.pools) amount = std::abs(amount);
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
}

void Timeline::drain(std::int32_t storage, std::int64_t bytes) {
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
}

Snapshot Timeline::snapshot() const { return {steps_.copy(), drained_}; }

void Timeline::restore(const Snapshot& state) {
  steps_ = state.steps.copy();
  drained_ = state.drained;
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
      if (cells[column] < machine.least[at(column)])
        return "a storage node or a link is over-committed";
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
