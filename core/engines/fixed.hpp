#pragma once

#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engines/engine.hpp"

namespace spillway {

/// Given durations: a task takes as long as its slowest host computes, max(flops / speed), without
/// any contention. Transfers and latencies take no time.
class FixedEngine final : public Engine {
 public:
  /// `speeds`: flop/s of one core, by host.
  explicit FixedEngine(std::vector<double> speeds) : speeds_(std::move(speeds)) {}

  bool ends_at_once() const override { return true; }
  std::size_t active() const override { return running_.size(); }
  Handle start(const Task& task) override;
  Handle sleep(double seconds) override;
  double cancel(Handle handle) override;
  double progress(Handle handle) const override;
  double next_completion() override;
  void advance(double until_s, std::vector<Handle>& ended) override;
  void change_speed(std::int32_t host, double speed) override;

 private:
  /// A task: progress at an instant, seconds left then, and its end at that speed; its work, which
  /// a change of a speed asks for.
  struct Running {
    double done;
    double since_s;
    double left_s;
    double end_s;
    std::vector<std::int32_t> hosts;
    std::vector<double> flops;

    double progress(double now_s) const;
  };
  using End = std::pair<double, Handle>;

  double duration(const std::vector<std::int32_t>& hosts, const std::vector<double>& flops) const;
  Handle begin(Running running);

  std::vector<double> speeds_;
  std::unordered_map<Handle, Running> running_;
  /// Ends of tasks, also of those that were cancelled or changed their speed since.
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends_;
  Handle next_handle_ = 0;
};

}  // namespace spillway
