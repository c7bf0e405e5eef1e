#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "search/column_set.hpp"
#include "search/gang_links.hpp"

namespace spillway {

/// Rows of a matrix, one bit each.
using RowSet = std::uint64_t;

/// A job that waits for a place.
struct GangRequest {
  std::int64_t job = 0;   // its number, unique
  std::int64_t size = 0;  // tasks, at least 1; each takes a cell of its row
  ColumnSet
      files;  // columns with its file's partitions, as many as tasks; empty for a job without files
  std::int64_t rate = 0;  // bytes per second that each task streams
};

/// The rows and columns of a job in the matrix.
struct GangPlace {
  std::int64_t job = 0;
  ColumnSet columns;     // the same in all its rows
  std::size_t home = 0;  // row into which it was scheduled, or moved since
  RowSet rows = 0;       // rows in which it runs: its home, and the rows of its replicas
  ColumnSet files;
  std::int64_t rate = 0;

  /// Whether every task is on its file's node: one task elsewhere makes the whole job remote
  /// (section 2.3).
  bool local() const { return columns == files || files.empty(); }
};

/// Columns on which a waiting job may be placed.
enum class GangWhere : int { ANYWHERE = 0, FILES = 1, FILES_FIRST = 2 };

/// Differences between the policies.
struct GangRules {
  GangWhere where = GangWhere::ANYWHERE;
  bool migrate = false;  // remote jobs are moved to their files' nodes
  bool scan = false;     // waiting jobs behind one that does not fit are tried
};

/// What a scheduling event changed.
struct GangOutcome {
  std::vector<std::size_t> changed;    // places from before whose rows or columns are other ones
  std::int64_t started = 0;            // jobs that got a place: the last places
  std::vector<std::int64_t> migrated;  // jobs moved to their files' nodes, in their order
  std::int64_t tasks = 0;              // tasks that changed their node
};

/// Takes the resources that a waiting job needs besides cells (a burst buffer) for these columns;
/// false if they are not free.
using GangHold = std::function<bool(const GangRequest&, const ColumnSet&)>;

/// Waiting jobs in order of arrival.
using GangQueue = std::vector<const GangRequest*>;

/// The Ousterhout matrix: rows are time slices, columns are nodes, a cell holds a job's task.
///
/// Its steps are those of a scheduling event (an arrival or a departure), to be called in the order
/// of `recompute`. Columns that are closed (nodes that are out) take no further jobs, and their
/// jobs stay in their cells. No row takes more streams than its links carry.
///
/// J. K. Ousterhout, "Scheduling techniques for concurrent systems", ICDCS 1982; Zhang, Yang,
/// Sivasubramaniam, Moreira, "Gang scheduling extensions for I/O intensive workloads", JSSPP 2003,
/// section 3.
class GangMatrix {
 public:
  /// @param level rows: the multiprogramming level, 1 to 64
  /// @param width columns: the nodes
  GangMatrix(std::size_t level, std::int64_t width, GangLinks links = {});

  std::size_t level() const { return level_; }
  std::int64_t width() const { return width_; }
  /// The jobs, in order of their start.
  const std::vector<GangPlace>& places() const { return places_; }

  /// Add a job that has its place already.
  void add(GangPlace place) { places_.push_back(std::move(place)); }

  /// Remove the places for which this holds, in their order.
  template <class Gone>
  void remove(Gone gone) {
    places_.erase(std::remove_if(places_.begin(), places_.end(), gone), places_.end());
  }

  /// All steps of a scheduling event in their order: clean, migrate, compact, schedule, fill
  /// (sections 3.1 to 3.6).
  ///
  /// @param tasks most tasks that may migrate now
  /// @param hold by default jobs need only cells
  GangOutcome recompute(const GangQueue& queue, const GangRules& rules, std::int64_t tasks,
                        const ColumnSet& closed, const GangHold& hold = {});

  /// CleanMatrix: remove every instance of a job that is not in its home row (section 3.2, step 1).
  void clean(const ColumnSet& closed);

  /// MigrateMatrix: move remote jobs to their files' nodes where those are free, in order of their
  /// start, until nothing changes (section 3.6). A job that needs more moves than are left is
  /// skipped. The matrix has no replicas.
  void migrate(std::int64_t tasks, const ColumnSet& closed, GangOutcome& outcome);

  /// CompactMatrix: move jobs to new home rows, in the same columns, so that few rows hold many
  /// jobs (section 3.2, step 2). Rows are visited from the least to the most populated, and for
  /// each the possible targets from the most to the least populated; one job moves, then the next
  /// target is tried; this repeats until nothing changes. A row with fewer tasks than a job's own
  /// row is no target: otherwise jobs would move back and forth for ever.
  void compact(const ColumnSet& closed);

  /// Place waiting jobs in their order, until one does not fit, or all that fit (sections 3.1
  /// to 3.5, step 3); returns their number. They are the last places.
  std::int64_t schedule(const GangQueue& queue, GangWhere where, bool scan, const ColumnSet& closed,
                        const GangHold& hold = {});

  /// FillMatrix: jobs get one further row each in which their columns are free, in order of their
  /// start, repeatedly until no job fits (sections 3.2 and 3.5, step 4).
  ///
  /// @param local_first two queues: remote jobs get the cells that local jobs leave free
  void fill(bool local_first, const ColumnSet& closed);

 private:
  bool has_row(const GangPlace& place, std::size_t row) const { return place.rows >> row & 1; }
  GangRoom room() const;
  void find_free(const ColumnSet& closed);
  void find_somewhere();
  std::int64_t widest() const;

  bool move_home(GangPlace& place, const ColumnSet& usable, GangRoom& room);
  bool fits_at_files(const GangPlace& place, std::size_t row, const ColumnSet& usable) const;

  void find_homes(const ColumnSet& closed);
  bool move_to(std::size_t target, std::size_t source, GangRoom& room);

  std::size_t choose(const GangRequest& request, GangWhere where, const GangRoom& room);
  std::size_t choose_at_files(const GangRequest& request, const GangRoom& room);
  std::size_t choose_anywhere(const GangRequest& request, const GangRoom& room);
  std::size_t choose_carried(const GangRequest& request, const GangRoom& room);
  void find_freedom(std::size_t row);
  void choose_freest(std::size_t row, std::int64_t size);

  bool replicate(GangPlace& place, GangRoom& room);

  std::size_t level_;
  std::int64_t width_;
  GangLinks links_;
  ColumnSet all_;
  std::vector<GangPlace> places_;

  // working memory of the steps
  std::vector<std::pair<RowSet, ColumnSet>>
      before_;                             // rows and columns of each place before an event
  std::vector<ColumnSet> free_;            // usable and free columns of each row
  ColumnSet usable_, somewhere_, chosen_;  // somewhere: free in some row
  std::vector<std::int64_t> cells_;        // free cells, or tasks, of each row
  std::vector<ColumnSet> freedom_;  // [k]: columns of a row that are free in at least k other rows
  std::vector<std::vector<std::size_t>> homes_;  // places that compaction may move, by row
  std::vector<std::size_t> order_, waiting_;
};

}  // namespace spillway
