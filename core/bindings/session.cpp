#include "session/session.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>

#include "bindings/bindings.hpp"
#include "bindings/job.hpp"
#include "bindings/payload.hpp"
#include "bindings/python_runtime.hpp"
#include "bindings/python_types.hpp"
#include "bindings/timeline.hpp"
#include "bindings/translation.hpp"
#include "log/allocation_table.hpp"
#include "session/guard.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

/// Raise Python's DecisionRefused for a refusal: its words are in Python.
void refuse(nb::handle words, const Refusing& refused) {
  words.attr("_refuse")(std::int32_t(refused.code), refused.job_id, refused.a, refused.b, refused.c,
                        refused.x, refused.text, refused.job, refused.allocation);
}

/// Methods of the host in Python.
enum Method : std::size_t {
  ILLEGAL,
  BEGINS,
  BEFORE,
  OTHER,
  OUT_OF_ORDER,
  ACKNOWLEDGES,
  READ,
  ADMIT,
  DECISIONS,
  ENACT,
  PASSED,
  FEWEST,
  CHECK_START,
  AFTER_REJECTION,
  AFTER_START,
  AFTER_NODES,
  AFTER_END,
  WORDS,
  BEFORE_PASS,
  AFTER_PASS,
  MORE,
  AFTER_EVENTS,
  AFTER_DECISIONS,
  RELEASE,
  NO_MORE,
  LOCATED
};
constexpr const char* METHODS[] = {
    "_illegal",      "_begins",       "_before",          "_other",           "_out_of_order",
    "_acknowledges", "_read",         "_admit",           "_decisions",       "_enact",
    "_passed",       "_fewest",       "_check_start",     "_after_rejection", "_after_start",
    "_after_nodes",  "_after_end",    "_words",           "_before_pass",     "_after_pass",
    "_more",         "_after_events", "_after_decisions", "_release",         "_no_more",
    "_located"};

/// Methods of an observer, which is told of what its class does something about.
enum Watch : std::size_t {
  WATCH_SUBMITTED,
  WATCH_REJECTED,
  WATCH_STARTED,
  WATCH_ENDED_APART,
  WATCH_ENDED,
  WATCH_RESIZED,
  WATCH_HELD,
  WATCH_EVICTED
};
constexpr const char* WATCHES[] = {"submitted", "rejected", "started", "ended_apart",
                                   "ended",     "resized",  "held",    "evicted"};

MethodNames<std::size(METHODS)>& methods() {
  static MethodNames<std::size(METHODS)> names(METHODS);
  return names;
}

MethodNames<std::size(WATCHES)>& watches() {
  static MethodNames<std::size(WATCHES)> names(WATCHES);
  return names;
}

/// A session whose host is a subclass in Python (spillway.schedulers.core.session.Session): it is
/// called by the names of that class, and refers to it without owning it. It is the loop's other
/// side, too: there messages do not become objects of Python.
class PySession final : public Scheduler, public Host {
 public:
  PySession(bool each_event, const std::vector<std::string>& watched) : core(*this, each_event) {
    for (std::size_t method = 0; method < std::size(WATCHES); ++method)
      watched_ |= std::size_t(std::count(watched.begin(), watched.end(), WATCHES[method]))
                  << method;
  }

  Session core;
  nb::object decisions;  // of the pass that is under way
  std::shared_ptr<AllocationTable> log;
  std::int64_t submitted_jobs = 0, ended_jobs = 0;  // rejected ones have ended, too

  void set_self(nb::handle self) { self_ = self; }
  Translation& translation() { return translation_; }

  // ------------------------------------------------------------------ the conversation

  bool exchange(const Message& message, Reply& reply) override {
    const nb::gil_scoped_acquire lock;
    return located(reply, [&] { return core.handle(message, reply); });
  }

  bool go_on(Reply& reply) override {
    const nb::gil_scoped_acquire lock;
    return located(reply, [&] { return core.resume(reply); });
  }

  /// Call something of the core; its refusals become those of Python.
  template <typename Work>
  auto guarded(Work work) {
    try {
      return work();
    } catch (const Refusing& refused) {
      refuse(self_, refused);
      throw;
    } catch (const IllegalMessage& illegal) {
      call(ILLEGAL, std::int32_t(illegal.code), illegal.text, illegal.a, illegal.x, illegal.y);
      throw;
    }
  }

