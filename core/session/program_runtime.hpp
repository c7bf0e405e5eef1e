// The one runtime that plays job models: sub-jobs, kills, walltimes, turns at the I/O gate and ends
// of jobs.
//
// Each running job is a process: its program, and the parts of its present operation that run or
// wait for a turn. One walltime covers all operations of a job; transfers beside a computation have
// no walltime, and outlive a kill: their bytes are safe only at their destination. Dynamic
// `composed` profiles are not used: Batsim 4 cannot execute them.
//
// Operations that run on a host when it becomes unavailable continue (Batsim's rule). A job is
// killed when its next operation would have to start on a node or a storage node that is out; its
// data there is lost. The file system belongs to no job: transfers with it wait until it is back,
// while walltimes continue.
//
// calls of the session, controllers   program_runtime.cpp
// operations, waits and time-outs     operations.cpp
// turns at the I/O gate, outages      turns.cpp
// ends of sub-jobs and of jobs        ends.cpp
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "session/gate.hpp"
#include "session/process.hpp"
#include "session/runtime.hpp"

namespace spillway {

// Time limits of staging (s) where burst buffers have lives of their own: at its limit a stage-in
// is given up, and a stage-out loses the rest.
struct StageLimits {
  double stage_in_s = NEVER;
  double stage_out_s = NEVER;
};

class ProgramRuntime final : public Runtime {
 public:
  // `limits`: none if jobs stage on their nodes; `restarts`: whether resubmitted jobs resume from
  // their last checkpoint.
  ProgramRuntime(std::shared_ptr<JobModel> model, std::shared_ptr<Gate> gate,
                 std::optional<StageLimits> limits, bool restarts);

  // Take the machine; `reuse`: whether the simulator lets profiles be used more than once.
  void begin(Hosts hosts, bool reuse);

  void stage(const JobPtr& job, const AllocationPtr& allocation, double now_s, Step& step) override;
  void unstage(const JobPtr& job, double now_s, Step& step) override;
  void start(const JobPtr& job, const AllocationPtr& allocation, double now_s, Step& step) override;
  void without_nodes(const JobPtr& job, double now_s, Step& step) override;
  void kill(const JobPtr& job, double now_s, Step& step) override;
  bool move(const JobPtr&, const AllocationPtr&, double) override { return false; }
  bool completed(const std::string& job_id, JobState state, int return_code, double now_s,
                 Step& step) override;
  bool submitted(const std::string& job_id, double now_s, Step& step) override;
  bool called(double now_s, Step& step) override;
  bool heard(const Event& event, double now_s, Step& step) override;
  void settle(double, Step&) override {}
  void outage(const NodeList& closed, double now_s, Step& step) override;
  bool give_up(const JobPtr& job, const NodeList& nodes, double now_s, Step& step) override;
  std::string fault() const override;

  // States that the programs of running jobs publish, in order of their starts.
  std::vector<PayloadPtr> published() const;
  // The state that a running job publishes; null: none.
  PayloadPtr shown(const std::string& job_id) const;
  // Reports of programs since the last call.
  std::vector<PayloadPtr> take_reports();

  // Whether no job and no sub-job is left.
  bool idle() const { return processes_.empty() && parts_.empty(); }
  // For the embedding: the running jobs, whose programs it may have to look into.
  const std::map<std::int64_t, ProcessPtr>& processes() const { return processes_; }
  // Drop all jobs.
  void forget();

 private:
  // The step that follows from an event, while it is being built, and turns that may begin.
  struct Follow {
    explicit Follow(Step& to) : step(to) {}
    Step& step;
    std::vector<std::int64_t> granted;
    std::size_t served = 0;  // turns of them that have been dealt with
  };

  struct Timer {
    double at_s;
    std::int64_t number;
    ProcessPtr process;
    bool limit;  // for a limit of its time; otherwise for the end of its wait
    bool operator>(const Timer& other) const {
      return at_s != other.at_s ? at_s > other.at_s : number > other.number;
    }
  };

  struct Unstaged {
    SubJobs sub_jobs;  // no name is used twice
    TenantPtr tenant;
  };

