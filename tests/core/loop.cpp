// Batsim's side of a simulation without Python: a scheduler in C++ on machines without contention.

#include "loop/loop.hpp"

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "engines/fixed.hpp"
#include "loop/fault.hpp"

namespace {

using spillway::Event;
using spillway::FixedEngine;
using spillway::JobFacts;
using spillway::JobState;
using spillway::Message;
using spillway::Origin;
using spillway::PayloadPtr;
using spillway::Profile;
using spillway::ProfilePtr;
using spillway::Reply;
using spillway::Request;
using spillway::Scheduler;
using spillway::Task;
using spillway::Work;
using spillway::batsim::Extension;
using spillway::batsim::Fault;
using spillway::batsim::Job;
using spillway::batsim::JobPtr;
using spillway::batsim::JobTable;
using spillway::batsim::Loop;
using spillway::batsim::LoopOptions;
using spillway::batsim::Machines;
using spillway::batsim::Rule;
using spillway::batsim::StaticJobs;

constexpr std::int32_t MACHINES = 8;

/// An embedding that has nothing rare.
class Nothing final : public Extension {
 public:
  void begin_program(Job&) override {}
  void resume_program(Job&, std::int32_t) override {}
  void cancel_chains(Job&) override {}
  PayloadPtr program_progress(Job&, double) override { return nullptr; }
  void end_program(Job&) override {}
  JobPtr find(const std::string&, std::string& reason) override {
    reason = "it does not exist";
    return nullptr;
  }
  void register_profile(const Request&) override {}
  JobPtr register_job(const Request&) override { return nullptr; }
  ProfilePtr extra_profile(const Job&, const Request&) override { return nullptr; }
  void other(const Request&) override {}
  void describe(const Request&) override {}
  void forget(const Job&) override {}
  void drop_profile(const Job&) override {}
  void occurred(const std::vector<PayloadPtr>&) override {}
  bool computes(std::int32_t) override { return true; }
  void recall(std::int64_t) override {}
  void told(Job&) override {}
  void first_submission() override {}
  void progress(double, std::int64_t) override {}
};

/// First come, first served; each job is followed by a sub-job of its own, on its first machine.
class Fcfs final : public Scheduler {
 public:
  bool exchange(const Message& message, Reply& reply) override {
    reply.now_s = message.now_s;
    for (const Event& event : message.events) {
      if (event.kind == Event::Kind::JOB_SUBMITTED) queue_.push_back(event.job);
      if (event.kind == Event::Kind::JOB_COMPLETED) ended(event, reply);
      if (event.kind == Event::Kind::JOB_KILLED) ++kills;
      if (event.kind == Event::Kind::SIMULATION_BEGINS) call(reply, 40.0);
      if (event.kind == Event::Kind::REQUESTED_CALL) kill(reply);
    }
    while (!queue_.empty() && static_cast<std::int32_t>(free_.size()) >= queue_.front()->res) {
      start(*queue_.front(), reply);
      queue_.pop_front();
    }
    for (std::size_t at = 0; at < reply.requests.size(); ++at) {
      reply.requests[at].index = static_cast<std::int32_t>(at);
    }
    return answers;
  }

  bool answers = true;
  int ends = 0;
  int kills = 0;

 private:
  static Request& add(Reply& reply, Request::Kind kind) {
    Request& request = reply.requests.emplace_back();
    request.kind = kind;
    request.time_s = reply.now_s;
    return request;
  }

  static void call(Reply& reply, double at_s) {
    add(reply, Request::Kind::CALL_ME_LATER).at_s = at_s;
  }

  void kill(Reply& reply) {
    if (!last_.empty()) add(reply, Request::Kind::KILL_JOB).job_ids = {last_};
  }

  void start(const JobFacts& job, Reply& reply) {
    const auto end = free_.begin() + job.res;
    Request& request = add(reply, Request::Kind::EXECUTE_JOB);
    request.job_id = job.id;
    request.alloc = std::make_shared<std::vector<std::int32_t>>(free_.begin(), end);
    free_.erase(free_.begin(), end);
    last_ = job.id;
  }

  void ended(const Event& event, Reply& reply) {
    ++ends;
    free_.insert(free_.end(), event.alloc->begin(), event.alloc->end());
    if (event.job_id.find('%') != std::string::npos) return;
    auto origin = std::make_shared<Origin>(Origin{event.job_id + "%", Origin::Kind::LOCAL});
    auto profile = std::make_shared<Profile>();
    profile->name = "drain";
    profile->work.kind = Work::Kind::HOMOGENEOUS;
    profile->work.cpu = 2e9;
    add(reply, Request::Kind::REGISTER_PROFILE);
    auto facts = std::make_shared<JobFacts>(origin, "0", profile, reply.now_s, 1, 1.5);
    add(reply, Request::Kind::REGISTER_JOB).job = facts;
    free_.pop_back();
    Request& request = add(reply, Request::Kind::EXECUTE_JOB);
    request.job_id = facts->id;
    request.alloc = std::make_shared<std::vector<std::int32_t>>(1, event.alloc->back());
  }

