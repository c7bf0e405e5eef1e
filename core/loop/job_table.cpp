#include "loop/job_table.hpp"

#include <algorithm>
#include <utility>

#include "model/job_states.hpp"
#include "model/rounding.hpp"

namespace spillway::batsim {
namespace {

/// Bytes of rows that are handed out together.
constexpr std::size_t MOST_COLLECTED = 1 << 16;

/// Appends a cell and the comma after it.
void cell(std::string& row, const std::string& text) {
  row += text;
  row += ',';
}
void cell(std::string& row, double number) {
  print(row, number);
  row += ',';
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
  if (local) note_span(job);
  if (!sink_) return;
  const double finish_s = job.start_s + job.runtime_s;
  const double turnaround_s = finish_s - job.subtime_s;
  const bool good = job.state == JobState::COMPLETED_SUCCESSFULLY;
  add_request(job);
  cell(text_, good ? "1" : "0");
  cell(text_, name_of(job.state));
  cell(text_, job.start_s);
  cell(text_, job.runtime_s);
  cell(text_, finish_s);
  cell(text_, job.start_s - job.subtime_s);
  cell(text_, turnaround_s);
  cell(text_, turnaround_s / job.runtime_s);
  cell(text_, job.allocation->text);
  cell(text_, job.energy_j);
  end_row(job);
  if (text_.size() >= MOST_COLLECTED) settle();
}

void JobTable::add_rejected(const Job& job) {
  add_request(job);
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

/// The cells of what a job requests, which come first.
void JobTable::add_request(const Job& job) {
  cell(text_, job.name);
  cell(text_, job.origin->name);
  cell(text_, profile_of(job));
  cell(text_, job.subtime_s);
  cell(text_, std::to_string(job.res));
  cell(text_, job.walltime_s);
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
void JobTable::note_span(const Job& job) {
  const double start_s = rounded(job.start_s, PRINTED_DECIMALS);
  const double finish_s = rounded(job.start_s + job.runtime_s, PRINTED_DECIMALS);
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
