#include "engines/fluid.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/precision.hpp"

namespace spillway {

FluidEngine::FluidEngine(std::shared_ptr<Network> network)
    : network_(std::move(network)),
      sum_(*network_),
      resources_(network_->bandwidths.size() + network_->speeds.size()) {
  const std::size_t links = network_->bandwidths.size();
  for (std::size_t link = 0; link < links; ++link) {
    resources_[link].capacity = network_->bandwidths[link];
    resources_[link].fatpipe = network_->fatpipe[link] != 0;
  }
  for (std::size_t host = 0; host < network_->speeds.size(); ++host) {
    const double speed = network_->speeds[host];
    resources_[links + host].capacity = static_cast<double>(network_->cores[host]) * speed;
    resources_[links + host].core_speed = speed;
  }
}

std::int32_t FluidEngine::take_row(Stage stage) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::int32_t>(rows_.size()));
    rows_.emplace_back();
  }
  const std::int32_t number = free_.back();
  free_.pop_back();
  active_.push_back(number);
  Row& task = row(number);
  task.handle = next_handle_++;
  task.stage = stage;
  task.listed = false;
  return number;
}

Handle FluidEngine::start(const Task& task) {
  sum_.add_up(*network_, task, demand_);
  const std::int32_t number = take_row(Stage::WAITING);
  Row& made = row(number);
  made.weights.assign(demand_.weights.begin(), demand_.weights.end());
  const bool idle = made.weights.empty();
  made.remaining = idle ? 0.0 : 1.0;
  made.rate = idle ? 1.0 : 0.0;
  made.latency_s = demand_.latency_s;
  made.window_bound = demand_.window > 0.0 ? TCP_WINDOW / (2.0 * demand_.window) : NEVER;
  const Handle handle = made.handle;
  if (made.latency_s <= 0.0) begin_work(number);
  return handle;
}

/// SimGrid counts down the rest of a sleep as it does a latency, and takes less than the precision
/// as 0.
Handle FluidEngine::sleep(double seconds) {
  Row& made = row(take_row(Stage::SLEEPING));
  made.weights.clear();
  made.remaining = 1.0;
  made.rate = 0.0;
  made.latency_s = seconds;
  made.span_s = seconds;
  return made.handle;
}

/// Row of an active task, or -1.
std::int32_t FluidEngine::find(Handle handle) const {
  const auto found = std::lower_bound(
      active_.begin(), active_.end(), handle,
      [this](std::int32_t number, Handle wanted) { return row(number).handle < wanted; });
  return found == active_.end() || row(*found).handle != handle ? -1 : *found;
}

double FluidEngine::cancel(Handle handle) {
  const double done = progress(handle);
  if (done == NOT_ACTIVE) return done;
  row(find(handle)).stage = Stage::ENDED;
  retire(nullptr);
  return done;
}

double FluidEngine::progress(Handle handle) const {
  const std::int32_t number = find(handle);
  if (number < 0) return NOT_ACTIVE;
  const Row& task = row(number);
  if (task.stage != Stage::SLEEPING) return 1.0 - task.remaining;
  return task.span_s > 0.0 ? 1.0 - task.latency_s / task.span_s : 1.0;
}

double FluidEngine::rate(Handle handle) const {
  for (const Row& task : rows_) {
    if (task.handle == handle) return task.rate;
  }
  return 0.0;
}

double FluidEngine::next_completion() {
  FluidEngine ahead(*this);
  std::vector<Handle> ended;
  ahead.advance(NEVER, ended);
  return ended.empty() ? NEVER : ahead.clock_s();
}

void FluidEngine::advance(double until_s, std::vector<Handle>& ended) {
  const std::size_t before = ended.size();
  while (true) {
    const double span_s = until_s - clock_s_;
    const double passed_s = step(span_s, ended);
    if (passed_s == NEVER) return;
    clock_s_ = passed_s < span_s ? std::min(clock_s_, until_s) : until_s;
    if (ended.size() > before || passed_s == span_s) return;
  }
}

double FluidEngine::step(double most_s, std::vector<Handle>& ended) {
  solve();
  const double event_s = time_to_event();
  const double passed_s = event_s >= 0.0 && event_s < most_s ? event_s : most_s;
  if (passed_s == NEVER) return NEVER;
  clock_s_ += passed_s;
  if (pass_time(passed_s)) retire(&ended);
  return passed_s;
}

void FluidEngine::change_speed(std::int32_t host, double speed) {
  Resource& processor = resource(network_->links() + host);
  processor.core_speed = speed;
  processor.capacity = static_cast<double>(network_->cores[static_cast<std::size_t>(host)]) * speed;
  for (const User& user : processor.users) {
    bound_rate(row(user.row));
    mark_dirty(row(user.row));
  }
}

/// The task takes part in the sharing from now on.
void FluidEngine::begin_work(std::int32_t number) {
  Row& task = row(number);
  task.stage = Stage::WORKING;
  task.listed = true;
  bound_rate(task);
  for (const Weight& weight : task.weights) {
    resource(weight.resource).users.push_back({number, weight.amount});
  }
  mark_dirty(task);
}

/// A task's largest rate: that of the TCP window, and on every host one core's speed.
void FluidEngine::bound_rate(Row& task) {
  double bound = task.window_bound;
  for (const Weight& weight : task.weights) {
    bound = std::min(bound, resource(weight.resource).core_speed / weight.amount);
  }
  task.bound = bound < std::numeric_limits<double>::max() ? bound : 0.0;
}

