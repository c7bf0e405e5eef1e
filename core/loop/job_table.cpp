#include "loop/job_table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "model/job_states.hpp"

namespace spillway::batsim {
namespace {

/// Bytes of rows that are handed out together.
constexpr std::size_t MOST_COLLECTED = 1 << 16;

/// A number as the table has it.
std::string printed(double number) {
  std::array<char, 400> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.6f", number);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

void JobTable::add(const Job& job) {
  ++totals_.jobs;
  if (job.state == JobState::REJECTED) {
    ++totals_.rejected;
    if (sink_) add_rejected(job);
    return;
  }
  count(job);
  const bool local = job.origin->kind == Origin::Kind::LOCAL;
  if (!sink_ && !local) return;
  const double finish_s = job.start_s + job.runtime_s;
  const std::string start = printed(job.start_s);
  const std::string finish = printed(finish_s);
  if (local) note_span(job, start, finish);
  if (!sink_) return;
  const double turnaround_s = finish_s - job.subtime_s;
  const bool good = job.state == JobState::COMPLETED_SUCCESSFULLY;
  for (const std::string& cell :
       {job.name, job.origin->name, profile_of(job), printed(job.subtime_s),
        std::to_string(job.res), printed(job.walltime_s), std::string(good ? "1" : "0"),
        std::string(name_of(job.state)), start, printed(job.runtime_s), finish,
        printed(job.start_s - job.subtime_s), printed(turnaround_s),
        printed(turnaround_s / job.runtime_s), job.allocation->text, printed(job.energy_j)}) {
    text_ += cell;
    text_ += ',';
  }
  end_row(job);
  if (text_.size() >= MOST_COLLECTED) settle();
}

void JobTable::add_rejected(const Job& job) {
  for (const std::string& cell :
       {job.name, job.origin->name, profile_of(job), printed(job.subtime_s),
        std::to_string(job.res), printed(job.walltime_s)}) {
    text_ += cell;
    text_ += ',';
  }
  text_ += "0,REJECTED,,,,,,,,,";
  end_row(job);
}

std::string JobTable::profile_of(const Job& job) const {
  if (old_rows_) return job.profile->name;
  if (!job.foreign_profile.empty()) return job.foreign_profile;
  return job.origin->name + '!' + job.profile->name;
}

void JobTable::end_row(const Job& job) {
  if (old_rows_) text_ += '"' + job.metadata + '"';
  text_ += '\n';
}

void JobTable::count(const Job& job) {
  const double finish_s = job.start_s + job.runtime_s;
  const double waiting_s = job.start_s - job.subtime_s;
  const double turnaround_s = finish_s - job.subtime_s;
  const double slowdown = turnaround_s / job.runtime_s;
  if (job.state == JobState::COMPLETED_SUCCESSFULLY) ++totals_.success;
  totals_.waiting_s += waiting_s;
  totals_.turnaround_s += turnaround_s;
  totals_.slowdown += slowdown;
  totals_.makespan_s = std::max(totals_.makespan_s, finish_s);
  totals_.max_waiting_s = std::max(totals_.max_waiting_s, waiting_s);
  totals_.max_turnaround_s = std::max(totals_.max_turnaround_s, turnaround_s);
  totals_.max_slowdown = std::max(totals_.max_slowdown, slowdown);
}

/// Counts a job of a local workload, by times as printed.
void JobTable::note_span(const Job& job, const std::string& start, const std::string& finish) {
  const double start_s = std::strtod(start.c_str(), nullptr);
  const double finish_s = std::strtod(finish.c_str(), nullptr);
  const auto [found, fresh] = spans_.try_emplace(job.origin->name);
  Span& span = found->second;
  if (fresh) {
    span.start_s = start_s;
    span.finish_s = finish_s;
  }
  if (span.nodes.empty() || finish_s > span.finish_s) {
    span.nodes = job.allocation->text;
    span.finish_s = std::max(span.finish_s, finish_s);
  }
  span.start_s = std::min(span.start_s, start_s);
  span.received_s += finish_s - start_s;
  ++span.jobs;
}

void JobTable::settle() {
  if (!text_.empty()) sink_(std::exchange(text_, {}));
}

}  // namespace spillway::batsim
