#include "book/drains.hpp"

#include <algorithm>
#include <utility>

namespace spillway {

Drained::Drained(std::int64_t capacity, std::vector<double> times, std::vector<std::int64_t> booked)
    : capacity_(capacity), times_(std::move(times)), booked_(std::move(booked)) {}

std::int64_t Drained::free(std::int64_t booked) const {
  return std::max<std::int64_t>(0, capacity_ - drained_ - booked);
}

std::int64_t Drained::free_at(double time_s) const {
  const auto after = std::upper_bound(times_.begin(), times_.end(), time_s) - times_.begin();
  return free(booked_[static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, after - 1))]);
}

std::vector<Drained::Change> Drained::drain(std::int64_t drained) {
  std::vector<std::int64_t> before;
  for (const std::int64_t booked : booked_) before.push_back(free(booked));
  drained_ = drained;
  std::vector<Change> changes;
  for (std::size_t place = 0; place < times_.size(); place++) {
    const std::int64_t taken = before[place] - free(booked_[place]);
    if (taken) changes.push_back({times_[place], end(place), taken});
  }
  return changes;
}

bool Drained::fault(double start_s, double end_s, std::int64_t size, Fault& why) const {
  for (std::size_t place = 0; place < times_.size(); place++) {
    if (!(times_[place] < end_s && start_s < end(place))) continue;
    const std::int64_t booked = booked_[place] + size;
    if (booked >= 0 && booked <= capacity_) continue;
    why = {std::max(times_[place], start_s), end(place), booked_[place]};
    return true;
  }
  return false;
}

std::vector<Drained::Change> Drained::book(double start_s, double end_s, std::int64_t size) {
  const std::size_t first = split(start_s), last = split(end_s);
  std::vector<Change> changes;
  for (std::size_t place = first; place < last; place++) {
    const std::int64_t before = free(booked_[place]);
    booked_[place] += size;
    const std::int64_t taken = before - free(booked_[place]);
    if (taken) changes.push_back({times_[place], end(place), taken});
  }
  std::size_t kept = 0;  // neighbours with equal bookings are joined
  for (std::size_t place = 0; place < times_.size(); place++) {
    if (place && booked_[place] == booked_[kept - 1]) continue;
    times_[kept] = times_[place];
    booked_[kept++] = booked_[place];
  }
  times_.resize(kept);
  booked_.resize(kept);
  return changes;
}

void Drained::advance(double now_s) {
  const auto after = std::upper_bound(times_.begin(), times_.end(), now_s) - times_.begin();
  const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, after - 1);
  times_.erase(times_.begin(), times_.begin() + first);
  booked_.erase(booked_.begin(), booked_.begin() + first);
  times_[0] = now_s;
}

// Let a segment begin at a time; its place.
std::size_t Drained::split(double time_s) {
  const auto at = std::lower_bound(times_.begin(), times_.end(), time_s) - times_.begin();
  const auto place = static_cast<std::size_t>(at);
  if (time_s < NEVER && (place == times_.size() || times_[place] > time_s)) {
    times_.insert(times_.begin() + at, time_s);
    booked_.insert(booked_.begin() + at, booked_[place - 1]);
  }
  return place;
}

}  // namespace spillway
