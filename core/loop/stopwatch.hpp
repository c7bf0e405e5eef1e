#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/messages.hpp"

namespace spillway {

/// A scheduler whose answers are timed; it stands before the scheduler that answers.
///
/// The thread's CPU time is read once in a block of answers, because that is a system call; within
/// a block it is divided in proportion to real time.
class Stopwatch final : public Scheduler {
 public:
  /// Answers between two readings of the thread's CPU time.
  static constexpr std::int64_t BLOCK = 256;

  /// `report`: called with the simulated time (s) a few times a second.
  Stopwatch(Scheduler& scheduler, std::function<void(double)> report)
      : scheduler_(scheduler), report_(std::move(report)) {}

  bool exchange(const Message& message, Reply& reply) override;
  bool go_on(Reply& reply) override;

  /// Real time of each answer, in order, ns.
  const std::vector<std::int64_t>& times_ns() const { return times_ns_; }
  /// CPU seconds of this thread in answers.
  double cpu_s() const;

 private:
  void next_block();
  double block_cpu_ns() const;
  void note(std::int64_t began_ns, double now_s);

  Scheduler& scheduler_;
  std::function<void(double)> report_;
  std::vector<std::int64_t> times_ns_;
  std::int64_t next_report_ns_ = 0;
  double cpu_ns_ = 0.0;
  std::int64_t answered_ = 0;
  std::int64_t answered_ns_ = 0;
  std::int64_t block_ns_ = 0;
  std::int64_t block_cpu_ns_ = 0;
};

}  // namespace spillway
