#include <map>
#include <random>

#include "check.hpp"
#include "session/program_runtime.hpp"

using namespace spillway;

namespace {

struct Plain final : Description {
  Work work() const override { return Work(); }
};

std::shared_ptr<Transfer> transfer(Place source, Place destination, const char* stage) {
  auto made = std::make_shared<Transfer>();
  made->source = source;
  made->destination = destination;
  made->bytes_per_node = Amount(std::int64_t{20});
  made->stage = stage;
  return made;
}

/// Computes in phases, with checkpoints between them and drains beside them.
class Phases final : public Program {
 public:
  explicit Phases(int phases) : left_(2 * phases - 1), compute_(std::make_shared<Compute>()) {
    compute_->profile = std::make_shared<Plain>();
    compute_->profile->kind = "parallel";
    compute_->profile->identity = compute_->profile.get();
    compute_->stage = "compute";
    compute_->beside = transfer(Place::BURST_BUFFER, Place::FILE_SYSTEM, "drain");
  }

  bool next(const Done*, Operation& operation) override {
    if (left_-- <= 0) return false;
    const bool writes = left_ % 2 == 1;
    operation.kind = writes ? Operation::Kind::TRANSFER : Operation::Kind::COMPUTE;
    operation.timed = compute_;
    if (writes) operation.timed = transfer(Place::COMPUTE_NODES, Place::BURST_BUFFER, "write");
    return true;
  }
  void close() override { left_ = 0; }

 private:
  int left_;
  std::shared_ptr<Compute> compute_;
};

/// One transfer.
class Staging final : public Program {
 public:
  explicit Staging(std::shared_ptr<Transfer> what) : what_(std::move(what)) {}

  bool next(const Done*, Operation& operation) override {
    if (!what_) return false;
    operation.kind = Operation::Kind::TRANSFER;
    operation.timed = std::move(what_);
    return true;
  }
  void close() override { what_.reset(); }

 private:
  std::shared_ptr<Transfer> what_;
};

struct Model final : JobModel {
  int ended_jobs = 0;
  int phases = 3;

  ProgramPtr stage_in(const JobPtr&) override {
    return std::make_unique<Staging>(transfer(Place::FILE_SYSTEM, Place::BURST_BUFFER, "in"));
  }
  ProgramPtr program(const JobPtr&, const AllocationPtr&, double, const PayloadPtr&) override {
    return std::make_unique<Phases>(phases);
  }
  ProgramPtr stage_out(const JobPtr&) override {
    return std::make_unique<Staging>(transfer(Place::BURST_BUFFER, Place::FILE_SYSTEM, "out"));
  }
  std::shared_ptr<const AdditionalIo> stream(const JobPtr&, const Ids&,
                                             const PayloadPtr&) override {
    return nullptr;
  }
  bool shrink(const PayloadPtr&, const std::vector<std::int32_t>&) override { return false; }
  Resumed resumed(const PayloadPtr&) override { return {}; }
  void went_out(const std::vector<std::int32_t>&, double) override {}
  Left left(const Record&) override { return {}; }
  void ended(const Record& record) override {
    ++ended_jobs;
    EXPECT(record.end_s >= record.start_s);
  }
};

constexpr int NODES_OF_A_JOB = 2;

/// A simulator: it keeps the sub-jobs that run.
class World {
 public:
  World(std::shared_ptr<Gate> gate, std::optional<StageLimits> limits)
      : runtime(model, std::move(gate), limits, true) {
    Hosts hosts;
    for (std::int32_t node = 0; node < 8; ++node) {
      hosts.nodes.push_back(node);
      hosts.io_node.push_back(node / 4);
    }
    hosts.storages = {8, 9};
    hosts.pfs = 10;
    runtime.begin(std::move(hosts), true);
  }

  JobPtr submit(int number) {
    auto job = std::make_shared<Job>();
    job->id = "w0!" + std::to_string(number);
    job->nodes = NODES_OF_A_JOB;
    job->bb_bytes = 20;
    job->walltime_s = 300.0;
    return job;
  }

  AllocationPtr place(int number, bool nodes) {
    auto allocation = std::make_shared<Allocation>();
    const int first = number % 4 * NODES_OF_A_JOB;
    if (nodes) allocation->nodes = {first, first + 1};
    allocation->storages = {0, 1};
    allocation->bb_bytes = 20;
    return allocation;
  }