  /// Enact what follows from a call of the runtime; false where the call says that nothing does.
  template <typename Call>
  bool follow(Call call) {
    return guarded([&] {
      Step step;
      const bool does = call(step);
      if (does) core.enact(step);
      return does;
    });
  }

  // ------------------------------------------------------------------ the host

  void begins(const Event& event) override { call(BEGINS, translation_.to_python(event)); }
  void before(const Message& message) override { call(BEFORE, translation_.to_python(message)); }
  void other(const Event& event) override { call(OTHER, translation_.to_python(event)); }
  void out_of_order(const Event& event, std::size_t place) override {
    call(OUT_OF_ORDER, translation_.to_python(event), place);
  }
  bool acknowledges(const std::string& job_id) override {
    return nb::cast<bool>(call(ACKNOWLEDGES, job_id));
  }

  JobPtr read(const Event& event, std::int64_t number, std::string& reason) override {
    const nb::object profile = unwrap(event.profile);
    const nb::object found =
        call(READ, event.job_id, unwrap(event.payload), profile, event.time_s, number);
    const nb::object why = found[1];
    if (!why.is_none()) reason = nb::cast<std::string>(why);
    return nb::cast<JobPtr>(nb::object(found[0]));
  }

  Admission admit(JobPtr& job, std::string& reason) override {
    const nb::object found = call(ADMIT, job);
    if (found.is_none()) return Admission::HELD;
    job = nb::cast<JobPtr>(nb::object(found[0]));
    const nb::object why = found[1];
    if (why.is_none()) return Admission::WAITS;
    reason = nb::cast<std::string>(why);
    return Admission::REJECTED;
  }

  bool pass() override {
    decisions = nb::iter(call(DECISIONS));
    return resume();
  }

  bool resume() override {
    while (true) {
      PyObject* next = PyIter_Next(decisions.ptr());
      if (!next) {
        if (PyErr_Occurred()) {
          nb::python_error error;
          decisions.reset();
          throw error;
        }
        break;
      }
      const nb::object decision = nb::steal(next);
      if (decision.type().is(start_type())) {
        const nb::object job = decision.attr("job"), allocation = decision.attr("allocation");
        if (nb::isinstance<Job>(job) && nb::isinstance<Allocation>(allocation)) {
          core.start(nb::cast<JobPtr>(job), nb::cast<AllocationPtr>(allocation));
          continue;
        }
      }
      if (!nb::cast<bool>(call(ENACT, decision))) return false;
    }
    decisions.reset();
    call(PASSED);
    return true;
  }

  std::int64_t fewest_nodes(const JobPtr& job) override {
    return nb::cast<std::int64_t>(call(FEWEST, job));
  }
  void check_start(const JobPtr& job, const AllocationPtr& allocation) override {
    call(CHECK_START, job, allocation);
  }

  void submitted(const JobPtr& job) override {
    ++submitted_jobs;
    if (watched(WATCH_SUBMITTED)) tell(WATCH_SUBMITTED, job, core.now_s());
  }
  void rejected(const JobPtr& job, const std::string& reason) override {
    ++ended_jobs;
    if (watched(WATCH_REJECTED)) tell(WATCH_REJECTED, job, reason, core.now_s());
  }
  void started(const JobPtr& job, const AllocationPtr& allocation) override {
    if (log) log->add(*job, *allocation, core.now_s());
    if (watched(WATCH_STARTED)) tell(WATCH_STARTED, job, allocation, core.now_s());
  }
  void ended(const RunningPtr& running, JobState state) override {
    ++ended_jobs;
    if (watched(WATCH_ENDED_APART) &&
        (evicted_ || !running->past.empty() || !running->apart.empty()))
      tell(WATCH_ENDED_APART, running, core.now_s());
    if (watched(WATCH_ENDED)) tell(WATCH_ENDED, running, state_object(state), core.now_s());
  }
  void resized(const RunningPtr& running) override {
    if (watched(WATCH_RESIZED)) tell(WATCH_RESIZED, running, core.now_s());
  }
  void held(const JobPtr& job, const HoldingPtr& holding) override {
    if (watched(WATCH_HELD)) tell(WATCH_HELD, job, holding, core.now_s());
  }
  void evicted(const JobPtr& job, const HoldingPtr& holding) override {
    evicted_ = true;
    if (watched(WATCH_EVICTED)) tell(WATCH_EVICTED, job, holding, core.now_s());
  }

