#include "loop/deadlines.hpp"

namespace spillway::batsim {

void Deadlines::limit(Job& job, std::int64_t number) {
  if (job.budget_s < 0.0) return;
  const double now_s = kernel_.clock_s();
  if (last_->budget_s != job.budget_s || last_->made_s != now_s || last_->live == 0) {
    last_ = std::make_shared<Deadline>();
    last_->budget_s = job.budget_s;
    last_->made_s = now_s;
    last_->timer = kernel_.after(job.budget_s, number, [this, deadline = last_] { end(deadline); });
  }
  last_->jobs.push_back(&job);
  ++last_->live;
  job.limit = last_;
}

void Deadlines::release(Job& job) {
  const std::shared_ptr<Deadline> deadline = std::move(job.limit);
  job.limit = nullptr;
  if (deadline == nullptr || --deadline->live > 0) return;
  kernel_.forget(deadline->timer);
  deadline->jobs.clear();
}

void Deadlines::end(const std::shared_ptr<Deadline>& deadline) {
  std::vector<Job*> late;
  for (Job* job : deadline->jobs) {
    if (job->limit == deadline) late.push_back(job);
  }
  deadline->live = 0;
  deadline->jobs.clear();
  for (Job* job : late) job->limit = nullptr;
  reached_(late);
}

}  // namespace spillway::batsim