  void take(const Step& step) {
    for (const Request& request : step.requests) {
      if (request.kind == Request::Kind::REGISTER_JOB) EXPECT(request.job->profile != nullptr);
      if (request.kind == Request::Kind::EXECUTE_JOB) {
        EXPECT(running.emplace(request.job_id, now_s).second);
      }
      if (request.kind != Request::Kind::KILL_JOB) continue;
      for (const std::string& id : request.job_ids) {
        EXPECT(running.count(id) == 1);
        killed[id] = true;
      }
    }
    for (const Ended& one : step.ended) live.erase(one.job_id);
    for (const Staged& one : step.staged) {
      if (one.reason) {
        staging.erase(one.job_id);
      } else {
        staged.push_back(one.job_id);
      }
    }
    EXPECT(runtime.fault().empty());
  }

  void end(const std::string& id) {
    const bool dead = killed.erase(id) > 0;
    running.erase(id);
    Step step;
    const auto state = dead ? JobState::COMPLETED_KILLED : JobState::COMPLETED_SUCCESSFULLY;
    EXPECT(runtime.completed(id, state, dead ? -2 : 0, now_s, step));
    take(step);
  }

  std::shared_ptr<Model> model = std::make_shared<Model>();
  ProgramRuntime runtime;
  double now_s = 0.0;
  std::map<std::string, double> running;
  std::map<std::string, bool> killed;
  std::map<std::string, JobPtr> live;
  std::map<std::string, JobPtr> staging;
  std::vector<std::string> staged;
};

void play(std::uint64_t seed, std::shared_ptr<Gate> gate, bool apart) {
  std::mt19937_64 random(seed);
  std::optional<StageLimits> limits;
  if (apart) limits = StageLimits{120.0, 60.0};
  World world(std::move(gate), limits);
  int submitted = 0;
  for (int turn = 0; turn < 4000; ++turn) {
    world.now_s += static_cast<double>(random() % 8);
    Step step;
    const std::uint64_t what = random() % 16;
    if (what == 0 && world.live.size() < 4 && submitted < 60) {
      const JobPtr job = world.submit(submitted);
      if (apart) {
        world.staging[job->id] = job;
        world.runtime.stage(job, world.place(submitted, false), world.now_s, step);
      } else {
        world.live[job->id] = job;
        world.runtime.start(job, world.place(submitted, true), world.now_s, step);
      }
      ++submitted;
    } else if (what == 1 && !world.live.empty()) {
      world.runtime.kill(world.live.begin()->second, world.now_s, step);
    } else if (what == 2) {
      NodeList closed;
      for (std::int32_t host = 0; host < 11; ++host) {
        if (random() % 12 == 0) closed.push_back(host);
      }
      world.runtime.outage(closed, world.now_s, step);
    } else if (what == 3) {
      world.runtime.called(world.now_s, step);
    } else if (what == 4 && !world.staging.empty()) {
      const JobPtr job = world.staging.begin()->second;
      world.staging.erase(job->id);
      world.runtime.unstage(job, world.now_s, step);
    } else if (!world.running.empty()) {
      auto one = world.running.begin();
      std::advance(one, static_cast<std::ptrdiff_t>(random() % world.running.size()));
      world.end(std::string(one->first));
    }
    world.take(step);
    while (!world.staged.empty()) {
      const std::string id = world.staged.back();
      world.staged.pop_back();
      const auto found = world.staging.find(id);
      if (found == world.staging.end()) continue;
      const JobPtr job = found->second;
      world.staging.erase(found);
      world.live[id] = job;
      Step started;
      world.runtime.start(job, world.place(std::stoi(id.substr(3)), true), world.now_s, started);
      world.take(started);
    }
  }
  Step back;
  world.runtime.outage({}, world.now_s, back);
  world.take(back);
  while (!world.running.empty() || !world.live.empty()) {
    world.now_s += 10.0;
    if (!world.running.empty()) {
      world.end(std::string(world.running.begin()->first));
    } else {
      Step step;
      world.runtime.called(world.now_s, step);
      world.take(step);
    }
    EXPECT(world.now_s < 1e7);
  }
  EXPECT(submitted > 10 && world.model->ended_jobs > 0);
}

}  // namespace

CORE_TEST(every_job_ends_once_whatever_happens) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const bool apart : {false, true}) {
      play(seed, std::make_shared<SharedGate>(), apart);
      play(seed, std::make_shared<ExclusiveGate>(static_cast<IoOrder>(seed % 4)), apart);
    }
  }
}

CORE_TEST(equal_numbers_are_one_profile) {
  EXPECT(Amount(std::int64_t{20}) == Amount(20.0));
  EXPECT(!(Amount((std::int64_t{1} << 53) + 1) == Amount(9007199254740992.0)));
  const auto key = [](const Amount& amount) { return ProfileKey().number(amount).take(); };
  EXPECT(key(Amount(std::int64_t{20})) == key(Amount(20.0)));
  EXPECT(key(Amount(std::int64_t{0})) == key(Amount(-0.0)));
  EXPECT(key(Amount((std::int64_t{1} << 53) + 1)) != key(Amount(9007199254740992.0)));
}
