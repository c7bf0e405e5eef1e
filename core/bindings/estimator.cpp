#include "bindings/estimator.hpp"

#include <nanobind/stl/shared_ptr.h>

namespace nb = nanobind;

namespace spillway::bindings {

double PyEstimator::estimate_s(const JobPtr& job) {
  return nb::cast<double>(estimator_.attr("estimate_s")(job));
}

double PyEstimator::correct_s(const JobPtr& job, double elapsed_s) {
  return nb::cast<double>(estimator_.attr("correct_s")(job, elapsed_s));
}

void PyEstimator::observe(const JobPtr& job, double runtime_s) {
  estimator_.attr("observe")(job, runtime_s);
}

std::shared_ptr<Estimator> estimator_of(nb::object estimator) {
  if (estimator.is_none()) return std::make_shared<Walltimes>();
  return std::make_shared<PyEstimator>(std::move(estimator));
}

}  // namespace spillway::bindings
