#include "engines/waterfill.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spillway {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

/// Distance to the next larger number.
double spacing(double value) {
  return std::nextafter(value, std::numeric_limits<double>::infinity()) - value;
}

}  // namespace

void WaterfillEngine::Running::turn(double now_s, double new_factor) {
  done_s = computed_s(now_s);
  since_s = now_s;
  factor = new_factor;
}

WaterfillEngine::WaterfillEngine(std::vector<double> speeds, std::vector<char> stores, IoTree tree)
    : speeds_(std::move(speeds)),
      stores_(std::move(stores)),
      tree_(std::move(tree)),
      places_(speeds_.size(), -1) {}

double WaterfillEngine::duration(const std::vector<std::int32_t>& hosts,
                                 const std::vector<double>& flops) const {
  double longest_s = 0.0;
  for (std::size_t k = 0; k < hosts.size() && !flops.empty(); ++k) {
    const double work = flops.size() == 1 ? flops[0] : flops[k];
    const double speed = speeds_[at(hosts[k])];
    if (work > 0.0) longest_s = std::max(longest_s, speed > 0.0 ? work / speed : NEVER);
  }
  return longest_s;
}

/// Constant rate of each compute host: its bytes to and from storage hosts, spread over the
/// computation; the sum of a host's bytes in the order of the flows.
std::vector<IoRate> WaterfillEngine::demand(const Task& task, double nominal_s) {
  std::vector<IoRate> moved;
  for (const Flow& flow : task.flows) {
    const bool from_store = stores_[at(flow.from)] != 0;
    if (from_store == (stores_[at(flow.to)] != 0) || flow.bytes <= 0.0) continue;
    const std::int32_t host = from_store ? flow.to : flow.from;
    std::int32_t& place = places_[at(host)];
    if (place < 0) {
      place = static_cast<std::int32_t>(moved.size());
      moved.push_back({host, 0.0});
    }
    moved[at(place)].bytes_per_s += flow.bytes;
  }
  for (IoRate& rate : moved) {
    places_[at(rate.host)] = -1;
    rate.bytes_per_s = std::nearbyint(rate.bytes_per_s / nominal_s);
  }
  const auto is_nothing = [](const IoRate& rate) { return !(rate.bytes_per_s > 0.0); };
  moved.erase(std::remove_if(moved.begin(), moved.end(), is_nothing), moved.end());
  return moved;
}

bool WaterfillEngine::plays(const Task& task) const {
  const double nominal_s = duration(task.hosts, task.flops);
  if (nominal_s > 0.0 && nominal_s < NEVER) return true;
  return std::none_of(task.flows.begin(), task.flows.end(), [this](const Flow& flow) {
    return flow.bytes > 0.0 && (stores_[at(flow.from)] != 0) != (stores_[at(flow.to)] != 0);
  });
}

Handle WaterfillEngine::start(const Task& task) {
  if (!plays(task)) return NOT_PLAYED;
  Running made;
  made.hosts = task.hosts;
  made.flops = task.flops;
  made.nominal_s = duration(task.hosts, task.flops);
  made.demand = demand(task, made.nominal_s);
  return begin(std::move(made));
}

Handle WaterfillEngine::sleep(double seconds) {
  Running made;
  made.nominal_s = seconds;
  return begin(std::move(made));
}

Handle WaterfillEngine::begin(Running task) {
  task.since_s = clock_s_;
  tree_.change_demand(task.demand, 1.0);
  changed_ = changed_ || !task.demand.empty();
  running_.emplace(next_handle_, std::move(task));
  return next_handle_++;
}

void WaterfillEngine::take(Handle handle) {
  const auto found = running_.find(handle);
  const Running& task = found->second;
  tree_.change_demand(task.demand, -1.0);
  changed_ = changed_ || !task.demand.empty();
  running_.erase(found);
}

double WaterfillEngine::cancel(Handle handle) {
  const double done = progress(handle);
  if (done != NOT_ACTIVE) take(handle);
  return done;
}

double WaterfillEngine::progress(Handle handle) const {
  const auto found = running_.find(handle);
  if (found == running_.end()) return NOT_ACTIVE;
  const Running& task = found->second;
  return task.nominal_s > 0.0 ? std::min(1.0, task.computed_s(clock_s_) / task.nominal_s) : 1.0;
}

void WaterfillEngine::share() {
  if (!changed_) return;
  changed_ = false;
  const bool contended = tree_.contended();
  if (!contended && !contention_) return;
  if (contended) tree_.share();
  contention_ = false;
  for (auto& [handle, task] : running_) {
    const double factor = contended ? least_factor(task) : 1.0;
    if (factor != task.factor) task.turn(clock_s_, factor);
    contention_ = contention_ || factor < 1.0;
  }
}

/// Factor of a task's worst host; hosts without a link above them always get their requests.
double WaterfillEngine::least_factor(const Running& task) const {
  double least = 1.0;
  for (const IoRate& rate : task.demand) {
    if (tree_.above(rate.host) >= 0) least = std::min(least, tree_.factor(rate.host));
  }
  return least;
}

double WaterfillEngine::next_completion() {
  share();
  double soonest_s = NEVER;
  for (const auto& [handle, task] : running_) soonest_s = std::min(soonest_s, task.end_s());
  return soonest_s;
}

void WaterfillEngine::advance(double until_s, std::vector<Handle>& ended) {
  const double now_s = std::min(until_s, next_completion());
  if (now_s == NEVER) return;
  if (!running_.empty()) busy_s_ += now_s - clock_s_;
  if (contention_) contended_s_ += now_s - clock_s_;
  clock_s_ = now_s;
  const double noise_s = 4.0 * spacing(now_s);
  const std::size_t first = ended.size();
  for (const auto& [handle, task] : running_) {
    if (task.end_s() <= now_s + noise_s) ended.push_back(handle);
  }
  for (std::size_t k = first; k < ended.size(); ++k) {
    take(ended[k]);
  }
}

void WaterfillEngine::change_speed(std::int32_t host, double speed) {
  speeds_[at(host)] = speed;
  for (auto& [handle, task] : running_) {
    if (std::find(task.hosts.begin(), task.hosts.end(), host) == task.hosts.end()) continue;
    task.turn(clock_s_, task.factor);
    const double nominal_s = duration(task.hosts, task.flops);
    const double stretch = task.nominal_s > 0.0 ? nominal_s / task.nominal_s : 1.0;
    task.nominal_s *= stretch;
    task.done_s *= stretch;
  }
}

}  // namespace spillway
