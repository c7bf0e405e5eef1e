#include "bindings/python_runtime.hpp"

#include <nanobind/stl/string.h>

#include <utility>

#include "bindings/python_types.hpp"
#include "bindings/translation.hpp"
#include "bindings/values.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

Reason stated(nb::handle words) {
  Reason reason;
  reason.text = nb::cast<std::string>(words);
  if (!reason.text.empty()) reason.code = Reason::Code::STATED;
  return reason;
}

/// A runtime written in Python. Its jobs stage nothing and keep their size.
class PythonRuntime final : public Runtime {
 public:
  explicit PythonRuntime(nb::object runtime) : runtime_(std::move(runtime)) {}

  void stage(const JobPtr& job, const AllocationPtr&, double, Step& step) override {
    step.staged.push_back({job->id, {}});
  }
  void unstage(const JobPtr&, double, Step&) override {}
  void start(const JobPtr& job, const AllocationPtr& allocation, double now_s,
             Step& step) override {
    add(runtime_.attr("start")(job, allocation, now_s), step);
  }
  void without_nodes(const JobPtr& job, double now_s, Step& step) override {
    add(runtime_.attr("without_nodes")(job, now_s), step);
  }
  void kill(const JobPtr& job, double now_s, Step& step) override {
    add(runtime_.attr("kill")(job, now_s), step);
  }
  bool move(const JobPtr& job, const AllocationPtr& allocation, double now_s) override {
    runtime_.attr("move")(job, allocation, now_s);  // raises DecisionRefused
    return true;
  }

  bool completed(const std::string& job_id, JobState state, int return_code, double now_s,
                 Step& step) override {
    Event event;
    event.kind = Event::Kind::JOB_COMPLETED;
    event.time_s = now_s;
    event.job_id = job_id;
    event.state = state;
    event.return_code = return_code;
    event.alloc = std::make_shared<std::vector<std::int32_t>>();
    return heard(event, now_s, step);
  }
  bool submitted(const std::string& job_id, double now_s, Step& step) override {
    Event event;
    event.kind = Event::Kind::JOB_SUBMITTED;
    event.time_s = now_s;
    event.job_id = job_id;
    return heard(event, now_s, step);
  }
  bool called(double now_s, Step& step) override {
    Event event;
    event.kind = Event::Kind::REQUESTED_CALL;
    event.time_s = now_s;
    return heard(event, now_s, step);
  }
  bool heard(const Event& event, double now_s, Step& step) override {
    const nb::object found = runtime_.attr("handle")(translation_.to_python(event), now_s);
    if (found.is_none()) return false;
    add(found, step);
    return true;
  }

  void settle(double now_s, Step& step) override { add(runtime_.attr("settle")(now_s), step); }
  void outage(const std::vector<std::int32_t>& closed, double now_s, Step& step) override {
    add(runtime_.attr("outage")(nb::frozenset(tuple_of(closed)), now_s), step);
  }
  bool give_up(const JobPtr&, const std::vector<std::int32_t>&, double, Step&) override {
    return false;
  }
  std::string fault() const override {
    runtime_.attr("check")();
    return "";
  }

 private:
  void add(nb::handle made, Step& step) const {
    for (const nb::handle it : made.attr("requests"))
      step.requests.push_back(translation_.request(it));
    for (const nb::handle it : made.attr("ended")) {
      Ended& ended = step.ended.emplace_back();
      ended.job_id = nb::cast<std::string>(it.attr("job_id"));
      ended.state = state_of(it.attr("state"));
      ended.return_code = nb::cast<int>(it.attr("return_code"));
      ended.reason = stated(it.attr("reason"));
    }
  }

  nb::object runtime_;
  mutable Translation translation_;
};

}  // namespace

std::shared_ptr<Runtime> python_runtime(nb::handle runtime) {
  return std::make_shared<PythonRuntime>(nb::borrow(runtime));
}

}  // namespace spillway::bindings