/// Notes that the users of all resources of a task changed.
void FluidEngine::mark_dirty(const Row& task) {
  for (const Weight& weight : task.weights) {
    Resource& used = resource(weight.resource);
    if (used.dirty) continue;
    used.dirty = true;
    dirty_.push_back(weight.resource);
  }
}

void FluidEngine::leave_resources(std::int32_t number) {
  for (const Weight& weight : row(number).weights) {
    std::vector<User>& users = resource(weight.resource).users;
    const auto is_it = [number](const User& user) { return user.row == number; };
    users.erase(std::remove_if(users.begin(), users.end(), is_it), users.end());
  }
  row(number).listed = false;
}

/// Finds the rates of all tasks that the changes since the last call can influence.
void FluidEngine::solve() {
  if (dirty_.empty()) return;
  reach();
  sharing_.solve();
  for (std::size_t k = 0; k < tasks_.size(); ++k) row(tasks_[k]).rate = sharing_.rate(k);
}

/// Makes a problem of the tasks and resources that the dirty resources can influence.
void FluidEngine::reach() {
  ++traversal_;
  sharing_.clear();
  reached_.clear();
  tasks_.clear();
  const auto enter = [this](std::int32_t found) {
    Resource& entered = resource(found);
    if (entered.mark == traversal_) return entered.number;
    entered.mark = traversal_;
    entered.number = static_cast<std::int32_t>(reached_.size());
    reached_.push_back(found);
    return entered.number;
  };
  for (const std::int32_t changed : dirty_) {
    resource(changed).dirty = false;
    enter(changed);
  }
  dirty_.clear();
  for (std::size_t k = 0; k < reached_.size(); ++k) {
    const Resource& found = resource(reached_[k]);
    sharing_.add_resource(found.capacity, found.fatpipe);
    for (auto user = found.users.rbegin(); user != found.users.rend(); ++user) {
      Row& task = row(user->row);
      if (task.mark != traversal_) {
        task.mark = traversal_;
        task.number = static_cast<std::int32_t>(tasks_.size());
        tasks_.push_back(user->row);
        sharing_.add_task(task.bound);
        for (const Weight& weight : task.weights) {
          sharing_.add_demand(enter(weight.resource), weight.amount);
        }
      }
      sharing_.add_user(task.number, user->weight);
    }
  }
}

/// Seconds to the next end of a latency or a task at the present rates; negative if no such end
/// will come.
double FluidEngine::time_to_event() const {
  double soonest_s = -1.0;
  for (const std::int32_t number : active_) {
    const Row& task = row(number);
    double wait_s = task.latency_s;
    if (task.stage == Stage::WORKING) {
      if (task.rate <= 0.0) continue;
      wait_s = task.remaining > 0.0 ? task.remaining / task.rate : 0.0;
    }
    if (soonest_s < 0.0 || wait_s < soonest_s) soonest_s = wait_s;
  }
  return soonest_s;
}

/// Lets time pass for all tasks; returns whether some ended (stage `ENDED`).
bool FluidEngine::pass_time(double delta_s) {
  bool ended = false;
  for (const std::int32_t number : active_) {
    Row& task = row(number);
    if (task.stage == Stage::WORKING) {
      task.remaining -= task.rate * delta_s;
      if (task.remaining >= WORK_PRECISION) continue;
      task.remaining = 0.0;
    } else {
      task.latency_s -= delta_s;
      if (task.latency_s >= TIME_PRECISION) continue;
      task.latency_s = 0.0;
      if (task.stage == Stage::WAITING) {
        begin_work(number);
        continue;
      }
    }
    task.stage = Stage::ENDED;
    ended = true;
  }
  return ended;
}

/// Removes ended tasks; tells them in the order of their starts.
void FluidEngine::retire(std::vector<Handle>* ended) {
  std::size_t kept = 0;
  for (const std::int32_t number : active_) {
    Row& task = row(number);
    if (task.stage != Stage::ENDED) {
      active_[kept++] = number;
      continue;
    }
    if (ended != nullptr) ended->push_back(task.handle);
    if (task.listed) {
      mark_dirty(task);
      leave_resources(number);
    }
    free_.push_back(number);
  }
  active_.resize(kept);
}

const char* FluidEngine::check() const {
  std::size_t held = 0;
  for (std::size_t number = 0; number < resources_.size(); ++number) {
    for (const User& user : resources_[number].users) {
      const Row& task = row(user.row);
      if (!task.listed || find(task.handle) < 0) return "a resource has a user that does not work";
      const auto asks = [number, &user](const Weight& weight) {
        return static_cast<std::size_t>(weight.resource) == number && weight.amount == user.weight;
      };
      if (std::none_of(task.weights.begin(), task.weights.end(), asks)) {
        return "a resource has a user that does not ask for it";
      }
      ++held;
    }
  }
  std::size_t listed = 0;
  for (std::size_t k = 0; k < active_.size(); ++k) {
    if (k > 0 && row(active_[k - 1]).handle >= row(active_[k]).handle) {
      return "active tasks are not in the order of their starts";
    }
    if (row(active_[k]).listed) listed += row(active_[k]).weights.size();
  }
  return held == listed ? nullptr : "users are missing at their resources";
}

}  // namespace spillway
