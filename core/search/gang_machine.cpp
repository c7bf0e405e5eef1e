#include "search/gang_machine.hpp"

#include <algorithm>
#include <utility>

namespace spillway {
namespace {

std::int64_t ones(RowSet rows) {
  std::int64_t found = 0;
  for (; rows != 0; rows &= rows - 1) ++found;
  return found;
}

/// `value * factor / divisor` to the nearest whole number; the product may exceed 64 bits.
std::int64_t scaled(std::int64_t value, std::int64_t factor, std::int64_t divisor) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((static_cast<Wide>(value) * factor + divisor / 2) / divisor);
}

}  // namespace

std::int64_t GangClock::service_us(std::int64_t now_us, RowSet rows) const {
  const std::int64_t cycle = quantum_us * level;
  const std::int64_t cycles = now_us / cycle, left = now_us % cycle;
  const std::int64_t row = left / quantum_us, within = left % quantum_us;
  const std::int64_t before = ones(rows & ((RowSet{1} << row) - 1));
  return (cycles * ones(rows) + before) * quantum_us + (rows >> row & 1 ? within : 0);
}

std::int64_t GangClock::instant_us(std::int64_t service_us, RowSet rows) const {
  const std::int64_t quanta = (service_us - 1) / quantum_us, within = (service_us - 1) % quantum_us;
  const std::int64_t cycles = quanta / ones(rows);
  for (std::int64_t nth = quanta % ones(rows); nth > 0; --nth) rows &= rows - 1;
  const std::int64_t row = ones((rows & (~rows + 1)) - 1);
  return (cycles * level + row) * quantum_us + within + 1;
}

GangMachine::GangMachine(const GangClock& clock, const GangRules& rules, std::int64_t width,
                         std::vector<GangJob> jobs)
    : clock_(clock),
      rules_(rules),
      jobs_(std::move(jobs)),
      none_(width),
      matrix_(static_cast<std::size_t>(clock.level), width),
      running_(jobs_.size()) {
  run_.start_us.assign(jobs_.size(), 0);
  run_.end_us.assign(jobs_.size(), 0);
  run_.local.assign(jobs_.size(), false);
}

GangRun GangMachine::run() {
  std::size_t coming = 0;
  while (coming < jobs_.size() || !matrix_.places().empty()) {
    const std::int64_t end_us = next_end();
    const std::int64_t submit_us = coming < jobs_.size() ? jobs_[coming].submit_us : NEVER_US;
    // jobs that move were moved in the slice of the last event
    const std::int64_t arrives_us = some_moving() ? (slice_ + 1) * clock_.quantum_us : NEVER_US;
    const std::int64_t now_us = std::min({end_us, submit_us, arrives_us});
    if (end_us == now_us) take_out(now_us);
    if (arrives_us == now_us) {
      arrive(now_us);
      if (now_us != end_us && now_us != submit_us) continue;  // the matrix is theirs already
    }
    for (; coming < jobs_.size() && jobs_[coming].submit_us == now_us; ++coming) {
      queue_.push_back(&jobs_[coming].request);
    }
    event(now_us);
  }
  return std::move(run_);
}

std::int64_t GangMachine::next_end() {
  std::int64_t end_us = NEVER_US;
  for (const GangPlace& place : matrix_.places()) end_us = std::min(end_us, running(place).end_us);
  return end_us;
}

bool GangMachine::some_moving() {
  const auto& places = matrix_.places();
  return std::any_of(places.begin(), places.end(),
                     [&](const GangPlace& place) { return running(place).moving; });
}

/// Remove the jobs that end now from the matrix.
void GangMachine::take_out(std::int64_t now_us) {
  matrix_.remove([&](const GangPlace& place) {
    const Running& job = running(place);
    if (job.end_us != now_us) return false;
    const auto number = static_cast<std::size_t>(place.job);
    run_.end_us[number] = now_us;
    run_.local[number] = place.files.empty() || job.columns == place.files;
    return true;
  });
}

/// At the begin of a slice move jobs to their places in the matrix.
void GangMachine::arrive(std::int64_t now_us) {
  for (const GangPlace& place : matrix_.places()) {
    if (!running(place).moving) continue;
    serve(running(place), now_us);
    settle_in(place);
  }
}

