#include "search/gang_matrix.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace spillway {

GangMatrix::GangMatrix(std::size_t level, std::int64_t width, GangLinks links)
    : level_(level),
      width_(width),
      links_(std::move(links)),
      all_(ColumnSet::whole(width)),
      free_(level, ColumnSet(width)),
      usable_(width),
      somewhere_(width),
      chosen_(width),
      cells_(level),
      freedom_(level, ColumnSet(width)),
      homes_(level),
      order_(level) {}

GangOutcome GangMatrix::recompute(const GangQueue& queue, const GangRules& rules,
                                  std::int64_t tasks, const ColumnSet& closed,
                                  const GangHold& hold) {
  GangOutcome outcome;
  const std::size_t old = places_.size();
  before_.resize(std::max(before_.size(), old));
  for (std::size_t index = 0; index < old; ++index) {
    before_[index].first = places_[index].rows;
    before_[index].second = places_[index].columns;
  }
  clean(closed);
  if (rules.migrate && tasks > 0) migrate(tasks, closed, outcome);
  compact(closed);
  outcome.started = schedule(queue, rules.where, rules.scan, closed, hold);
  fill(rules.where == GangWhere::FILES_FIRST, closed);
  for (std::size_t index = 0; index < old; ++index) {
    const auto& [rows, columns] = before_[index];
    if (places_[index].rows != rows || places_[index].columns != columns) {
      outcome.changed.push_back(index);
    }
  }
  return outcome;
}

/// Bandwidth that the jobs leave on each link in each row.
GangRoom GangMatrix::room() const {
  GangRoom room(links_, level_);
  for (const GangPlace& place : places_) {
    for (std::size_t row = 0; row < level_ && place.rate > 0; ++row) {
      if (has_row(place, row)) room.take(row, place.columns, place.rate);
    }
  }
  return room;
}

void GangMatrix::find_free(const ColumnSet& closed) {
  usable_ = all_;
  usable_ -= closed;
  for (std::size_t row = 0; row < level_; ++row) free_[row] = usable_;
  for (const GangPlace& place : places_) {
    for (std::size_t row = 0; row < level_; ++row) {
      if (has_row(place, row)) free_[row] -= place.columns;
    }
  }
}

void GangMatrix::find_somewhere() {
  somewhere_.clear();
  for (const ColumnSet& free : free_) somewhere_ |= free;
}

std::int64_t GangMatrix::widest() const {
  std::int64_t most = 0;
  for (const ColumnSet& free : free_) most = std::max(most, free.count());
  return most;
}

void GangMatrix::clean(const ColumnSet& closed) {
  for (GangPlace& place : places_) {
    if (!place.columns.meets(closed)) place.rows = RowSet{1} << place.home;
  }
}

// ------------------------------------------------------------------------------------------------
// migrate

void GangMatrix::migrate(std::int64_t tasks, const ColumnSet& closed, GangOutcome& outcome) {
  GangRoom room = this->room();
  find_free(closed);
  std::int64_t left = tasks;
  for (bool changed = true; changed;) {
    changed = false;
    find_somewhere();
    for (GangPlace& place : places_) {
      // local already, or it cannot be moved, or a file's node is free in no row
      if (place.files.within(place.columns) || place.columns.meets(closed)) continue;
      chosen_ = place.files;
      chosen_ -= place.columns;
      if (!chosen_.within(somewhere_)) continue;
      const std::int64_t need = chosen_.count();
      if (need > left || !move_home(place, usable_, room)) continue;
      outcome.migrated.push_back(place.job);
      left -= need;
      changed = true;
    }
  }
  outcome.tasks += tasks - left;
}

/// Move a job to its file's nodes, in the first row in which they are free and whose links carry
/// it.
bool GangMatrix::move_home(GangPlace& place, const ColumnSet& usable, GangRoom& room) {
  room.give(place.home, place.columns, place.rate);
  std::size_t best = 0;
  while (best < level_ &&
         !(fits_at_files(place, best, usable) && room.carries(best, place.files, place.rate))) {
    ++best;
  }
  if (best == level_) {
    room.take(place.home, place.columns, place.rate);
    return false;
  }
  room.take(best, place.files, place.rate);
  chosen_ = place.columns;
  chosen_ &= usable;
  free_[place.home] |= chosen_;
  somewhere_ |= chosen_;
  free_[best] -= place.files;
  place.columns = place.files;
  place.home = best;
  place.rows = RowSet{1} << best;
  return true;
}

