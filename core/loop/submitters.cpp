#include "loop/submitters.hpp"

#include "model/precision.hpp"

namespace spillway::batsim {

void Submitter::begin() {
  kernel_.post_here([] {},
                    [this] {
                      since_s_ = kernel_.clock_s();
                      collect();
                    });
}

/// Takes the items that are due and sends them; then sleeps until the next one, or leaves.
void Submitter::collect() {
  const double limit_s = since_s_ + TIME_PRECISION;
  while (!empty() && next_s() <= limit_s) take();
  if (batched()) {
    kernel_.post_here([this] { deliver(); }, [this] { after(); });
  } else {
    after();
  }
}

void Submitter::after() {
  if (empty()) {
    kernel_.post_here([this] { leave(); });
  } else {
    kernel_.after(next_s() - since_s_, [this] { woken(); });
  }
}

void Submitter::woken() {
  since_s_ = kernel_.clock_s();
  take();
  collect();
}

void JobSubmitter::take() {
  if (first_) std::exchange(first_, {})();
  batch_.push_back(jobs_->pop_first());
  registry_.enter(batch_.back());
}

void JobSubmitter::deliver() {
  const std::vector<JobPtr> jobs = std::exchange(batch_, {});
  server_.jobs_submitted(jobs);
}

}  // namespace spillway::batsim
