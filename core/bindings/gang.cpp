#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/column_masks.hpp"
#include "search/gang_machine.hpp"
#include "search/gang_matrix.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using Places = std::vector<GangPlace>;

/// Number, size, mask of the file's columns, and rate of a waiting job.
using Row = std::tuple<std::int64_t, std::int64_t, nb::object, std::int64_t>;

std::size_t checked_level(std::int64_t level, std::int64_t width) {
  if (level < 1 || level > 64 || width < 0) {
    throw nb::value_error("a matrix has 1 to 64 rows, and a width of at least 0");
  }
  return static_cast<std::size_t>(level);
}

GangRequest request_of(const Row& row, std::int64_t width) {
  const auto& [job, size, files, rate] = row;
  return {job, size, columns_of(files, width), rate};
}

/// The waiting jobs of a call, and the queue that leads to them.
struct Waiting {
  Waiting(const std::vector<Row>& rows, std::int64_t width) {
    requests.reserve(rows.size());
    for (const Row& row : rows) {
      requests.push_back(request_of(row, width));
      queue.push_back(&requests.back());
    }
  }

  std::vector<GangRequest> requests;
  GangQueue queue;
};

/// `hold(job, columns)` as the matrix calls it; None needs nothing.
GangHold hold_of(const nb::object& hold) {
  if (hold.is_none()) return {};
  return [&hold](const GangRequest& request, const ColumnSet& columns) {
    return nb::cast<bool>(hold(request.job, mask_of(columns)));
  };
}

void make_matrix(GangMatrix* self, std::int64_t level, std::int64_t width,
                 const std::vector<std::pair<nb::object, std::int64_t>>& links) {
  const std::size_t rows = checked_level(level, width);
  GangLinks found;
  for (const auto& [below, bytes_per_s] : links) {
    found.below.push_back(columns_of(below, width));
    found.bytes_per_s.push_back(bytes_per_s);
  }
  new (self) GangMatrix(rows, width, std::move(found));
}

void add(GangMatrix& matrix, std::int64_t job, const nb::object& columns, std::size_t home,
         RowSet rows, const nb::object& files, std::int64_t rate) {
  const bool inside = matrix.level() == 64 || rows >> matrix.level() == 0;
  if (home >= matrix.level() || !inside || !(rows >> home & 1)) {
    throw nb::value_error("a job's home is one of its rows, and these are rows of the matrix");
  }
  const std::int64_t width = matrix.width();
  matrix.add({job, columns_of(columns, width), home, rows, columns_of(files, width), rate});
}

GangMatrix without(const GangMatrix& matrix, const std::vector<std::int64_t>& jobs) {
  const std::unordered_set<std::int64_t> gone(jobs.begin(), jobs.end());
  GangMatrix left = matrix;
  left.remove([&](const GangPlace& place) { return gone.count(place.job) > 0; });
  return left;
}

/// An outcome, with copies of the places that it names.
struct Recomputed {
  Places changed, started;
  std::vector<std::int64_t> migrated;
  std::int64_t tasks = 0;
};

Places last(const GangMatrix& matrix, std::int64_t count) {
  return {matrix.places().end() - count, matrix.places().end()};
}

Recomputed recompute(GangMatrix& matrix, const std::vector<Row>& queue, const GangRules& rules,
                     std::int64_t tasks, const nb::object& closed, const nb::object& hold) {
  const Waiting waiting(queue, matrix.width());
  GangOutcome outcome = matrix.recompute(waiting.queue, rules, tasks,
                                         columns_of(closed, matrix.width()), hold_of(hold));
  Recomputed found{{}, last(matrix, outcome.started), std::move(outcome.migrated), outcome.tasks};
  for (const std::size_t index : outcome.changed) found.changed.push_back(matrix.places()[index]);
  return found;
}

Recomputed migrate(GangMatrix& matrix, std::int64_t tasks, const nb::object& closed) {
  GangOutcome outcome;
  matrix.migrate(tasks, columns_of(closed, matrix.width()), outcome);
  return {{}, {}, std::move(outcome.migrated), outcome.tasks};
}

Places schedule(GangMatrix& matrix, const std::vector<Row>& queue, int where, bool scan,
                const nb::object& closed, const nb::object& hold) {
  const Waiting waiting(queue, matrix.width());
  return last(matrix, matrix.schedule(waiting.queue, static_cast<GangWhere>(where), scan,
                                      columns_of(closed, matrix.width()), hold_of(hold)));
}

/// Cells of a place as the nodes of a machine with one row of nodes per slice.
nb::tuple nodes(const GangPlace& place, std::int64_t width) {
  nb::list found;
  for (std::int64_t row = 0; row < 64; ++row) {
    if (!(place.rows >> row & 1)) continue;
    for (std::int64_t column = 0; column < width; ++column) {
      if (place.columns.has(column)) found.append(row * width + column);
    }
  }
  return nb::tuple(found);
}

