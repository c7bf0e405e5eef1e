#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "book/holdings.hpp"

namespace spillway::bindings {

/// Expected durations from an object of Python (spillway.schedulers.policykit.estimates.Estimator).
class PyEstimator final : public Estimator {
 public:
  explicit PyEstimator(nanobind::object estimator) : estimator_(std::move(estimator)) {}

  double estimate_s(const JobPtr& job) override;
  double correct_s(const JobPtr& job, double elapsed_s) override;
  void observe(const JobPtr& job, double runtime_s) override;

 private:
  nanobind::object estimator_;
};

/// The estimator of an object: `None` for walltimes.
std::shared_ptr<Estimator> estimator_of(nanobind::object estimator);

}  // namespace spillway::bindings