/// Recompute the matrix, and the end of each job whose place changed.
void GangMachine::event(std::int64_t now_us) {
  if (slice(now_us) != slice_) {
    slice_ = slice(now_us);
    used_ = 0;
  }
  const GangOutcome outcome = matrix_.recompute(queue_, rules_, clock_.limit - used_, none_);
  const std::vector<GangPlace>& places = matrix_.places();
  used_ += outcome.tasks;
  run_.migrations += static_cast<std::int64_t>(outcome.migrated.size());
  for (const std::size_t index : outcome.changed) {
    if (!running(places[index]).moving) move(places[index], now_us);
  }
  if (outcome.started > 0) {
    for (auto index = places.size() - static_cast<std::size_t>(outcome.started);
         index < places.size(); ++index) {
      begin(places[index], now_us);
    }
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(),
                                [&](const GangRequest* request) {
                                  const auto number = static_cast<std::size_t>(request->job);
                                  return running_[number].rows != 0;
                                }),
                 queue_.end());
  }
  if (some_moving()) displace(now_us);
}

void GangMachine::begin(const GangPlace& place, std::int64_t now_us) {
  Running& job = running(place);
  job.columns = place.columns;
  job.rows = place.rows;
  job.left_us = length_us(place, place.local());
  job.since_us = now_us;
  run_.start_us[static_cast<std::size_t>(place.job)] = now_us;
  foresee(job);
}

/// Move a job to its new place: at once, or with the next slice where it migrates.
void GangMachine::move(const GangPlace& place, std::int64_t now_us) {
  Running& job = running(place);
  serve(job, now_us);
  const bool inside =
      now_us % clock_.quantum_us != 0;  // a decision at the begin of a slice is in time for it
  if (clock_.at_once || !inside || place.columns == job.columns) {
    settle_in(place);
    return;
  }
  job.moving = true;
  job.rows &= row_of(now_us);
  if (job.rows != 0) foresee(job);
  if (job.rows == 0 || job.end_us > (slice(now_us) + 1) * clock_.quantum_us) job.end_us = NEVER_US;
}

/// Let a job run in its place from now on; on other columns it restarts first, and its blocks,
/// spread evenly over its life, are on its own nodes then.
void GangMachine::settle_in(const GangPlace& place) {
  Running& job = running(place);
  if (place.columns != job.columns) {
    job.left_us = std::max(scaled(job.left_us, length_us(place, true), length_us(place, false)),
                           std::int64_t{1});
    job.lag_us = clock_.migration_us;
    job.columns = place.columns;
  }
  job.rows = place.rows;
  job.moving = false;
  foresee(job);
}

/// Stop jobs that will move with the next slice, where other jobs received their columns in this
/// slice.
void GangMachine::displace(std::int64_t now_us) {
  ColumnSet wanted = none_;
  for (const GangPlace& place : matrix_.places()) {
    if (place.rows & row_of(now_us) && !running(place).moving) wanted |= place.columns;
  }
  for (const GangPlace& place : matrix_.places()) {
    Running& job = running(place);
    if (!job.moving || job.rows == 0 || !job.columns.meets(wanted)) continue;
    serve(job, now_us);
    job.rows = 0;
    job.end_us = NEVER_US;
  }
}

/// Account for the time that a job has received since its last update; a restart is paid first.
void GangMachine::serve(Running& job, std::int64_t now_us) const {
  const std::int64_t received =
      job.rows ? clock_.service_us(now_us, job.rows) - clock_.service_us(job.since_us, job.rows)
               : 0;
  const std::int64_t paid = std::min(job.lag_us, received);
  job.lag_us -= paid;
  job.left_us -= received - paid;
  job.since_us = now_us;
}

void GangMachine::foresee(Running& job) const {
  const std::int64_t need = job.lag_us + job.left_us;
  job.end_us = clock_.instant_us(clock_.service_us(job.since_us, job.rows) + need, job.rows);
}

/// Execution time of a whole job on a dedicated machine (section 2.3, item 3).
std::int64_t GangMachine::length_us(const GangPlace& place, bool local) const {
  const GangJob& job = jobs_[static_cast<std::size_t>(place.job)];
  return job.cpu_us + job.blocks * (local ? clock_.local_us : clock_.remote_us);
}

}  // namespace spillway
