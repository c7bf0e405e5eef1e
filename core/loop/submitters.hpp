#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "loop/extension.hpp"
#include "loop/kernel.hpp"
#include "loop/registry.hpp"
#include "loop/server.hpp"
#include "loop/static_jobs.hpp"

namespace spillway::batsim {

/// Brings static jobs or external events to the server, each at its time.
///
/// Those of the same time share one message. A submitter that had to wait for the server is late by
/// the same time: it sleeps for the time between two submissions, counted from the receipt of the
/// last message by the server.
class Submitter {
 public:
  explicit Submitter(Kernel& kernel) : kernel_(kernel) {}
  virtual ~Submitter() = default;

  /// Announces itself to the server.
  void begin();

 protected:
  virtual bool empty() const = 0;
  /// Time of the first item, s.
  virtual double next_s() const = 0;
  /// Takes the first item into the batch of the next message.
  virtual void take() = 0;
  virtual bool batched() const = 0;
  /// The server receives the batch.
  virtual void deliver() = 0;
  virtual void leave() = 0;

 private:
  void collect();
  void after();
  void woken();

  Kernel& kernel_;
  double since_s_ = 0.0;
};

class JobSubmitter final : public Submitter {
 public:
  /// `first`: called before the first job is sent.
  JobSubmitter(Kernel& kernel, Server& server, JobRegistry& registry,
               std::shared_ptr<StaticJobs> jobs, Action first)
      : Submitter(kernel),
        server_(server),
        registry_(registry),
        jobs_(std::move(jobs)),
        first_(std::move(first)) {}

 private:
  bool empty() const override { return jobs_->size() == 0; }
  double next_s() const override { return jobs_->next_s(); }
  void take() override;
  bool batched() const override { return !batch_.empty(); }
  void deliver() override;
  void leave() override { server_.job_submitter_left(); }

  Server& server_;
  JobRegistry& registry_;
  std::shared_ptr<StaticJobs> jobs_;
  Action first_;
  std::vector<JobPtr> batch_;
};

/// An external event, which only the embedding reads.
struct Occurrence {
  double time_s;
  PayloadPtr event;
};

class EventSubmitter final : public Submitter {
 public:
  /// `events`: by time, those of one time in the order in which they take effect.
  EventSubmitter(Kernel& kernel, Server& server, Extension& extension,
                 std::vector<Occurrence> events)
      : Submitter(kernel), server_(server), extension_(extension), events_(std::move(events)) {}

 private:
  bool empty() const override { return next_ == events_.size(); }
  double next_s() const override { return events_[next_].time_s; }
  void take() override { batch_.push_back(std::move(events_[next_++].event)); }
  bool batched() const override { return !batch_.empty(); }
  void deliver() override { extension_.occurred(std::exchange(batch_, {})); }
  void leave() override { server_.event_submitter_left(); }

  Server& server_;
  Extension& extension_;
  std::vector<Occurrence> events_;
  std::size_t next_ = 0;
  std::vector<PayloadPtr> batch_;
};

}  // namespace spillway::batsim
