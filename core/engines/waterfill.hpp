#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engines/engine.hpp"
#include "engines/io_tree.hpp"

namespace spillway {

/// Constant I/O streams beside computation, under the contention model of Herbein et al. (HPDC
/// 2016, section 4.4).
///
/// A task computes for max(flops / speed) over its hosts, and its transfer between a compute host
/// and a storage host is a stream of constant rate over that time. If the requests of links exceed
/// their bandwidth, it is shared by water-filling from the file system down, a task gets the share
/// of its worst host, and computes at that share of its speed. Tasks on one host share its
/// bandwidth in proportion, so that the host's factor is theirs. Between two starts or ends all
/// shares are constant. Transfers between compute hosts, and latencies, take no time: they are not
/// in the paper's model.
class WaterfillEngine final : public Engine {
 public:
  /// `speeds`: flop/s of one core, by host; `stores`: whether a host is a storage host.
  WaterfillEngine(std::vector<double> speeds, std::vector<char> stores, IoTree tree);

  bool ends_at_once() const override { return true; }
  std::size_t active() const override { return running_.size(); }
  Handle start(const Task& task) override;
  Handle sleep(double seconds) override;
  double cancel(Handle handle) override;
  double progress(Handle handle) const override;
  double next_completion() override;
  void advance(double until_s, std::vector<Handle>& ended) override;
  /// Streams keep their initial rates.
  void change_speed(std::int32_t host, double speed) override;

  /// Time so far during which some task got less than it requested, and during which some task ran.
  double contended_s() const { return contended_s_; }
  double busy_s() const { return busy_s_; }

 private:
  struct Running {
    std::vector<IoRate> demand;
    std::vector<std::int32_t> hosts;
    std::vector<double> flops;
    double nominal_s = 0.0;  // without contention
    double since_s = 0.0;    // when it began to run at `factor` of its speed
    double done_s = 0.0;     // seconds of computation until then
    double factor = 1.0;

    double computed_s(double now_s) const { return done_s + factor * (now_s - since_s); }
    double end_s() const { return factor == 0.0 ? NEVER : since_s + (nominal_s - done_s) / factor; }
    void turn(double now_s, double new_factor);
  };

  /// Whether a task has constant rates: none moves bytes to or from a storage host without
  /// computing.
  bool plays(const Task& task) const;
  double duration(const std::vector<std::int32_t>& hosts, const std::vector<double>& flops) const;
  std::vector<IoRate> demand(const Task& task, double nominal_s);
  Handle begin(Running task);
  void take(Handle handle);
  /// Gives every task its factor, if streams came or went since the last time.
  void share();
  double least_factor(const Running& task) const;

  std::vector<double> speeds_;
  std::vector<char> stores_;
  IoTree tree_;
  std::map<Handle, Running> running_;  // in the order of starts
  bool changed_ = false;               // streams came or went
  bool contention_ = false;            // some task gets less than it requests
  double contended_s_ = 0.0;
  double busy_s_ = 0.0;
  Handle next_handle_ = 0;
  std::vector<std::int32_t> places_;  // by host, in the demand that is added up; -1 without
};

}  // namespace spillway
