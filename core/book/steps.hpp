// A step function over time of rows, with checkpoints that share rows.
//
// Segments are half-open, [time(k), time(k + 1)); the last one is endless. Neighbours always
// differ: equal ones are joined, so that the function depends only on its bookings, not on their
// order, and every breakpoint is a real change. Rows lie in a pool and segments name them, so that
// nothing wide is moved when a segment is inserted, and a checkpoint is a copy of the names: a row
// that a checkpoint shares is copied when it is written first.
#pragma once
#include <cstdint>
#include <vector>

#include "machine.hpp"

namespace spillway {

// Free nodes, and free bytes in units of a power of two, by segment: scans for a segment with
// enough of both read nothing else. Units are rounded down: they exclude, and the row decides.
struct Totals {
  std::int32_t nodes = 0;
  std::int32_t units = 0;
};

// A state of a step function whose rows are in its pool.
struct Checkpoint {
  std::vector<double> times;
  std::vector<std::uint32_t> places;
  std::vector<Totals> totals;
};

class Steps {
 public:
  Steps(const Machine& machine, double now_s);

  std::int64_t size() const { return static_cast<std::int64_t>(times_.size()); }
  double time(std::int64_t segment) const { return times_[static_cast<std::size_t>(segment)]; }
  double end(std::int64_t segment) const {
    return segment + 1 < size() ? time(segment + 1) : NEVER;
  }
  const std::int64_t* row(std::int64_t segment) const {
    return &pool_[static_cast<std::size_t>(places_[static_cast<std::size_t>(segment)]) * width_];
  }
  // A row of the pool by its place there, as checkpoints name it.
  const std::int64_t* row_at(std::uint32_t place) const { return &pool_[place * width_]; }
  const Totals* totals() const { return totals_.data(); }
  const std::vector<double>& times() const { return times_; }
  std::int32_t units_of(std::int64_t bytes) const {
    return static_cast<std::int32_t>(bytes >> shift_);
  }

  // Segment that contains a time, at or after the first one's begin. It is looked for from a
  // segment on that begins at that time or before: found at once if it is this one.
  std::int64_t segment_at(double time_s, std::int64_t from = 0) const;
  // First segment from `first` on that begins at a time or later.
  std::int64_t segment_from(std::int64_t first, double time_s) const;
  // First segment from `first` on with these totals, or size().
  std::int64_t next_with(std::int64_t first, std::int64_t nodes, std::int64_t bytes) const;

  // Take (sign 1) or release (-1) a usage over [start_s, end_s), which is not empty; nothing is
  // checked. from: as in segment_at.
  void book(double start_s, double end_s, const std::int64_t* usage, int sign,
            std::int64_t from = 0);
  // Take a usage in one segment alone.
  void subtract(std::int64_t segment, const std::int64_t* usage);
  // Let a segment begin at a time, from the first one's begin on; returns it.
  std::int64_t split(double time_s);
  // Row of a segment to be written to; add_up() must follow.
  std::int64_t* writable(std::int64_t segment);
  // Compute the totals again and join neighbours that have become equal.
  void add_up(const Machine& machine);
  // Drop the time before now_s, at or after the first segment's begin.
  void advance(double now_s);

  // A compact copy: rows in order, none shared.
  Steps copy() const;
  // Some of the segments alone, ascending.
  Steps only(const std::vector<std::int64_t>& segments) const;
  // The same with further columns of the machine, free.
  Steps widened(const Machine& machine) const;

  // Keep the state, or return to it; a checkpoint is valid while it is passed to sweep().
  void keep(Checkpoint& to);
  void restore(const Checkpoint& from);
  // Whether the pool is so full that rows should be swept.
  bool is_full() const { return spare_.empty() && rows_in_pool() > swept_at_; }
  // Give rows back that no checkpoint names; the present state is lost unless it was kept.
  void sweep(const std::vector<const Checkpoint*>& kept);

 private:
  Steps() = default;
  std::size_t rows_in_pool() const { return marks_.size(); }
  std::uint32_t new_place();
  void note(std::int64_t segment);
  void add(std::int64_t segment, const std::int64_t* usage);
  void insert(std::int64_t at);
  void erase(std::int64_t at);
  bool equal(std::int64_t one, std::int64_t other) const;

  std::size_t width_ = 0;
  int shift_ = 0;
  std::vector<double> times_;
  std::vector<std::uint32_t> places_;
  std::vector<Totals> totals_;
  std::vector<std::int64_t> pool_;
  std::vector<std::uint32_t>
      marks_;  // by row of the pool: the epoch since which only the present state names it
  std::vector<std::uint32_t> spare_;
  std::uint32_t epoch_ = 0;
  std::size_t swept_at_ = 0;
};

}  // namespace spillway