  // program_runtime.cpp
  ProcessPtr enter(const JobPtr& job, const AllocationPtr& allocation, double now_s);
  ProcessPtr find(const std::string& job_id) const;
  void remove(const Process& process);
  void drop(Process& process, double now_s, Follow& follow);
  TenantPtr tenant();
  void leave_if_through(const std::string& job_id, Tenant& tenant, double now_s);
  Account leave(std::int64_t account, double now_s);
  bool apart(const Job& job) const { return limits_ && job.bb_bytes > 0; }

  // operations.cpp
  bool next(Process& process, const Done* done, Operation& operation);
  void advance(const ProcessPtr& process, const Done* done, double now_s, Follow& follow);
  void give_back(const ProcessPtr& process, const Operation& operation, double now_s,
                 Follow& follow);
  void wait(const ProcessPtr& process, const Operation& operation, double now_s, Follow& follow);
  void submit(const ProcessPtr& process, const Operation& operation, double now_s, Follow& follow);
  void time(const ProcessPtr& process, const Operation& operation, double now_s, Follow& follow);
  void run(const Queued& what, const NodeList& nodes, double now_s, Follow& follow,
           std::int64_t turn);
  std::shared_ptr<const Lowered> lowered(Process& process,
                                         const std::shared_ptr<const Timed>& timed,
                                         const NodeList& nodes) const;
  static double remaining(const Process& process, double now_s);
  std::int64_t set_timer(const ProcessPtr& process, double at_s, double now_s, Follow& follow,
                         bool limit);
  void timer_ended(const Timer& timer, double now_s, Follow& follow);
  void out_of_time(const ProcessPtr& process, double now_s, Follow& follow);

  // turns.cpp
  static bool needs_turn(const Timed& timed);
  void queue(const ProcessPtr& process, const std::shared_ptr<const Timed>& timed, double now_s,
             Follow& follow, bool beside);
  std::vector<std::pair<std::int32_t, NodeIndices>> groups(const Process& process,
                                                           const Timed& timed) const;
  static double turn_bytes(const Process& process, const Timed& timed, std::size_t nodes);
  void release(std::int64_t turn, double now_s, Follow& follow);
  void serve(double now_s, Follow& follow);
  bool expire(double now_s, Follow& follow);
  void withdraw(Process& process, double now_s, Follow& follow);
  bool file_system_out() const;
  Reason out(Process& process, const std::shared_ptr<const Timed>& timed,
             const NodeList& nodes) const;
  void abandon(const ProcessPtr& process, Reason reason, double now_s, Follow& follow);
  void note_outages(const NodeList& hosts, double now_s);

  // ends.cpp
  void ended(Part& part, JobState state, int return_code, double now_s, Follow& follow);
  bool is_through(const Process& process, std::int64_t number) const;
  void ended_part(const ProcessPtr& process, JobState state, int return_code, double now_s,
                  Follow& follow);
  void account_for(Process& process, double now_s) const;
  void give_up(const ProcessPtr& process, double now_s, Follow& follow, bool idle = true);
  void close(const ProcessPtr& process, double now_s, Follow& follow);
  void end_if_through(const ProcessPtr& process, double now_s, Follow& follow);
  void stop(Process& process, double now_s, Follow& follow) const;
  void kill_parts(const Process& process, double now_s, Follow& follow) const;
  static void leave_behind(std::vector<Part*>& parts);

  std::shared_ptr<JobModel> model_;
  std::shared_ptr<Gate> gate_;
  std::optional<StageLimits> limits_;
  bool restarts_;
  Hosts hosts_;
  bool reuse_ = true;
  bool many_io_nodes_ = false;

  std::map<std::int64_t, ProcessPtr> processes_;        // in order of their beginnings
  std::unordered_map<std::string, ProcessPtr> by_job_;  // the same
  std::unordered_map<std::string, SubJob> parts_;       // by sub-job that has not ended
  std::unordered_map<std::string, Unstaged> unstaged_;  // jobs that lost their burst buffers
  std::unordered_map<std::int64_t, Queued> turns_;      // turns that have not come
  std::priority_queue<Timer, std::vector<Timer>, std::greater<Timer>> timers_;
  std::vector<std::int64_t> stalled_;  // turns that have come while the file system is out
  NodeList closed_;                    // hosts that are out, ascending
  std::vector<PayloadPtr> reports_;
  std::int64_t process_count_ = 0;
  std::int64_t timer_count_ = 0;
  std::int64_t turn_count_ = 0;
  std::int64_t account_count_ = 0;
};

}  // namespace spillway
