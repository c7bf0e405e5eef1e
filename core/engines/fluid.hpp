#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engines/demand.hpp"
#include "engines/engine.hpp"
#include "engines/fair_bottleneck.hpp"
#include "engines/network.hpp"

namespace spillway {

/// SimGrid's `ptask_L07` with its *fair bottleneck* sharing, reproduced operation by operation and
/// in its order, so that even rounding agrees with SimGrid 3.32: whether a resource counts as
/// exhausted may depend on the last bit, and one round more or less changes rates visibly.
///
/// Only its cost differs: rates are computed again in the part of the machine that a change can
/// reach (tasks linked by common resources), and the rates of other tasks stay; rounds in one part
/// never depend on another part.
class FluidEngine final : public Engine {
 public:
  explicit FluidEngine(std::shared_ptr<Network> network);

  bool ends_at_once() const override { return false; }
  std::size_t active() const override { return active_.size(); }
  Handle start(const Task& task) override;
  Handle sleep(double seconds) override;
  double cancel(Handle handle) override;
  double progress(Handle handle) const override;
  /// Costs a copy of the engine's state.
  double next_completion() override;
  void advance(double until_s, std::vector<Handle>& ended) override;
  double step(double most_s, std::vector<Handle>& ended) override;
  void change_speed(std::int32_t host, double speed) override;

  /// Share of its work per second at which a task ran just before the clock, also one that has just
  /// ended; else 0.
  double rate(Handle handle) const;
  /// The first of its invariants that does not hold, for tests; null if all hold.
  const char* check() const;

 private:
  enum class Stage : char { WAITING, WORKING, SLEEPING, ENDED };

  struct Row {
    Handle handle = -1;
    Stage stage = Stage::ENDED;
    bool listed = false;        // it is among the users of its resources
    std::int32_t number = 0;    // in the problem that is made
    std::int64_t mark = 0;      // last traversal that met it
    double remaining = 0.0;     // work left in [0, 1]
    double rate = 0.0;          // work per second
    double bound = 0.0;         // largest rate allowed; 0: any
    double window_bound = 0.0;  // largest rate within the TCP window
    double latency_s = 0.0;     // until the work begins, or the sleep ends
    double span_s = 0.0;        // length of a sleep
    std::vector<Weight> weights;
  };

  /// A task that works, by its row, and what it asks of a resource.
  struct User {
    std::int32_t row;
    double weight;
  };

  struct Resource {
    double capacity = 0.0;      // units per second
    double core_speed = NEVER;  // flop/s of one core; links: no limit
    bool fatpipe = false;       // users do not share
    bool dirty = false;         // its users changed
    std::int32_t number = 0;    // in the problem that is made
    std::int64_t mark = 0;      // last traversal that met it
    /// In the order in which they began to work; SimGrid adds and subtracts in the reverse order.
    std::vector<User> users;
  };

  Row& row(std::int32_t number) { return rows_[static_cast<std::size_t>(number)]; }
  const Row& row(std::int32_t number) const { return rows_[static_cast<std::size_t>(number)]; }
  Resource& resource(std::int32_t number) { return resources_[static_cast<std::size_t>(number)]; }

  std::int32_t take_row(Stage stage);
  std::int32_t find(Handle handle) const;
  void begin_work(std::int32_t number);
  void bound_rate(Row& task);
  void mark_dirty(const Row& task);
  void leave_resources(std::int32_t number);
  void retire(std::vector<Handle>* ended);
  double time_to_event() const;
  bool pass_time(double delta_s);
  void solve();
  void reach();

  std::shared_ptr<Network> network_;
  DemandSum sum_;
  Demand demand_;
  FairBottleneck sharing_;
  std::vector<Resource> resources_;  // links, then processors
  std::vector<Row> rows_;
  std::vector<std::int32_t> active_;  // rows in the order of starts
  std::vector<std::int32_t> free_;
  std::vector<std::int32_t> dirty_;    // resources
  std::vector<std::int32_t> reached_;  // resources that a change can reach
  std::vector<std::int32_t> tasks_;    // rows that a change can reach
  std::int64_t traversal_ = 0;
  Handle next_handle_ = 0;
};

}  // namespace spillway
