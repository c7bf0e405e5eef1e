#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spillway {

/// SimGrid's *fair bottleneck*: the rates of tasks that share resources.
///
/// In rounds, over tasks that are still *open* and resources still in play: a resource offers each
/// of its open tasks an equal part of its free capacity (a fat pipe: all of it to each); a task
/// raises its rate by the smallest offer/weight, at most up to its bound; the raise is taken from
/// all its resources. A resource with free capacity below the precision leaves, and settles its
/// tasks; so does reaching the bound. Settled tasks continue to take their last raise from
/// resources in play in every later round: this is SimGrid's behaviour, and its difference from
/// max-min.
///
/// Every sum is made in SimGrid's order: whether a resource counts as exhausted may depend on the
/// last bit. Columns of numbers are kept from problem to problem for their room.
class FairBottleneck {
 public:
  /// Begins another problem.
  void clear();
  /// Adds a resource with units per second; its users follow, in the order in which their raises
  /// are taken.
  void add_resource(double capacity, bool fatpipe) {
    unused_.push_back(capacity);
    fatpipe_.push_back(fatpipe);
    users_.begins.push_back(users_.of.size());
  }
  /// Adds a user of the last resource, `task` numbered in any order from 0 on without gaps.
  void add_user(std::int32_t task, double weight) { users_.add(task, weight); }
  /// Adds the next task, with its largest rate (0: any); its demands follow.
  void add_task(double bound) {
    bounds_.push_back(bound);
    demands_.begins.push_back(demands_.of.size());
  }
  /// Adds a demand of the last task: what a rate of 1 takes from a resource.
  void add_demand(std::int32_t resource, double weight) { demands_.add(resource, weight); }

  void solve();

  std::size_t tasks() const { return bounds_.size(); }
  double rate(std::size_t task) const { return rates_[task]; }

 private:
  /// The tasks of each resource, or the resources of each task, and the weights between them.
  struct Shares {
    std::vector<std::size_t> begins;
    std::vector<std::int32_t> of;
    std::vector<double> weights;

    void add(std::int32_t number, double weight) {
      of.push_back(number);
      weights.push_back(weight);
    }
    void clear() {
      begins.clear();
      of.clear();
      weights.clear();
    }
  };

  void make_offers();
  void raise_rates(double slack);
  void take_raises();
  void keep_open_tasks();

  // By task.
  std::vector<double> bounds_;
  std::vector<double> rates_;
  std::vector<double> raises_;      // increase of the rate in the last round
  std::vector<std::int32_t> open_;  // 1 until its rate is settled
  Shares demands_;
  // By resource.
  std::vector<double> unused_;
  std::vector<double> offers_;
  std::vector<char> fatpipe_;
  Shares users_;
  // Numbers of those still open, and still in play.
  std::vector<std::size_t> open_tasks_;
  std::vector<std::size_t> in_play_;
};

}  // namespace spillway
