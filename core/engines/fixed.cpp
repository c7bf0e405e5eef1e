#include "engines/fixed.hpp"

#include <algorithm>

namespace spillway {

double FixedEngine::Running::progress(double now_s) const {
  if (left_s <= 0.0) return 1.0;
  return done + (1.0 - done) * (now_s - since_s) / left_s;
}

double FixedEngine::duration(const std::vector<std::int32_t>& hosts,
                             const std::vector<double>& flops) const {
  double longest_s = 0.0;
  for (std::size_t at = 0; at < hosts.size() && !flops.empty(); ++at) {
    const double work = flops.size() == 1 ? flops[0] : flops[at];
    const double speed = speeds_[static_cast<std::size_t>(hosts[at])];
    if (work > 0.0) longest_s = std::max(longest_s, speed > 0.0 ? work / speed : NEVER);
  }
  return longest_s;
}

Handle FixedEngine::begin(Running running) {
  const Handle handle = next_handle_++;
  ends_.push({running.end_s, handle});
  running_.emplace(handle, std::move(running));
  return handle;
}

Handle FixedEngine::start(const Task& task) {
  const double seconds = duration(task.hosts, task.flops);
  return begin({0.0, clock_s_, seconds, clock_s_ + seconds, task.hosts, task.flops});
}

Handle FixedEngine::sleep(double seconds) {
  return begin({0.0, clock_s_, seconds, clock_s_ + seconds, {}, {}});
}

double FixedEngine::cancel(Handle handle) {
  const double done = progress(handle);
  running_.erase(handle);
  return done;
}

double FixedEngine::progress(Handle handle) const {
  const auto found = running_.find(handle);
  return found == running_.end() ? NOT_ACTIVE : found->second.progress(clock_s_);
}

double FixedEngine::next_completion() {
  for (; !ends_.empty(); ends_.pop()) {
    const auto [end_s, handle] = ends_.top();
    const auto found = running_.find(handle);
    if (found != running_.end() && found->second.end_s == end_s) return end_s;
  }
  return NEVER;
}

void FixedEngine::advance(double until_s, std::vector<Handle>& ended) {
  const double now_s = std::min(until_s, next_completion());
  if (now_s == NEVER) return;
  clock_s_ = now_s;
  while (next_completion() <= now_s) {
    const Handle handle = ends_.top().second;
    ends_.pop();
    running_.erase(handle);
    ended.push_back(handle);
  }
}

void FixedEngine::change_speed(std::int32_t host, double speed) {
  speeds_[static_cast<std::size_t>(host)] = speed;
  for (auto& [handle, running] : running_) {
    if (std::find(running.hosts.begin(), running.hosts.end(), host) == running.hosts.end()) {
      continue;
    }
    running.done = running.progress(clock_s_);
    running.since_s = clock_s_;
    running.left_s = (1.0 - running.done) * duration(running.hosts, running.flops);
    running.end_s = running.since_s + running.left_s;
    ends_.push({running.end_s, handle});
  }
}

}  // namespace spillway