/// Submission, processor time, blocks, size, and mask of the file's columns of a job.
using JobRow = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, nb::object>;

GangRun run_gang(const std::vector<JobRow>& rows, const GangClock& clock, const GangRules& rules,
                 std::int64_t width) {
  checked_level(clock.level, width);
  std::vector<GangJob> jobs;
  for (const auto& [submit_us, cpu_us, blocks, size, files] : rows) {
    const auto number = static_cast<std::int64_t>(jobs.size());
    jobs.push_back({submit_us, cpu_us, blocks, {number, size, columns_of(files, width), 0}});
  }
  const nb::gil_scoped_release others_run;
  return GangMachine(clock, rules, width, std::move(jobs)).run();
}

void bind_matrix(nb::module_& module) {
  nb::class_<GangPlace>(module, "GangPlace")
      .def_ro("job", &GangPlace::job)
      .def_prop_ro("columns", [](const GangPlace& place) { return mask_of(place.columns); })
      .def_ro("home", &GangPlace::home)
      .def_ro("rows", &GangPlace::rows)
      .def_prop_ro("files", [](const GangPlace& place) { return mask_of(place.files); })
      .def_ro("rate", &GangPlace::rate)
      .def_prop_ro("local", &GangPlace::local)
      .def("nodes", &nodes, nb::arg("width"));
  nb::class_<Recomputed>(module, "GangOutcome")
      .def_ro("changed", &Recomputed::changed)
      .def_ro("started", &Recomputed::started)
      .def_ro("migrated", &Recomputed::migrated)
      .def_ro("tasks", &Recomputed::tasks);
  nb::class_<GangMatrix>(module, "GangMatrix")
      .def("__init__", &make_matrix, nb::arg("level"), nb::arg("width"),
           nb::arg("links") = std::vector<std::pair<nb::object, std::int64_t>>())
      .def_prop_ro("level", &GangMatrix::level)
      .def_prop_ro("width", &GangMatrix::width)
      .def_prop_ro("places", [](const GangMatrix& matrix) { return matrix.places(); })
      .def("add", &add, nb::arg("job"), nb::arg("columns"), nb::arg("home"), nb::arg("rows"),
           nb::arg("files") = 0, nb::arg("rate") = 0)
      .def("without", &without, nb::arg("jobs"))
      .def("recompute", &recompute, nb::arg("queue"), nb::arg("rules"), nb::arg("tasks") = 0,
           nb::arg("closed") = 0, nb::arg("hold") = nb::none())
      .def(
          "clean",
          [](GangMatrix& matrix, const nb::object& closed) {
            matrix.clean(columns_of(closed, matrix.width()));
          },
          nb::arg("closed") = 0)
      .def("migrate", &migrate, nb::arg("tasks"), nb::arg("closed") = 0)
      .def(
          "compact",
          [](GangMatrix& matrix, const nb::object& closed) {
            matrix.compact(columns_of(closed, matrix.width()));
          },
          nb::arg("closed") = 0)
      .def("schedule", &schedule, nb::arg("queue"), nb::arg("where"), nb::arg("scan") = false,
           nb::arg("closed") = 0, nb::arg("hold") = nb::none())
      .def(
          "fill",
          [](GangMatrix& matrix, bool local_first, const nb::object& closed) {
            matrix.fill(local_first, columns_of(closed, matrix.width()));
          },
          nb::arg("local_first") = false, nb::arg("closed") = 0);
}

}  // namespace

void bind_gang(nb::module_& module) {
  nb::class_<GangRules>(module, "GangRules")
      .def(
          "__init__",
          [](GangRules* self, int where, bool migrate, bool scan) {
            if (where < 0 || where > 2) throw nb::value_error("where is 0, 1 or 2");
            new (self) GangRules{static_cast<GangWhere>(where), migrate, scan};
          },
          nb::arg("where"), nb::arg("migrate"), nb::arg("scan"));
  bind_matrix(module);
  nb::class_<GangClock>(module, "GangClock")
      .def(nb::init<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool,
                    std::int64_t>(),
           nb::arg("level"), nb::arg("quantum_us"), nb::arg("local_us"), nb::arg("remote_us"),
           nb::arg("migration_us"), nb::arg("at_once"), nb::arg("limit"));
  nb::class_<GangRun>(module, "GangRun")
      .def_ro("start_us", &GangRun::start_us)
      .def_ro("end_us", &GangRun::end_us)
      .def_ro("local", &GangRun::local)
      .def_ro("migrations", &GangRun::migrations);
  module.def("run_gang", &run_gang, nb::arg("jobs"), nb::arg("clock"), nb::arg("rules"),
             nb::arg("width"));
}

}  // namespace spillway::bindings
