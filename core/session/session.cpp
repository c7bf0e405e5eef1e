#include "session/session.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/limits.hpp"
#include "session/guard.hpp"

namespace spillway {

namespace {

constexpr std::size_t LONGEST_NAME = 255;

// Make a check; its refusal says which job and allocation it is about.
template <typename Check>
void about(const JobPtr& job, const AllocationPtr& allocation, Check check) {
  try {
    check();
  } catch (Refusing& refused) {
    refused.job = job;
    refused.allocation = allocation;
    throw;
  }
}

}  // namespace

// -------------------------------------------------------------------- the conversation

void Session::begin(std::shared_ptr<Book> book, std::shared_ptr<Runtime> runtime, Wire wire,
                    Nodes resources) {
  book_ = std::move(book);
  runtime_ = std::move(runtime);
  wire_ = std::move(wire);
  resources_ = ascending(std::move(resources));
}

bool Session::handle(const Message& message, Reply& reply) {
  handling_ = -1;
  if (finished_) throw IllegalMessage(Illegal::AFTER_END);
  check_times(message);
  now_s_ = message.now_s;
  requests_.clear();
  message_ = message;
  next_ = 0;
  if (begun()) {
    wire_.sent();
    const bool others =
        std::any_of(message.events.begin(), message.events.end(), [](const Event& event) {
          return event.kind >= Event::Kind::NO_MORE_JOBS || event.kind == Event::Kind::JOB_KILLED;
        });
    if (others) host_.before(message);
  }
  stage_ = Stage::EVENTS;
  return go_on(reply);
}

bool Session::resume(Reply& reply) {
  if (!host_.resume()) return false;
  passing_ = false;
  stage_ = stage_ == Stage::EVENT_PASS ? Stage::EVENTS : Stage::AFTER_PASS;
  return go_on(reply);
}

bool Session::go_on(Reply& reply) {
  if (stage_ == Stage::EVENTS) {
    if (!go_on_events()) return false;
    if (rare) host_.after_events();
    stage_ = finished_ || !begun() ? Stage::DONE : Stage::TURN;
  }
  if (stage_ != Stage::DONE) {
    if (!decide()) return false;
    if (rare) host_.after_decisions();
    stage_ = Stage::DONE;
  }
  if (static_done && begun() && !finished_ && wire_.registration_open() && !queue_.size() &&
      !book_->running_count())
    host_.no_more();
  drop_late_kills();
  reply.now_s = now_s_;
  reply.requests.swap(requests_);
  requests_.clear();
  message_.events.clear();
  return true;
}

// A kill may have been requested at one event of a message that reports the job's end at a later
// one: Batsim does not know that job any more.
void Session::drop_late_kills() {
  bool any = false;
  for (Request& request : requests_) {
    if (request.kind != Request::Kind::KILL_JOB) continue;
    auto& ids = request.job_ids;
    const auto over = [this](const std::string& id) { return !wire_.running(id); };
    ids.erase(std::remove_if(ids.begin(), ids.end(), over), ids.end());
    any = any || ids.empty();
  }
  if (!any) return;
  const auto nothing = [](const Request& request) {
    return request.kind == Request::Kind::KILL_JOB && request.job_ids.empty();
  };
  requests_.erase(std::remove_if(requests_.begin(), requests_.end(), nothing), requests_.end());
}

bool Session::go_on_events() {
  while (next_ < message_.events.size()) {
    const std::size_t place = next_++;
    const Event& event = message_.events[place];
    handling_ = std::int64_t(place);
    const bool begins = event.kind == Event::Kind::SIMULATION_BEGINS;
    if (finished_ || (!begun() && !begins)) host_.out_of_order(event, place);
    dispatch(event);
    handling_ = -1;
    if (!each_event_) continue;
    const bool released = rare && host_.release();
    if ((released || dirty) && !pass()) {
      stage_ = Stage::EVENT_PASS;
      return false;
    }
  }
  return true;
}

// Let policy, controllers and runtime act until there are no further consequences.
bool Session::decide() {
  while (true) {
    if (stage_ == Stage::TURN) {
      if (rare) host_.before_pass();
      if (dirty && !pass()) {
        stage_ = Stage::TURN_PASS;
        return false;
      }
    }
    stage_ = Stage::TURN;
    if (rare && host_.after_pass()) continue;
    Step step;
    runtime_->settle(now_s_, step);
    const bool any_ended = !step.ended.empty();
    enact(step);
    if (any_ended) continue;
    if (!rare || !host_.more()) return true;
  }
}

// Let the policy decide once.
bool Session::pass() {
  dirty = false;
  if (!queue_.size() && !book_->running_count()) return true;
  book_->advance(now_s_);
  return host_.pass();
}

void Session::check_times(const Message& message) {
  if (!(last_s_ <= message.now_s && message.now_s <= LATEST_S)) {
    IllegalMessage illegal(Illegal::MESSAGE_TIME);
    illegal.x = message.now_s;
    illegal.y = last_s_;
    throw illegal;
  }
  last_s_ = message.now_s;
  for (std::size_t place = 0; place < message.events.size(); ++place) {
    const double time_s = message.events[place].time_s;
    if (!(event_s_ <= time_s && time_s <= message.now_s)) {
      const bool after = event_s_ <= time_s;
      IllegalMessage illegal(after ? Illegal::EVENT_AFTER : Illegal::EVENT_TIME, "",
                             std::int64_t(place));
      illegal.x = time_s;
      illegal.y = after ? message.now_s : event_s_;
      throw illegal;
    }
    event_s_ = time_s;
  }
}

// -------------------------------------------------------------------- events

void Session::dispatch(const Event& event) {
  switch (event.kind) {
    case Event::Kind::SIMULATION_BEGINS:
      if (begun()) throw IllegalMessage(Illegal::SECOND_BEGIN);
      host_.begins(event);
      break;
    case Event::Kind::SIMULATION_ENDS:
      finished_ = true;
      break;
    case Event::Kind::JOB_SUBMITTED:
      submitted(event);
      break;
    case Event::Kind::JOB_COMPLETED:
      completed(event);
      break;
    case Event::Kind::REQUESTED_CALL:
      called();
      break;
    default:
      host_.other(event);
      break;
  }
}

bool Session::check_submission(const std::string& job_id) {
  if (job_id.empty() || job_id.size() > LONGEST_NAME)
    throw IllegalMessage(Illegal::ID_LENGTH, job_id);
  const std::size_t mark = job_id.find('!');
  if (mark == std::string::npos || mark == 0 || mark + 1 == job_id.size() ||
      job_id.find('!', mark + 1) != std::string::npos)
    throw IllegalMessage(Illegal::ID_FORM, job_id);
  if (job_id.find(OWN_MARK) < mark) return false;
  if (!ids_.enter(job_id).second) throw IllegalMessage(Illegal::ID_USED, job_id);
  return true;
}

void Session::check_resources(const Nodes& ids, const char* member) const {
  for (const std::int32_t id : ids)
    if (!has(resources_, id)) throw IllegalMessage(Illegal::RESOURCE_UNKNOWN, member, id);
}

void Session::submitted(const Event& event) {
  const std::string& job_id = event.job_id;
  if (rare && host_.acknowledges(job_id)) return;
  if (!check_submission(
          job_id)) {  // a sub-job that the scheduler registered: the runtime has its name
    Step step;
    if (!runtime_->submitted(job_id, now_s_, step))
      throw IllegalMessage(Illegal::NOT_REGISTERED, job_id);
    enact(step);
    return;
  }
  if (wire_.registration_finished()) throw IllegalMessage(Illegal::REGISTRATION_OVER, job_id);
  std::string reason;
  JobPtr job = host_.read(event, next_number(), reason);
  wire_.submitted(job->id);
  host_.submitted(job);
  if (reason.empty()) {
    const Host::Admission admission = host_.admit(job, reason);
    if (admission == Host::Admission::WAITS) enqueue(job);
    if (admission != Host::Admission::REJECTED) return;
  }
  reject(job, reason);
}

void Session::completed(const Event& event) {
  if (event.alloc) check_resources(*event.alloc, "alloc");
  Step step;
  if (!wire_.completed(event.job_id) ||
      !runtime_->completed(event.job_id, event.state, event.return_code, now_s_, step))
    throw IllegalMessage(Illegal::NOT_RUNNING, event.job_id);
  enact(step);
}

void Session::called() {
  Step step;
  if (runtime_->called(now_s_, step))
    enact(step);  // requested by the runtime: no event for the policy
  else
    dirty = true;
}

void Session::hear(const Event& event) {
  Step step;
  if (runtime_->heard(event, now_s_, step)) enact(step);
}

// -------------------------------------------------------------------- decisions

void Session::start(const JobPtr& job, const AllocationPtr& allocation) {
  const auto given = std::int64_t(allocation->nodes.size());
  std::int64_t nodes = job->nodes;
  if (moldable && given < nodes && host_.fewest_nodes(job) <= given) nodes = given;
  about(job, allocation,
        [&] { check_start(*book_, queue_.has(job->id), *job, nodes, *allocation); });
  if (rare || layered) host_.check_start(job, allocation);
  if (book_->held_count() && book_->held(job->id) && filled_s.find(job->id) == filled_s.end())
    throw Refusing(Refused::STILL_FILLING, job->id);
  queue_.remove(job->id);
  filled_s.erase(job->id);
  book_->start(job, allocation, now_s_);
  host_.started(job, allocation);
  if (rare)
    host_.after_start(job);
  else
    note_start(job->id, now_s_);
  Step step;
  runtime_->start(job, allocation, now_s_, step);
  enact(step);
}

void Session::hold(const JobPtr& job, const AllocationPtr& allocation, double until_s) {
  about(job, allocation,
        [&] { check_hold(*book_, queue_.has(job->id), *job, *allocation, until_s, now_s_); });
  book_->hold(job, allocation, now_s_, until_s);
  host_.held(job, book_->held(job->id));
  Step step;
  runtime_->stage(job, allocation, now_s_, step);
  enact(step);
}

void Session::evict(const JobPtr& job) {
  if (!book_->held(job->id)) throw Refusing(Refused::EVICT_NOTHING, job->id);
  filled_s.erase(job->id);
  const HoldingPtr holding = book_->evict(job->id, now_s_);
  host_.evicted(job, holding);
  Step step;
  runtime_->unstage(job, now_s_, step);
  enact(step);
}

void Session::reject_waiting(const JobPtr& job, const std::string& reason) {
  if (!queue_.has(job->id)) throw Refusing(Refused::REJECT_NOT_WAITING, job->id);
  if (book_->held(job->id)) evict(job);
  queue_.remove(job->id);
  reject(job, reason);
}

void Session::kill(const JobPtr& job) {
  if (!book_->running(job->id)) throw Refusing(Refused::KILL_NOT_RUNNING, job->id);
  Step step;
  runtime_->kill(job, now_s_, step);
  enact(step);
}

void Session::wake(double time_s) {
  check_wake(time_s, now_s_);
  if (time_s > LATEST_S) return;  // no simulation gets beyond
  Request call;
  call.kind = Request::Kind::CALL_ME_LATER;
  call.time_s = now_s_;
  call.at_s = time_s;
  send(std::move(call));
}

// -------------------------------------------------------------------- consequences

void Session::enqueue(const JobPtr& job) {
  queue_.add(job);
  dirty = true;
}

void Session::reject(const JobPtr& job, const std::string& reason) {
  host_.rejected(job, reason);
  if (rare)
    host_.after_rejection(job);
  else
    note_end(job->id, now_s_, true);
  Request request;
  request.kind = Request::Kind::REJECT_JOB;
  request.time_s = now_s_;
  request.job_id = job->id;
  send(std::move(request));
}

void Session::send(Request request) {
  if (request.kind == Request::Kind::CALL_ME_LATER) check_wake(request.at_s, request.time_s);
  wire_.check(request);
  requests_.push_back(std::move(request));
}

void Session::enact(Step& step) {
  for (Request& request : step.requests) send(std::move(request));
  for (const Staged& one : step.staged) staged(one);
  for (const Released& one : step.released) released(one);
  for (const Ended& one : step.ended) ended(one);
}

// A waiting job's stage-in has finished; after a failed stage-in, the job is rejected.
void Session::staged(const Staged& staged) {
  dirty = true;
  if (staged.reason)
    reject_waiting(queue_.find(staged.job_id), host_.words(staged.reason));
  else
    filled_s[staged.job_id] = now_s_;
}

// Resources that a running job has given back are free in the policy's next pass.
void Session::released(const Released& released) {
  Book::GiveBackFault why{};
  const Nodes* nodes = released.nodes.get();
  const RunningPtr changed =
      book_->give_back(released.job_id, now_s_, nodes, released.covering, why);
  if (!changed) {
    constexpr Refused CODES[] = {Refused::GIVEN_NOTHING, Refused::GIVEN_EXTRA,
                                 Refused::GIVEN_UNKNOWN};
    throw Refusing(CODES[why.code], released.job_id, why.node);
  }
  host_.resized(changed);
  dirty = true;
  const auto& holdings = changed->apart;
  const bool on_nodes =
      holdings.empty() || std::any_of(holdings.begin(), holdings.end(), [](const HoldingPtr& one) {
        return (one->kinds & NODES) != 0;
      });
  if (!on_nodes) host_.after_nodes(released.job_id);
}

void Session::ended(const Ended& ended) {
  if (!book_->running(ended.job_id)) throw IllegalMessage(Illegal::END_UNKNOWN, ended.job_id);
  const RunningPtr running = book_->end(ended.job_id, now_s_);
  book_->accounts.ended(*running, std::uint8_t(ended.state), now_s_);
  host_.ended(running, ended.state);
  dirty = true;
  if (rare)
    host_.after_end(running, ended);
  else
    note_end(ended.job_id, now_s_, ended.state != JobState::COMPLETED_SUCCESSFULLY);
}

// -------------------------------------------------------------------- times of jobs, for jobs that
// depend on them

Times Session::times(const std::string& job_id) const {
  const Times* found = ids_.find(job_id);
  return found == nullptr ? Times() : *found;
}

void Session::note_start(const std::string& job_id, double now_s) {
  Times& times = ids_.enter(job_id).first;
  if (std::isnan(times.started_s)) times.started_s = now_s;
}

void Session::note_end(const std::string& job_id, double now_s, bool failed) {
  Times& times = ids_.enter(job_id).first;
  if (std::isnan(times.ended_s)) times.ended_s = failed ? -now_s : now_s;
}

std::string Session::fault() {
  if (std::string found = book_->timeline().check(); !found.empty()) return found;
  if (std::string found = book_->fault(); !found.empty()) return found;
  if (std::string found = runtime_->fault(); !found.empty()) return found;
  if (std::string found = queue_.fault(); !found.empty()) return found;
  for (const JobPtr& job : queue_.jobs())
    if (book_->running(job->id)) return "job " + job->id + " waits and runs at once";
  return "";
}

}  // namespace spillway