  void after_rejection(const JobPtr& job) override { call(AFTER_REJECTION, job); }
  void after_start(const JobPtr& job) override { call(AFTER_START, job); }
  void after_nodes(const std::string& job_id) override { call(AFTER_NODES, job_id); }
  void after_end(const RunningPtr& running, const Ended& ended) override {
    call(AFTER_END, running, state_object(ended.state), words(ended.reason), unwrap(ended.left),
         ended.kept_s);
  }
  std::string words(const Reason& reason) override {
    if (!reason) return "";
    return nb::cast<std::string>(
        call(WORDS, std::int32_t(reason.code), reason.number, reason.text));
  }
  void before_pass() override { call(BEFORE_PASS); }
  bool after_pass() override { return nb::cast<bool>(call(AFTER_PASS)); }
  bool more() override { return nb::cast<bool>(call(MORE)); }
  void after_events() override { call(AFTER_EVENTS); }
  void after_decisions() override { call(AFTER_DECISIONS); }
  bool release() override { return nb::cast<bool>(call(RELEASE)); }
  void no_more() override { call(NO_MORE); }

 private:
  /// Whether the policy has answered and does not pause; faults of Python get the place of the
  /// event that they come from, requests their place in the reply.
  template <typename Answer>
  bool located(Reply& reply, Answer answer) {
    try {
      if (!guarded(answer)) return false;
    } catch (nb::python_error& error) {
      if (core.event() < 0) throw;
      const nb::object value = nb::borrow(error.value());
      const nb::object known = call(LOCATED, value, core.event());
      if (known.is(value)) throw;
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(known.ptr())), known.ptr());
      throw nb::python_error();
    }
    std::int32_t index = 0;
    for (Request& request : reply.requests) request.index = index++;
    return true;
  }

  template <typename... Arguments>
  nb::object call(Method method, Arguments&&... arguments) {
    return self_.attr(methods()[method])(std::forward<Arguments>(arguments)...);
  }

  bool watched(Watch event) const { return watched_ >> event & 1; }
  template <typename... Arguments>
  void tell(Watch event, Arguments&&... arguments) {
    self_.attr("observer").attr(watches()[event])(std::forward<Arguments>(arguments)...);
  }

  nb::handle self_;
  Translation translation_;
  std::size_t watched_ = 0;
  bool evicted_ = false;
};

int visit(const PySession& session, const Visitor& visitor) { return visitor(session.decisions); }

void clear(PySession& session) { session.decisions.reset(); }

/// A method of the core; its refusals become those of Python.
template <typename Result, typename... Arguments>
auto guarded(Result (Session::*method)(Arguments...)) {
  return [method](PySession& self, std::decay_t<Arguments>... arguments) {
    return self.guarded([&] { return (self.core.*method)(std::move(arguments)...); });
  };
}

/// A method of the core that refuses nothing.
template <typename Result, typename... Arguments>
auto plain(Result (Session::*method)(Arguments...) const) {
  return [method](const PySession& self, std::decay_t<Arguments>... arguments) -> Result {
    return (self.core.*method)(std::move(arguments)...);
  };
}
template <typename Result, typename... Arguments>
auto plain(Result (Session::*method)(Arguments...)) {
  return [method](PySession& self, std::decay_t<Arguments>... arguments) -> Result {
    return (self.core.*method)(std::move(arguments)...);
  };
}

/// A truth of the core that Python may change.
template <bool Session::* TRUTH, typename Class>
void def_truth(Class& bound, const char* name) {
  bound.def_prop_rw(
      name, [](const PySession& self) { return self.core.*TRUTH; },
      [](PySession& self, bool value) { self.core.*TRUTH = value; });
}

