#include "loop/job_table.hpp"

#include <algorithm>
#include <utility>

#include "model/job_states.hpp"
#include "model/rounding.hpp"

namespace spillway::batsim {

void JobTable::add(const Job& job) {
  ++totals_.jobs;
  const bool of_part = job.origin->kind == Origin::Kind::LOCAL;
  if (job.state == JobState::REJECTED) {
    ++totals_.rejected;
  } else {
    count(job);
    if (of_part) note_span(job);
  }
  if (!rows_.has_sink()) return;
  const std::int64_t begin = rows_.bytes();
  write(job);
  if (!of_part) own_places_.insert(own_places_.end(), {begin, rows_.bytes()});
}

void JobTable::write(const Job& job) {
  if (job.state == JobState::REJECTED) {
    write_rejected(rows_, job);
    return;
  }
  const double finish_s = job.start_s + job.runtime_s;
  const double turnaround_s = finish_s - job.subtime_s;
  const bool good = job.state == JobState::COMPLETED_SUCCESSFULLY;
  write_request(rows_, job);
  rows_.cell(good ? "1" : "0");
  rows_.cell(name_of(job.state));
  rows_.cell(job.start_s);
  rows_.cell(job.runtime_s);
  rows_.cell(finish_s);
  rows_.cell(job.start_s - job.subtime_s);
  rows_.cell(turnaround_s);
  rows_.cell(turnaround_s / job.runtime_s);
  rows_.cell(job.allocation->text);
  rows_.cell(job.energy_j);
  rows_.end(metadata_of(job));
}

std::string JobTable::rejected_row(const Job& job) const {
  Rows row({});
  write_rejected(row, job);
  return row.text();
}

void JobTable::write_rejected(Rows& rows, const Job& job) const {
  write_request(rows, job);
  rows.end("0,REJECTED,,,,,,,,," + metadata_of(job));
}

std::string JobTable::profile_of(const Job& job) const {
  if (old_rows_) return job.profile->name;
  if (!job.foreign_profile.empty()) return job.foreign_profile;
  return job.origin->name + '!' + job.profile->name;
}

std::string JobTable::metadata_of(const Job& job) const {
  return old_rows_ ? '"' + job.metadata + '"' : "";
}

/// The cells of what a job requests, which come first.
void JobTable::write_request(Rows& rows, const Job& job) const {
  rows.cell(job.name);
  rows.cell(job.origin->name);
  rows.cell(profile_of(job));
  rows.cell(job.subtime_s);
  rows.cell(std::to_string(job.res));
  rows.cell(job.walltime_s);
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

}  // namespace spillway::batsim
