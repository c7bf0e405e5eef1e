// A partly drained storage node: its bookings over time, from which its free bytes follow.
//
// Bookings from before stay, even if they exceed the bytes that are left. Free bytes are thus no
// plain difference: they are the bytes left less the bytes booked, and zero where that is negative.
#pragma once
#include <cstdint>
#include <vector>

#include "model/resource.hpp"

namespace spillway {

class Drained {
 public:
  // Free bytes fall by `taken` over [start_s, end_s); below zero they rise.
  struct Change {
    double start_s, end_s;
    std::int64_t taken;
  };

  // Why bytes cannot be booked: bytes booked at a time, and until when.
  struct Fault {
    double time_s, until_s;
    std::int64_t booked;
  };

  // Starts of the segments, the last one endless, and the bytes booked in each.
  Drained(std::int64_t capacity, std::vector<double> times, std::vector<std::int64_t> booked);

  std::int64_t capacity() const { return capacity_; }
  std::int64_t drained() const { return drained_; }
  const std::vector<double>& times() const { return times_; }
  std::int64_t free_at(double time_s) const;

  // Drain so many bytes in all.
  std::vector<Change> drain(std::int64_t drained);
  // Whether bytes cannot be booked (below zero: released) over an interval. More bytes than are
  // left may be booked, as they may be held already; never more than the storage node has.
  bool fault(double start_s, double end_s, std::int64_t size, Fault& why) const;
  // Book bytes over an interval (below zero: release them); there must be no fault.
  std::vector<Change> book(double start_s, double end_s, std::int64_t size);
  void advance(double now_s);

 private:
  std::int64_t free(std::int64_t booked) const;
  double end(std::size_t place) const {
    return place + 1 < times_.size() ? times_[place + 1] : NEVER;
  }
  std::size_t split(double time_s);

  std::int64_t capacity_, drained_ = 0;
  std::vector<double> times_;
  std::vector<std::int64_t> booked_;
};

}  // namespace spillway