/// Whether the file's columns are free in a row; the job's own columns count as free in its own
/// row.
bool GangMatrix::fits_at_files(const GangPlace& place, std::size_t row,
                               const ColumnSet& usable) const {
  const auto& files = place.files.words();
  const auto& own = place.columns.words();
  std::uint64_t beyond = 0;
  for (std::size_t at = 0; at < files.size(); ++at) {
    const std::uint64_t mine = row == place.home ? own[at] & usable.words()[at] : 0;
    beyond |= files[at] & ~(free_[row].words()[at] | mine);
  }
  return beyond == 0;
}

// ------------------------------------------------------------------------------------------------
// compact

void GangMatrix::compact(const ColumnSet& closed) {
  GangRoom room = this->room();
  find_homes(closed);
  for (bool changed = true; changed;) {
    changed = false;
    order_.resize(level_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t one, std::size_t other) {
      return cells_[one] < cells_[other];
    });
    for (std::size_t position = 0; position < level_; ++position) {
      for (std::size_t other = level_; other-- > position + 1;) {
        const std::size_t source = order_[position], target = order_[other];
        if (cells_[target] >= cells_[source] && move_to(target, source, room)) changed = true;
      }
    }
  }
}

/// Find the free columns and the tasks of each row, and the jobs that may leave it.
void GangMatrix::find_homes(const ColumnSet& closed) {
  for (std::size_t row = 0; row < level_; ++row) {
    free_[row] = all_;
    homes_[row].clear();
  }
  for (std::size_t index = 0; index < places_.size(); ++index) {
    const GangPlace& place = places_[index];
    if (!place.columns.meets(closed)) {
      homes_[place.home].push_back(index);
      free_[place.home] -= place.columns;
      continue;
    }
    for (std::size_t row = 0; row < level_; ++row) {
      if (has_row(place, row)) free_[row] -= place.columns;
    }
  }
  for (std::size_t row = 0; row < level_; ++row) cells_[row] = width_ - free_[row].count();
}

/// Move the first job that fits from one row to another.
bool GangMatrix::move_to(std::size_t target, std::size_t source, GangRoom& room) {
  std::vector<std::size_t>& movable = homes_[source];
  for (std::size_t at = 0; at < movable.size(); ++at) {
    const std::size_t index = movable[at];
    GangPlace& place = places_[index];
    if (!place.columns.within(free_[target])) continue;
    if (!room.carries(target, place.columns, place.rate)) continue;
    room.give(source, place.columns, place.rate);
    room.take(target, place.columns, place.rate);
    movable.erase(movable.begin() + static_cast<std::ptrdiff_t>(at));
    homes_[target].push_back(index);
    free_[source] |= place.columns;
    free_[target] -= place.columns;
    const std::int64_t size = place.columns.count();
    cells_[source] -= size;
    cells_[target] += size;
    place.home = target;
    place.rows = RowSet{1} << target;
    return true;
  }
  return false;
}

// ------------------------------------------------------------------------------------------------
// schedule

std::int64_t GangMatrix::schedule(const GangQueue& queue, GangWhere where, bool scan,
                                  const ColumnSet& closed, const GangHold& hold) {
  find_free(closed);
  GangRoom room = this->room();
  std::int64_t placed = 0, most = widest();
  for (const GangRequest* request : queue) {
    const std::size_t row = request->size <= most ? choose(*request, where, room) : level_;
    if (row == level_ || (hold && !hold(*request, chosen_))) {
      if (scan) continue;
      break;
    }
    free_[row] -= chosen_;
    most = widest();
    room.take(row, chosen_, request->rate);
    places_.push_back(
        {request->job, chosen_, row, RowSet{1} << row, request->files, request->rate});
    ++placed;
  }
  return placed;
}

/// Choose a row, and its columns in `chosen_`, for a waiting job; `level_` where it does not fit.
std::size_t GangMatrix::choose(const GangRequest& request, GangWhere where, const GangRoom& room) {
  if (where != GangWhere::ANYWHERE && !request.files.empty()) {
    const std::size_t row = choose_at_files(request, room);
    if (row < level_ || where == GangWhere::FILES) return row;
  }
  return choose_anywhere(request, room);
}

