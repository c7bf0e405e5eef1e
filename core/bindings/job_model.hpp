// Job models written in Python, and their programs, which are generators.
#pragma once

#include "bindings/operations.hpp"
#include "session/job_model.hpp"

namespace spillway::bindings {

/// A generator of operations.
class Generator final : public Program {
 public:
  Generator(nb::object generator, nb::object job)
      : generator_(std::move(generator)), job_(std::move(job)) {}

  bool next(const Done* done, Operation& operation) override;
  void close() override;
  int visit(const Visitor& visitor) const;

 private:
  nb::object generator_;
  nb::object job_;
};

/// A model with what its runtime needs beside it. `restarts`, `streams` and `on_record` may be
/// `None`.
class PythonModel final : public JobModel {
 public:
  PythonModel(nb::object model, nb::object streams, nb::object restarts, nb::object on_record)
      : model_(std::move(model)),
        streams_(std::move(streams)),
        restarts_(std::move(restarts)),
        on_record_(std::move(on_record)),
        machine_(nb::none()) {}

  void begin(nb::object machine) { machine_ = std::move(machine); }
  int visit(const Visitor& visitor) const;
  void clear();

  ProgramPtr stage_in(const JobPtr& job) override { return staging("stage_in", job); }
  ProgramPtr program(const JobPtr& job, const AllocationPtr& allocation, double start_s,
                     const PayloadPtr& resumed) override;
  ProgramPtr stage_out(const JobPtr& job) override { return staging("stage_out", job); }
  std::shared_ptr<const AdditionalIo> stream(const JobPtr& job, const Ids& hosts,
                                             const PayloadPtr& bytes) override;
  bool shrink(const PayloadPtr& state, const std::vector<std::int32_t>& nodes) override;
  Resumed resumed(const PayloadPtr& left) override;
  void went_out(const std::vector<std::int32_t>& hosts, double now_s) override;
  Left left(const Record& record) override;
  void ended(const Record& record) override;

 private:
  ProgramPtr staging(const char* name, const JobPtr& job);

  nb::object model_;
  nb::object streams_;
  nb::object restarts_;
  nb::object on_record_;
  nb::object machine_;
};

/// The record as `spillway.schedulers.jobmodels.record.JobRecord`.
nb::object record_object(const Record& record);

}  // namespace spillway::bindings
