#include "engines/fair_bottleneck.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/precision.hpp"

namespace spillway {
namespace {

/// Work, in tasks and resources visited, without any task settled, after which the rounds are cut
/// short: a second or two. Fat pipes with very unequal users take that long to fill; SimGrid
/// continues, for hours in some cases.
constexpr std::size_t PATIENCE = 100'000'000;
/// Rounds from then on; bounds count as reached within a slack that grows by 1e-15 with each.
constexpr int LAST_ROUNDS = 100;

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

double left_of(double unused, double taken) {
  const double left = unused - taken;
  return left < RATE_PRECISION ? 0.0 : left;
}

}  // namespace

void FairBottleneck::clear() {
  bounds_.clear();
  demands_.clear();
  unused_.clear();
  fatpipe_.clear();
  users_.clear();
}

void FairBottleneck::solve() {
  demands_.begins.push_back(demands_.of.size());
  users_.begins.push_back(users_.of.size());
  rates_.assign(bounds_.size(), 0.0);
  raises_.assign(bounds_.size(), 0.0);
  open_.assign(bounds_.size(), 1);
  offers_.assign(unused_.size(), 0.0);
  open_tasks_.clear();
  in_play_.clear();
  for (std::size_t task = 0; task < bounds_.size(); ++task) open_tasks_.push_back(task);
  for (std::size_t resource = 0; resource < unused_.size(); ++resource)
    in_play_.push_back(resource);
  std::size_t idle = 0;
  int extra = 0;
  while (!open_tasks_.empty() && extra < LAST_ROUNDS) {
    make_offers();
    raise_rates(extra * 1e-15);
    take_raises();
    const std::size_t before = open_tasks_.size();
    keep_open_tasks();
    idle = open_tasks_.size() == before ? idle + open_tasks_.size() + in_play_.size() : 0;
    extra += idle > PATIENCE;
  }
}

/// First part of a round: the offer of every resource; those without open tasks leave.
void FairBottleneck::make_offers() {
  std::size_t kept = 0;
  for (const std::size_t resource : in_play_) {
    std::int32_t users = 0;
    for (std::size_t k = users_.begins[resource]; k < users_.begins[resource + 1]; ++k) {
      users += open_[at(users_.of[k])];
    }
    if (users == 0) continue;
    offers_[resource] = unused_[resource] / (fatpipe_[resource] ? 1 : users);
    in_play_[kept++] = resource;
  }
  in_play_.resize(kept);
}

/// Second part: open tasks raise their rates by their smallest offer per weight; those at their
/// bound settle.
void FairBottleneck::raise_rates(double slack) {
  for (const std::size_t task : open_tasks_) {
    double step = std::numeric_limits<double>::max();
    for (std::size_t k = demands_.begins[task]; k < demands_.begins[task + 1]; ++k) {
      step = std::min(step, offers_[at(demands_.of[k])] / demands_.weights[k]);
    }
    const double bound = bounds_[task];
    if (bound > 0.0) step = std::min(step, bound - rates_[task]);
    raises_[task] = step;
    rates_[task] += step;
    if (bound > 0.0 && std::abs(rates_[task] - bound) <= slack * bound) open_[task] = 0;
  }
}

/// Third part: the last raises of all users are taken, settled ones' too; exhausted resources
/// settle their users, and leave.
void FairBottleneck::take_raises() {
  std::size_t kept = 0;
  for (const std::size_t resource : in_play_) {
    const std::size_t begin = users_.begins[resource];
    const std::size_t end = users_.begins[resource + 1];
    double unused = unused_[resource];
    if (fatpipe_[resource]) {
      double least = offers_[resource];
      for (std::size_t k = begin; k < end; ++k) {
        least = std::min(least, users_.weights[k] * raises_[at(users_.of[k])]);
      }
      unused = left_of(unused, least);
    } else {
      for (std::size_t k = begin; k < end; ++k) {
        unused = left_of(unused, users_.weights[k] * raises_[at(users_.of[k])]);
      }
    }
    unused_[resource] = unused;
    if (unused > 0.0) {
      in_play_[kept++] = resource;
      continue;
    }
    for (std::size_t k = begin; k < end; ++k) open_[at(users_.of[k])] = 0;
  }
  in_play_.resize(kept);
}

void FairBottleneck::keep_open_tasks() {
  const auto is_settled = [this](std::size_t task) { return open_[task] == 0; };
  open_tasks_.erase(std::remove_if(open_tasks_.begin(), open_tasks_.end(), is_settled),
                    open_tasks_.end());
}

}  // namespace spillway
