#include "steps.hpp"

#include <algorithm>
#include <cstring>

#include "wide.hpp"

namespace spillway {
namespace {

constexpr std::int64_t MOST_UNITS = std::int64_t{1} << 30;
constexpr std::int64_t BLOCK = 8;  // segments whose totals are compared at once

// Whether enough of both is there, without a branch.
unsigned enough(const Totals& totals, std::int32_t nodes, std::int32_t units) {
  return static_cast<unsigned>(totals.nodes >= nodes) &
         static_cast<unsigned>(totals.units >= units);
}

}  // namespace

Steps::Steps(const Machine& machine, double now_s)
    : width_(static_cast<std::size_t>(machine.width)) {
  while (machine.total_bytes >> shift_ > MOST_UNITS) shift_++;
  times_ = {now_s};
  places_ = {0};
  totals_ = {{}};
  pool_ = machine.capacity;
  marks_ = {0};
  note(0);
}

void Steps::note(std::int64_t segment) {
  const std::int64_t* cells = row(segment);
  totals_[static_cast<std::size_t>(segment)] = {static_cast<std::int32_t>(cells[FREE_NODES]),
                                                units_of(cells[FREE_BYTES])};
}

std::int64_t Steps::segment_at(double time_s, std::int64_t from) const {
  if (end(from) > time_s) return from;
  std::int64_t low = from, high = size();
  while (high - low > 1) {
    const std::int64_t middle = (low + high) >> 1;
    if (time(middle) <= time_s) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

std::int64_t Steps::segment_from(std::int64_t first, double time_s) const {
  return std::lower_bound(times_.begin() + first, times_.end(), time_s) - times_.begin();
}

std::int64_t Steps::next_with(std::int64_t first, std::int64_t nodes, std::int64_t bytes) const {
  const std::int64_t count = size();
  if (nodes > MOST_UNITS) return count;  // more than any machine has
  const std::int32_t wanted = static_cast<std::int32_t>(nodes), units = units_of(bytes);
  const Totals* totals = totals_.data();
  while (first < count) {
    if (first + BLOCK <= count) {
      unsigned found = 0;
      for (std::int64_t place = first; place < first + BLOCK; place++)
        found |= enough(totals[place], wanted, units);
      if (!found) {
        first += BLOCK;
        continue;
      }
    }
    while (first < count && !enough(totals[first], wanted, units)) first++;
    if (first >= count || row(first)[FREE_BYTES] >= bytes) return std::min(first, count);
    first++;
  }
  return count;
}

std::uint32_t Steps::new_place() {
  if (!spare_.empty()) {
    const std::uint32_t place = spare_.back();
    spare_.pop_back();
    return place;
  }
  const auto place = static_cast<std::uint32_t>(marks_.size());
  marks_.push_back(epoch_);
  pool_.resize(pool_.size() + width_);
  return place;
}

std::int64_t* Steps::writable(std::int64_t segment) {
  std::uint32_t& named = places_[static_cast<std::size_t>(segment)];
  if (marks_[named] != epoch_) {
    const std::uint32_t place = new_place();
    std::memcpy(&pool_[place * width_], &pool_[named * width_], width_ * sizeof(std::int64_t));
    marks_[place] = epoch_;
    named = place;
  }
  return &pool_[named * width_];
}

// Insert a copy of the segment before a place; its time is the caller's to set.
void Steps::insert(std::int64_t at) {
  const auto before = static_cast<std::size_t>(at - 1);
  const std::uint32_t place = new_place();
  std::memcpy(&pool_[place * width_], &pool_[places_[before] * width_],
              width_ * sizeof(std::int64_t));
  marks_[place] = epoch_;
  times_.insert(times_.begin() + at, times_[before]);
  places_.insert(places_.begin() + at, place);
  totals_.insert(totals_.begin() + at, totals_[before]);
}

void Steps::erase(std::int64_t at) {
  const std::uint32_t place = places_[static_cast<std::size_t>(at)];
  if (marks_[place] == epoch_) spare_.push_back(place);
  times_.erase(times_.begin() + at);
  places_.erase(places_.begin() + at);
  totals_.erase(totals_.begin() + at);
}

bool Steps::equal(std::int64_t one, std::int64_t other) const {
  return std::memcmp(row(one), row(other), width_ * sizeof(std::int64_t)) == 0;
}

std::int64_t Steps::split(double time_s) {
  const std::int64_t at = segment_from(0, time_s);
  if (at < size() && time(at) == time_s) return at;
  insert(at);
  times_[static_cast<std::size_t>(at)] = time_s;
  return at;
}

void Steps::subtract(std::int64_t segment, const std::int64_t* usage) {
  subtract_row(words_of(writable(segment)), words_of(usage), static_cast<std::int64_t>(width_));
  note(segment);
}

void Steps::add(std::int64_t segment, const std::int64_t* usage) {
  add_row(words_of(writable(segment)), words_of(usage), static_cast<std::int64_t>(width_));
  note(segment);
}

void Steps::book(double start_s, double end_s, const std::int64_t* usage, int sign,
                 std::int64_t from) {
  std::int64_t begin = segment_at(start_s, from);
  if (time(begin) < start_s) {
    insert(++begin);
    times_[static_cast<std::size_t>(begin)] = start_s;
  }
  std::int64_t last = begin;
  while (last + 1 < size() && time(last + 1) < end_s) last++;
  if (end_s < NEVER && (last + 1 == size() || time(last + 1) > end_s)) {
    insert(last + 1);
    times_[static_cast<std::size_t>(last + 1)] = end_s;
  }
  for (std::int64_t segment = begin; segment <= last; segment++) {
    if (sign > 0) {
      subtract(segment, usage);
    } else {
      add(segment, usage);
    }
  }
  if (last + 1 < size() && equal(last, last + 1)) erase(last + 1);
  if (begin > 0 && equal(begin - 1, begin)) erase(begin);
}

void Steps::add_up(const Machine& machine) {
  std::size_t kept = 0;
  for (std::int64_t segment = 0; segment < size(); segment++) {
    const std::int64_t* before = row(segment);
    std::int64_t nodes = 0, bytes = 0;
    for (std::int64_t word = 0; word < machine.words; word++)
      nodes += popcount(words_of(before + HEAD)[word]);
    for (std::int64_t place = 0; place < machine.storages; place++)
      bytes += before[machine.first_storage + place];
    if (nodes != before[FREE_NODES] || bytes != before[FREE_BYTES]) {
      std::int64_t* cells = writable(segment);
      cells[FREE_NODES] = nodes;
      cells[FREE_BYTES] = bytes;
    }
    note(segment);
  }
  for (std::size_t segment = 0; segment < times_.size(); segment++) {
    if (segment > 0 &&
        equal(static_cast<std::int64_t>(kept) - 1, static_cast<std::int64_t>(segment))) {
      if (marks_[places_[segment]] == epoch_) spare_.push_back(places_[segment]);
      continue;
    }
    times_[kept] = times_[segment];
    places_[kept] = places_[segment];
    totals_[kept] = totals_[segment];
    kept++;
  }
  times_.resize(kept);
  places_.resize(kept);
  totals_.resize(kept);
}

void Steps::advance(double now_s) {
  const std::int64_t first = segment_at(now_s);
  for (std::int64_t segment = 0; segment < first; segment++) {
    const std::uint32_t place = places_[static_cast<std::size_t>(segment)];
    if (marks_[place] == epoch_) spare_.push_back(place);
  }
  times_.erase(times_.begin(), times_.begin() + first);
  places_.erase(places_.begin(), places_.begin() + first);
  totals_.erase(totals_.begin(), totals_.begin() + first);
  times_[0] = now_s;
}

Steps Steps::copy() const {
  Steps other;
  const std::size_t count = times_.size();
  other.width_ = width_;
  other.shift_ = shift_;
  other.times_ = times_;
  other.totals_ = totals_;
  other.places_.resize(count);
  other.marks_.assign(count, 0);
  other.pool_.reserve((count + 8) * width_);
  for (std::size_t segment = 0; segment < count; segment++) {
    other.places_[segment] = static_cast<std::uint32_t>(segment);
    const std::int64_t* cells = row(static_cast<std::int64_t>(segment));
    other.pool_.insert(other.pool_.end(), cells, cells + width_);
  }
  return other;
}

Steps Steps::only(const std::vector<std::int64_t>& segments) const {
  Steps other;
  other.width_ = width_;
  other.shift_ = shift_;
  for (const std::int64_t segment : segments) {
    other.places_.push_back(static_cast<std::uint32_t>(other.times_.size()));
    other.times_.push_back(time(segment));
    other.totals_.push_back(totals_[static_cast<std::size_t>(segment)]);
    other.marks_.push_back(0);
    other.pool_.insert(other.pool_.end(), row(segment), row(segment) + width_);
  }
  return other;
}

Steps Steps::widened(const Machine& machine) const {
  Steps other = copy();
  const auto width = static_cast<std::size_t>(machine.width);
  other.width_ = width;
  other.pool_.clear();
  for (std::int64_t segment = 0; segment < size(); segment++) {
    other.pool_.insert(other.pool_.end(), row(segment), row(segment) + width_);
    other.pool_.insert(other.pool_.end(),
                       machine.capacity.begin() + static_cast<std::ptrdiff_t>(width_),
                       machine.capacity.end());
  }
  return other;
}

void Steps::keep(Checkpoint& to) {
  to.times = times_;
  to.places = places_;
  to.totals = totals_;
  epoch_++;  // every row in use is shared from now on
}

void Steps::restore(const Checkpoint& from) {
  times_ = from.times;
  places_ = from.places;
  totals_ = from.totals;
  epoch_++;
}

void Steps::sweep(const std::vector<const Checkpoint*>& kept) {
  std::vector<bool> named(marks_.size(), false);
  for (const Checkpoint* checkpoint : kept) {
    for (const std::uint32_t place : checkpoint->places) named[place] = true;
  }
  spare_.clear();
  for (std::size_t place = named.size(); place-- > 0;) {
    if (!named[place]) spare_.push_back(static_cast<std::uint32_t>(place));
  }
  swept_at_ = marks_.size() < 2 * spare_.size() ? marks_.size() : 2 * marks_.size();
}

}  // namespace spillway