/// The row with the fewest free cells in which all file nodes are free, the first of equals.
std::size_t GangMatrix::choose_at_files(const GangRequest& request, const GangRoom& room) {
  std::size_t best = level_;
  std::int64_t least = 0;
  for (std::size_t row = 0; row < level_; ++row) {
    if (!request.files.within(free_[row]) || !room.carries(row, request.files, request.rate))
      continue;
    const std::int64_t cells = free_[row].count();
    if (best < level_ && cells >= least) continue;
    best = row;
    least = cells;
  }
  if (best < level_) chosen_ = request.files;
  return best;
}

/// The row with the fewest free cells that suffice; in it the columns that are free in most other
/// rows.
std::size_t GangMatrix::choose_anywhere(const GangRequest& request, const GangRoom& room) {
  for (std::size_t row = 0; row < level_; ++row) cells_[row] = free_[row].count();
  if (request.rate > 0) return choose_carried(request, room);
  std::size_t best = level_;
  for (std::size_t row = 0; row < level_; ++row) {
    if (cells_[row] >= request.size && (best == level_ || cells_[row] < cells_[best])) best = row;
  }
  if (best < level_) choose_freest(best, request.size);
  return best;
}

/// The same for a job that streams: the first row whose links carry all chosen columns together.
std::size_t GangMatrix::choose_carried(const GangRequest& request, const GangRoom& room) {
  order_.clear();
  for (std::size_t row = 0; row < level_; ++row) {
    if (cells_[row] >= request.size) order_.push_back(row);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t one, std::size_t other) { return cells_[one] < cells_[other]; });
  for (const std::size_t row : order_) {
    find_freedom(row);
    if (room.choose(row, freedom_, request.size, request.rate, chosen_)) return row;
  }
  return level_;
}

/// Find the columns of a row that are free in all other rows, in all but one or more, ..., in any
/// number.
void GangMatrix::find_freedom(std::size_t row) {
  freedom_[0] = free_[row];
  std::size_t count = 1;
  for (std::size_t other = 0; other < level_; ++other) {
    if (other == row) continue;
    freedom_[count] = freedom_[count - 1];
    freedom_[count] &= free_[other];
    for (std::size_t depth = count - 1; depth > 0; --depth) {
      chosen_ = freedom_[depth - 1];
      chosen_ &= free_[other];
      freedom_[depth] |= chosen_;
    }
    ++count;
  }
}

/// Choose columns of a row that are free in the most other rows, of equals the lowest.
void GangMatrix::choose_freest(std::size_t row, std::int64_t size) {
  find_freedom(row);
  chosen_.clear();
  for (std::size_t depth = level_; depth-- > 0 && size > 0;) {
    size = chosen_.insert_lowest(freedom_[depth], size);
  }
}

// ------------------------------------------------------------------------------------------------
// fill

void GangMatrix::fill(bool local_first, const ColumnSet& closed) {
  find_free(closed);
  find_somewhere();
  GangRoom room = this->room();
  // A job with a column that is free in no row, or that fits into no row now, will not fit later:
  // rows only fill up.
  order_.clear();
  for (std::size_t index = 0; index < places_.size(); ++index) {
    if (places_[index].columns.within(somewhere_)) order_.push_back(index);
  }
  for (const bool local : {true, false}) {
    waiting_.clear();
    for (const std::size_t index : order_) {
      if (!local_first || places_[index].local() == local) waiting_.push_back(index);
    }
    while (!waiting_.empty()) {
      const auto end = std::remove_if(waiting_.begin(), waiting_.end(), [&](std::size_t index) {
        return !replicate(places_[index], room);
      });
      waiting_.erase(end, waiting_.end());
    }
    if (!local_first) break;
  }
}

/// Give a job the first row that takes it.
bool GangMatrix::replicate(GangPlace& place, GangRoom& room) {
  for (std::size_t row = 0; row < level_; ++row) {
    if (!place.columns.within(free_[row]) || !room.carries(row, place.columns, place.rate))
      continue;
    room.take(row, place.columns, place.rate);
    free_[row] -= place.columns;
    place.rows |= RowSet{1} << row;
    return true;
  }
  return false;
}

}  // namespace spillway