/// Check something of a decision against a book alone; `words` has `_refuse`.
template <typename Check>
void check_alone(nb::handle words, const JobPtr& job, const AllocationPtr& allocation,
                 Check check) {
  try {
    check();
  } catch (Refusing& refused) {
    refused.job = job;
    refused.allocation = allocation;
    refuse(words, refused);
  }
}

}  // namespace

void bind_session(nb::module_& module) {
  module.def(
      "check_start",
      [](nb::handle words, const Book& book, bool waiting, JobPtr job, std::int64_t nodes,
         AllocationPtr allocation) {
        check_alone(words, job, allocation,
                    [&] { check_start(book, waiting, *job, nodes, *allocation); });
      },
      nb::arg("words"), nb::arg("book"), nb::arg("waiting"), nb::arg("job"), nb::arg("nodes"),
      nb::arg("allocation"));
  module.def(
      "check_storages",
      [](nb::handle words, const Book& book, JobPtr job, AllocationPtr allocation) {
        check_alone(words, job, allocation,
                    [&] { check_storages(book, *job, job->requests(), *allocation); });
      },
      nb::arg("words"), nb::arg("book"), nb::arg("job"), nb::arg("allocation"));

  nb::class_<PySession, Scheduler> session(
      module, "SessionCore", nb::type_slots(collected_slots<PySession, visit, clear>()));
  def_truth<&Session::dirty>(session, "dirty");
  def_truth<&Session::static_done>(session, "static_done");
  def_truth<&Session::rare>(session, "rare");
  def_truth<&Session::moldable>(session, "moldable");
  def_truth<&Session::layered>(session, "layered");
  session
      .def(
          "__init__",
          [](nb::pointer_and_handle<PySession> self, bool each_event,
             const std::vector<std::string>& watched) {
            new (self.p) PySession(each_event, watched);
            self.p->set_self(self.h);
          },
          nb::arg("each_event"), nb::arg("watched"))
      .def(
          "answer",
          [](PySession& self, nb::handle message) {
            Reply reply;
            return self.exchange(self.translation().message(message), reply)
                       ? self.translation().to_python(reply)
                       : nb::none();
          },
          nb::arg("message"))
      .def("go_on",
           [](PySession& self) {
             Reply reply;
             return self.go_on(reply) ? self.translation().to_python(reply) : nb::none();
           })
      .def(
          "begin",
          [](PySession& self, std::shared_ptr<Book> book, nb::handle runtime, bool dynamic,
             Nodes resources) {
            self.core.begin(std::move(book), runtime_of(runtime), Wire(dynamic),
                            std::move(resources));
          },
          nb::arg("book"), nb::arg("runtime"), nb::arg("dynamic"), nb::arg("resources"))
      .def_prop_ro("begun", plain(&Session::begun))
      .def_prop_ro("finished", plain(&Session::finished))
      .def_rw("log", &PySession::log, nb::arg().none())
      .def_ro("submitted_jobs", &PySession::submitted_jobs)
      .def_ro("ended_jobs", &PySession::ended_jobs)
      .def_prop_ro("now_s", plain(&Session::now_s))
      .def_prop_ro(
          "line", [](PySession& self) -> Queue& { return self.core.queue(); },
          nb::rv_policy::reference_internal)
      .def("filled_ids",
           [](const PySession& self) {
             std::vector<std::string> found;
             for (const auto& [job_id, time_s] : self.core.filled_s) found.push_back(job_id);
             return found;
           })
      .def(
          "filled",
          [](const PySession& self, const std::string& job_id) -> std::optional<double> {
            const auto found = self.core.filled_s.find(job_id);
            return found == self.core.filled_s.end() ? std::nullopt
                                                     : std::optional<double>(found->second);
          },
          nb::arg("job_id"))
      .def_prop_ro("filled_count", [](const PySession& self) { return self.core.filled_s.size(); })
      .def("knows", plain(&Session::knows), nb::arg("job_id"))
      .def(
          "times",
          [](const PySession& self, const std::string& job_id) {
            const Times times = self.core.times(job_id);
            return std::make_pair(times.started_s, times.ended_s);
          },
          nb::arg("job_id"))
      .def("note_start", plain(&Session::note_start), nb::arg("job_id"), nb::arg("now_s"))
      .def("note_end", plain(&Session::note_end), nb::arg("job_id"), nb::arg("now_s"),
           nb::arg("failed"))
      .def("check_submission", guarded(&Session::check_submission), nb::arg("job_id"))
      .def(
          "check_resources",
          [](PySession& self, const Nodes& ids, const std::string& member) {
            self.guarded([&] { self.core.check_resources(ids, member.c_str()); });
          },
          nb::arg("ids"), nb::arg("member"))
      .def_prop_ro(
          "resources",
          [](const PySession& self) { return nb::frozenset(nb::cast(self.core.resources())); })
      // Batsim's records
      .def_prop_ro(
          "closed",
          [](PySession& self) { return nb::frozenset(nb::cast(self.core.wire().closed())); })
      .def(
          "close_hosts",
          [](PySession& self, const Nodes& hosts) { return self.core.wire().close(hosts); },
          nb::arg("hosts"))
      .def(
          "open_hosts",
          [](PySession& self, const Nodes& hosts) { return self.core.wire().open(hosts); },
          nb::arg("hosts"))
      .def(
          "kill_confirmed",
          [](PySession& self, const std::string& job_id) {
            return self.core.wire().killed(job_id);
          },
          nb::arg("job_id"))
      .def(
          "finish_registration",
          [](PySession& self, bool finished) { self.core.wire().registration(finished); },
          nb::arg("finished"))
      // decisions and their consequences
      .def("tell_submitted", &PySession::submitted, nb::arg("job"))
      .def("tell_started", &PySession::started, nb::arg("job"), nb::arg("allocation"))
      .def(
          "tell_ended",
          [](PySession& self, RunningPtr running, nb::handle state) {
            self.ended(running, state_of(state));
          },
          nb::arg("running"), nb::arg("state"))
      .def("start", guarded(&Session::start), nb::arg("job"), nb::arg("allocation"))
      .def("hold", guarded(&Session::hold), nb::arg("job"), nb::arg("allocation"),
           nb::arg("until_s"))
      .def("evict", guarded(&Session::evict), nb::arg("job"))
      .def("reject_waiting", guarded(&Session::reject_waiting), nb::arg("job"), nb::arg("reason"))
      .def("reject", guarded(&Session::reject), nb::arg("job"), nb::arg("reason"))
      .def("kill_job", guarded(&Session::kill), nb::arg("job"))
      .def("wake", guarded(&Session::wake), nb::arg("time_s"))
      .def("enqueue", plain(&Session::enqueue), nb::arg("job"))
      .def(
          "send_one",
          [](PySession& self, nb::handle request) {
            self.guarded([&] { self.core.send(self.translation().request(request)); });
          },
          nb::arg("request"))
      .def(
          "hear",
          [](PySession& self, nb::handle event) {
            self.guarded([&] { self.core.hear(self.translation().event(event)); });
          },
          nb::arg("event"))
      .def("report_outage",
           [](PySession& self) {
             self.follow([&](Step& step) {
               self.core.runtime().outage(self.core.wire().closed(), self.core.now_s(), step);
               return true;
             });
           })
      .def(
          "give_up_nodes",
          [](PySession& self, JobPtr job, Nodes nodes) {
            return self.follow([&](Step& step) {
              return self.core.runtime().give_up(job, ascending(std::move(nodes)),
                                                 self.core.now_s(), step);
            });
          },
          nb::arg("job"), nb::arg("nodes"))
      .def(
          "end_without_nodes",
          [](PySession& self, JobPtr job) {
            self.follow([&](Step& step) {
              self.core.runtime().without_nodes(job, self.core.now_s(), step);
              return true;
            });
          },
          nb::arg("job"))
      .def(
          "move_job",
          [](PySession& self, JobPtr job, AllocationPtr allocation) {
            return self.core.runtime().move(job, allocation, self.core.now_s());
          },
          nb::arg("job"), nb::arg("allocation"))
      .def("fault", [](PySession& self) { return self.core.fault(); });
}

}  // namespace spillway::bindings