  std::deque<std::shared_ptr<const JobFacts>> queue_;
  std::vector<std::int32_t> free_ = {0, 1, 2, 3, 4, 5, 6, 7};
  std::string last_;
};

struct World {
  World()
      : engine(std::vector<double>(MACHINES, 1e9)),
        machines({0, 1, 2, 3, 4, 5, 6, 7}, MACHINES,
                 [](std::int32_t) { return spillway::batsim::Way{1e-4}; }),
        table([this](const std::string& rows) { written += rows; }) {
    options.own_way = {0.0, 1e10};
    options.dynamic_jobs = true;
    options.most_idle_calls = 100;
  }

  /// Jobs of one to four machines, every other one a pause.
  void submit(Loop& loop, int count) {
    auto origin = std::make_shared<Origin>(Origin{"w0", Origin::Kind::FILE});
    auto jobs = std::make_shared<StaticJobs>();
    for (int number = 0; number < count; ++number) {
      auto profile = std::make_shared<Profile>();
      profile->name = "p" + std::to_string(number);
      profile->work.kind = number % 2 == 0 ? Work::Kind::DELAY : Work::Kind::HOMOGENEOUS;
      profile->work.seconds = 3.0 + number % 5;
      profile->work.cpu = 1e9 * (2 + number % 7);
      jobs->append(Job(origin, std::to_string(number), profile, number % 13, 1 + number % 4, 6.0));
    }
    jobs->sort();
    loop.submit(jobs);
  }

  FixedEngine engine;
  Machines machines;
  Nothing extension;
  LoopOptions options;
  std::string written;
  JobTable table;
};

/// Plays to the end; returns the table of jobs.
std::string played(bool at_once) {
  World world;
  Fcfs scheduler;
  scheduler.answers = at_once;
  /// Keeps each reply until it is asked for.
  class Later final : public Scheduler {
   public:
    explicit Later(Fcfs& inner) : inner_(inner) {}
    bool exchange(const Message& message, Reply& given) override {
      if (inner_.exchange(message, reply)) {
        given = std::exchange(reply, {});
        return true;
      }
      return false;
    }
    Reply reply;

   private:
    Fcfs& inner_;
  } link(scheduler);
  Loop loop(world.engine, link, world.machines, world.extension, nullptr, world.options,
            world.table);
  world.submit(loop, 60);
  loop.server.registration_finished = false;
  Event first;
  first.kind = Event::Kind::SIMULATION_BEGINS;
  loop.begin(std::move(first));
  while (true) {
    const bool more = loop.run();
    if (!loop.paused()) {
      EXPECT(!more);  // the scheduler never says that it registers no more: nothing can happen then
      break;
    }
    loop.answer(std::exchange(link.reply, {}));
  }
  world.table.settle();
  EXPECT(world.machines.check());
  EXPECT(scheduler.kills == 1);
  EXPECT(world.table.totals().jobs == scheduler.ends);
  EXPECT(scheduler.ends == 120);
  EXPECT(loop.server.running == 0);
  EXPECT(loop.server.submitted == loop.server.completed);
  return world.written;
}

}  // namespace

CORE_TEST(a_simulation_is_the_same_whether_replies_come_at_once_or_later) {
  const std::string table = played(true);
  EXPECT(table.find("COMPLETED_SUCCESSFULLY") != std::string::npos);
  EXPECT(table.find("COMPLETED_WALLTIME_REACHED") != std::string::npos);
  EXPECT(table == played(false));
}

CORE_TEST(a_broken_rule_names_its_request) {
  class Wrong final : public Scheduler {
   public:
    bool exchange(const Message& message, Reply& reply) override {
      reply.now_s = message.now_s;
      Request& request = reply.requests.emplace_back();
      request.kind = Request::Kind::REJECT_JOB;
      request.job_id = "w0!none";
      return true;
    }
  } scheduler;
  World world;
  Loop loop(world.engine, scheduler, world.machines, world.extension, nullptr, world.options,
            world.table);
  loop.begin({});
  bool refused = false;
  try {
    loop.run();
  } catch (const Fault& fault) {
    refused = fault.rule == Rule::TEXT && fault.request == Request::Kind::REJECT_JOB &&
              fault.requested && fault.job == "w0!none";
  }
  EXPECT(refused);
}
