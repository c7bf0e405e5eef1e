#include "bindings/python_runtime.hpp"

#include <nanobind/stl/string.h>

#include <utility>

#include "bindings/kinds.hpp"
#include "bindings/payload.hpp"
#include "bindings/played.hpp"
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

NodeIndices indices(nb::handle nodes) {
  if (nodes.is_none()) return nullptr;
  return std::make_shared<std::vector<std::int32_t>>(indices_of(nodes));
}

/// A runtime written in Python.
class PythonRuntime final : public Runtime {
 public:
  explicit PythonRuntime(nb::object runtime) : runtime_(std::move(runtime)) {}

  int rows() const override { return nb::cast<int>(runtime_.attr("rows")); }

  void stage(const JobPtr& job, const AllocationPtr& allocation, double now_s,
             Step& step) override {
    add(runtime_.attr("stage")(job, allocation, now_s), step);
  }
  void unstage(const JobPtr& job, double now_s, Step& step) override {
    add(runtime_.attr("unstage")(job, now_s), step);
  }
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
  bool give_up(const JobPtr& job, const std::vector<std::int32_t>& nodes, double now_s,
               Step& step) override {
    const nb::object found = runtime_.attr("give_up")(job, nb::frozenset(tuple_of(nodes)), now_s);
    if (found.is_none()) return false;
    add(found, step);
    return true;
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
      ended.left = wrap(it.attr("left"));
      ended.kept_s = nb::cast<double>(it.attr("kept_s"));
    }
    for (const nb::handle it : made.attr("released")) {
      step.released.push_back({nb::cast<std::string>(it.attr("job_id")), indices(it.attr("nodes")),
                               kinds_of(it.attr("covering"))});
    }
    for (const nb::handle it : made.attr("expected")) {
      step.expected.push_back({nb::cast<std::string>(it.attr("job_id")),
                               nb::cast<double>(it.attr("until_s")),
                               kinds_of(it.attr("covering"))});
    }
    for (const nb::handle it : made.attr("staged")) {
      step.staged.push_back({nb::cast<std::string>(it.attr("job_id")), stated(it.attr("reason"))});
    }
  }

  nb::object runtime_;
  mutable Translation translation_;
};

/// Whether a class changes nothing of what its native part does.
bool as_written(nb::handle type) {
  static Imported base("spillway.schedulers.jobmodels.runtime", "ProgramRuntime");
  for (const char* name : {"stage", "unstage", "start", "without_nodes", "kill", "move", "handle",
                           "settle", "outage", "give_up", "check"}) {
    if (!type.attr(name).is((*base).attr(name))) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<Runtime> native_runtime(nb::handle runtime) {
  if (nb::hasattr(runtime, "core") && as_written(runtime.type()))
    return played(runtime.attr("core"));
  return std::make_shared<PythonRuntime>(nb::borrow(runtime));
}

}  // namespace spillway::bindings
