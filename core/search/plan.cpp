#include "search/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "book/wide.hpp"

namespace spillway {
namespace {

constexpr std::int64_t BLOCK = 32;  // positions in a block

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

// Bits of a double; those of numbers that are not negative are ordered like the numbers.
std::int64_t bits_of(double number) {
  std::int64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

// Keys of demands and durations; jobs with other striping or other partitions are not comparable.
DemandKeys keys_of(const std::vector<PlanJob>& jobs) {
  std::vector<std::vector<std::int64_t>> parts(8);
  for (const PlanJob& job : jobs) {
    const JobDemand& demand = job.demand;
    const std::int64_t stripes = demand.uses & STRIPED ? demand.requests : 0;
    const std::int64_t values[] = {
        demand.nodes, demand.bb_bytes, demand.io_rate,   bits_of(job.span.duration_s),
        stripes,      -stripes,        demand.first_set, -demand.first_set};
    for (std::size_t part = 0; part < parts.size(); part++) parts[part].push_back(values[part]);
  }
  DemandKeys keys = demand_keys(parts);
  for (std::size_t job = 0; job < jobs.size(); job++) {
    if (jobs[job].apart) keys.below[job] = keys.nothing;
  }
  return keys;
}

// Exchange two positions, or take the first one's job out and insert it at the second.
void move_job(Order& order, std::int64_t first, std::int64_t second, bool insert) {
  if (!insert) {
    std::swap(order[at(first)], order[at(second)]);
  } else if (first < second) {
    std::rotate(order.begin() + first, order.begin() + first + 1, order.begin() + second + 1);
  } else {
    std::rotate(order.begin() + second, order.begin() + first, order.begin() + first + 1);
  }
}

}  // namespace

double Shape::term(double wait_s, double weight) const {
  double score = weight * wait_s;
  if (alpha == 2.0) {
    score *= wait_s;
  } else if (alpha != 1.0) {
    score = weight * std::pow(wait_s, alpha);
  }
  if (guard_s < NEVER) score *= 1.0 + std::pow(wait_s / guard_s, guard_power);
  return score;
}

Planner::Planner(const Timeline& timeline, std::vector<PlanJob> jobs, Shape shape,
                 std::int64_t stride)
    : machine_(timeline.machine()),
      longer_(timeline.holds_nodes_longer()),
      jobs_(std::move(jobs)),
      shape_(shape),
      stride_(stride ? stride : std::max<std::int64_t>(4, size() / 8)),
      levels_(std::max<std::int64_t>(1, (size() + stride_ - 1) / stride_)),
      keys_(keys_of(jobs_)),
      alone_(jobs_.size(), timeline.now_s()),
      least_(jobs_.size(), 0.0),
      live_(timeline.steps().copy()),
      slots_(at(2 * levels_)),
      current_slots_(at(levels_)),
      trial_slots_(at(levels_)),
      starts_(jobs_.size(), 0.0),
      placed_s_(jobs_.size(), 0.0),
      latest_s_(jobs_.size() / BLOCK + 1, 0.0),
      placed_keys_(jobs_.size(), 0) {
  std::iota(current_slots_.begin(), current_slots_.end(), 0);
  std::iota(trial_slots_.begin(), trial_slots_.end(), static_cast<std::int32_t>(levels_));
  live_.keep(slots_[0].state);
  plan_alone();
}

// Plan each job as if it were the only one.
void Planner::plan_alone() {
  for (std::int64_t job = 0; job < size(); job++) {
    live_.restore(slots_[0].state);
    const double start_s = place(job, alone_[at(job)]), wait_s = start_s - jobs_[at(job)].submit_s;
    alone_[at(job)] = start_s;
    least_[at(job)] =
        shape_.latest || wait_s == NEVER ? 0.0 : shape_.term(wait_s, jobs_[at(job)].weight);
    sweep();
  }
}

void Planner::note_placed(std::int64_t position, std::int64_t job, double start_s) {
  placed_s_[at(position)] = start_s;
  placed_keys_[at(position)] = keys_.below[at(job)];
  double& latest_s = latest_s_[at(position / BLOCK)];
  latest_s = position % BLOCK ? std::max(latest_s, start_s) : start_s;
}

// Time before which a job cannot start, at which the search for its start begins. It starts neither
// before its start in an empty plan, nor before the start of a job placed earlier in this plan that
// requests no more of any resource, and is striped alike: where the larger job fits now, the
// smaller one would have fitted then. Blocks of positions in which no job starts later than the
// bound so far are left out.
double Planner::not_before(std::int64_t position, std::int64_t job) const {
  double earliest_s = alone_[at(job)];
  if (jobs_[at(job)].apart)
    return earliest_s;  // its parts begin at different times: other jobs give no bound
  const std::uint64_t key = keys_.above[at(job)] | keys_.guards, guards = keys_.guards;
  for (std::int64_t block = (position - 1) / BLOCK; position > 0 && block >= 0; block--) {
    if (latest_s_[at(block)] <= earliest_s) continue;
    const std::int64_t end = std::min(block * BLOCK + BLOCK, position);
    earliest_s = latest_of(&placed_s_[at(block * BLOCK)], &placed_keys_[at(block * BLOCK)],
                           end - block * BLOCK, key, guards, earliest_s);
  }
  return earliest_s;
}

// Place a job at its earliest start, and book it.
double Planner::place(std::int64_t number, double not_before_s) {
  const PlanJob& job = jobs_[at(number)];
  double start_s = not_before_s;
  if (start_s < NEVER) {
    start_s = job.apart
                  ? find_apart(live_, *machine_, job.demand, job.span, start_s, NEVER)
                  : find_fit(live_, *machine_, job.demand, job.span.duration_s, start_s, NEVER);
  }
  if (start_s == NEVER) return start_s;
  Scratch& scratch = Scratch::of(*machine_, live_.size());
  const double end_s = start_s + job.span.duration_s;
  if (job.apart) {
    book_apart(live_, *machine_, job.span, start_s, scratch);
  } else if (start_s < end_s) {
    live_.book(start_s, end_s, scratch.usage, 1, scratch.start_segment);
  }
  if (longer_ && end_s < NEVER) hold_nodes(end_s);
  return start_s;
}

// Book the nodes of the usage for one rounding step more, if they are free.
void Planner::hold_nodes(double end_s) {
  std::int64_t* usage = Scratch::of(*machine_, live_.size()).usage;
  const std::uint64_t* free = words_of(live_.row(live_.segment_at(end_s)) + HEAD);
  for (std::int64_t word = 0; word < machine_->words; word++) {
    if (words_of(usage + HEAD)[word] & ~free[word]) return;
  }
  usage[FREE_BYTES] = 0;
  std::fill(usage + machine_->first_storage, usage + machine_->width, 0);
  live_.book(end_s, std::nextafter(end_s, NEVER), usage, 1);
}

void Planner::sweep() {
  if (!live_.is_full()) return;
  std::vector<const Checkpoint*> kept;
  for (const std::int32_t slot : current_slots_) kept.push_back(&slots_[at(slot)].state);
  live_.sweep(kept);
}

// Plan an order from a level's current checkpoint on; its score, or NEVER once it must exceed the
// limit. Later levels are written into the trial slots.
double Planner::plan_from(const Order& order, std::int64_t level, double limit) {
  sweep();
  const Level& begin = slots_[at(current_slots_[at(level)])];
  live_.restore(begin.state);
  double score = begin.score, bound = begin.bound;
  const std::int64_t first = level * stride_, count = static_cast<std::int64_t>(order.size());
  for (std::int64_t position = 0; position < first; position++) {
    note_placed(position, order[at(position)], starts_[at(order[at(position)])]);
  }
  for (std::int64_t position = first; position < count; position++) {
    if (position > first && position % stride_ == 0) {
      Level& here = slots_[at(trial_slots_[at(position / stride_)])];
      live_.keep(here.state);
      here.score = score;
      here.bound = bound;
    }
    const std::int32_t job = order[at(position)];
    const double start_s = place(job, not_before(position, job));
    starts_[at(job)] = start_s;
    note_placed(position, job, start_s);
    if (start_s == NEVER) continue;
    if (shape_.latest) {
      score = std::max(score, start_s);
    } else {
      score += shape_.term(start_s - jobs_[at(job)].submit_s, jobs_[at(job)].weight);
      bound += least_[at(job)];
    }
    if (score - bound > limit) return NEVER;
  }
  return score;
}

void Planner::exchange(std::int64_t first_level) {
  for (std::int64_t level = first_level; level < levels_; level++) {
    std::swap(current_slots_[at(level)], trial_slots_[at(level)]);
  }
}

bool Planner::is_delayed(std::int32_t job) const {
  const PlanJob& one = jobs_[at(job)];
  return shape_.term(current_starts_[at(job)] - one.submit_s, one.weight) > least_[at(job)];
}

// Draw a position among the jobs that start later than with no job before them; -1 if there is no
// such job.
std::int64_t Planner::delayed_position() {
  std::int64_t delayed = 0;
  for (std::int32_t job = 0; job < size(); job++) delayed += is_delayed(job);
  if (!delayed) return -1;
  std::int64_t pick = random_.below(delayed);
  for (std::int64_t position = 0; position < size(); position++) {
    if (is_delayed(current_[at(position)]) && pick-- == 0) return position;
  }
  return -1;
}

void Planner::begin(const Order& order, double score, const Annealing& how, std::uint64_t seed) {
  how_ = how;
  random_ = Random64(seed);
  step_ = 0;
  best_ = order;
  best_score_ = score;
}

std::int64_t Planner::anneal(std::int64_t end) {
  if (step_ == 0) {
    total_least_ = shape_.latest ? 0.0 : std::accumulate(least_.begin(), least_.end(), 0.0);
    current_ = best_;
    current_score_ = plan_from(current_, 0, NEVER);
    temperature_ = how_.temperature;
    exchange(1);
    current_starts_ = starts_;
  }
  for (; step_ < end; step_++) {
    if (step_ > 0 && step_ % how_.period == 0)
      temperature_ = std::max(temperature_ * how_.cooling, how_.coolest);
    std::int64_t first = random_.below(size());
    if (how_.delayed_only) {
      first = delayed_position();
      if (first < 0) return step_;
    }
    const std::int64_t second = random_.below(size());
    const bool insert = !how_.swaps_only && random_.uniform() < 0.5;
    const double limit = current_score_ - temperature_ * std::log(random_.uniform());
    if (first == second) continue;
    trial_ = current_;
    move_job(trial_, first, second, insert);
    const std::int64_t level = std::min(first, second) / stride_;
    starts_ = current_starts_;
    const double score = plan_from(trial_, level, limit - total_least_);
    if (score > limit) continue;
    current_score_ = score;
    current_.swap(trial_);
    current_starts_ = starts_;
    exchange(level + 1);
    if (score < best_score_) {
      best_score_ = score;
      best_ = current_;
    }
  }
  return end;
}

Order Planner::backfilled(const Order& order) const {
  // The first checkpoint is the timeline itself.
  const Checkpoint& now = slots_[0].state;
  std::vector<TotalsDemand> free, demands;
  for (std::size_t segment = 0; segment < now.times.size(); segment++) {
    const std::int64_t* row = live_.row_at(now.places[segment]);
    free.push_back({row[FREE_NODES], row[FREE_BYTES], 0.0});
  }
  for (const PlanJob& job : jobs_) {
    demands.push_back(
        {job.demand.nodes, job.demand.bb_bytes * job.demand.requests, job.span.duration_s});
  }
  const std::vector<double> starts_s = easy_starts(now.times, std::move(free), order, demands);
  Order found(order);
  std::stable_sort(found.begin(), found.end(), [&](std::int32_t one, std::int32_t other) {
    return starts_s[at(one)] < starts_s[at(other)];
  });
  return found;
}

}  // namespace spillway
