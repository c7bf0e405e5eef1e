// Turns at the I/O gate, and operations that cannot begin because hosts are out.
#include <algorithm>
#include <set>
#include <utility>

#include "model/limits.hpp"
#include "session/program_runtime.hpp"

namespace spillway {

namespace {

void erase(std::vector<std::int64_t>& keys, std::int64_t key) {
  keys.erase(std::remove(keys.begin(), keys.end(), key), keys.end());
}

}  // namespace

// Whether an operation passes the I/O gate.
bool ProgramRuntime::needs_turn(const Timed& timed) {
  return timed.is_transfer ? static_cast<const Transfer&>(timed).shared()
                           : static_cast<const Compute&>(timed).takes_turn;
}

// Request a turn at each I/O node that an operation uses.
void ProgramRuntime::queue(const ProcessPtr& process, const std::shared_ptr<const Timed>& timed,
                           double now_s, Follow& follow, bool beside) {
  if (!process->tenant) {
    process->tenant = tenant();
    gate_->enter(process->tenant->number, process->entered_s);
  }
  auto& waiting = beside ? process->waiting_beside : process->waiting;
  for (auto& group : groups(*process, *timed)) {
    const std::int64_t key = turn_count_++;
    Turn turn;
    turn.key = key;
    turn.application = process->tenant->number + beside;
    turn.node = group.first;
    turn.volume_bytes = turn_bytes(*process, *timed, group.second->size());
    turn.requested_s = now_s;
    turns_.emplace(
        key, Queued{process, timed, std::move(group.second), beside, process->operations - 1});
    waiting.push_back(key);
    Gate::Keys begun;
    gate_->request(turn, begun);
    follow.granted.insert(follow.granted.end(), begun.begin(), begun.end());
  }
  serve(now_s, follow);
  const double deadline_s = process->sub_jobs.deadline_s;
  if (process->waiting.empty() || process->watched || !(deadline_s < NEVER)) return;
  process->watched =
      true;  // nothing of a waiting job runs, so the simulator does not watch its walltime
  const double call_s = std::max(deadline_s, now_s + 10 * SHORTEST_WALLTIME_S);
  if (call_s > LATEST_S) return;
  Request& request = follow.step.requests.emplace_back();
  request.kind = Request::Kind::CALL_ME_LATER;
  request.time_s = now_s;
  request.at_s = call_s;
}

// Nodes of an operation by I/O node; a striped buffer takes one turn, at the first of them.
std::vector<std::pair<std::int32_t, NodeIndices>> ProgramRuntime::groups(const Process& process,
                                                                         const Timed& timed) const {
  const NodeList& nodes = process.nodes_of(timed);
  const auto all = [&] {
    return timed.nodes ? timed.nodes : std::make_shared<const NodeList>(nodes);
  };
  if (nodes.empty() || !many_io_nodes_)
    return {{0, all()}};  // without nodes: only between storage and file system
  std::map<std::int32_t, NodeList> by_number;
  for (const std::int32_t node : nodes)
    by_number[hosts_.io_node.at(static_cast<std::size_t>(node))].push_back(node);
  if (by_number.size() > 1 && timed.is_transfer &&
      is_striped(static_cast<const Transfer&>(timed), *process.allocation)) {
    return {{by_number.begin()->first, all()}};
  }
  std::vector<std::pair<std::int32_t, NodeIndices>> found;
  for (auto& entry : by_number) {
    found.emplace_back(entry.first, std::make_shared<const NodeList>(std::move(entry.second)));
  }
  return found;
}

// Bytes of the part of an operation on some nodes.
double ProgramRuntime::turn_bytes(const Process& process, const Timed& timed, std::size_t nodes) {
  if (timed.is_transfer)
    return volume(static_cast<const Transfer&>(timed), nodes, *process.allocation);
  const double whole = static_cast<double>(process.nodes_of(timed).size());
  return static_cast<const Compute&>(timed).turn_bytes * static_cast<double>(nodes) / whole;
}

void ProgramRuntime::release(std::int64_t turn, double now_s, Follow& follow) {
  Gate::Keys begun;
  gate_->release(turn, now_s, begun);
  follow.granted.insert(follow.granted.end(), begun.begin(), begun.end());
}

// Begin the operations that have got their turns; a job without time left passes its turn on at
// once.
void ProgramRuntime::serve(double now_s, Follow& follow) {
  while (follow.served < follow.granted.size()) {
    const std::int64_t key = follow.granted[follow.served++];
    const auto found = turns_.find(key);
    if (found->second.operation->is_transfer && file_system_out()) {
      stalled_.push_back(key);
      continue;
    }
    const Queued turn = std::move(found->second);
    turns_.erase(found);
    const ProcessPtr& process = turn.process;
    erase(turn.beside ? process->waiting_beside : process->waiting, key);
    Reason reason = out(*process, turn.operation, *turn.nodes);
    if (reason) {
      release(key, now_s, follow);
      abandon(process, std::move(reason), now_s, follow);
      continue;
    }
    if (!turn.beside && process->late(now_s)) {
      release(key, now_s, follow);
      if (!process->outcome) process->outcome = TIMED_OUT;
      give_up(process, now_s, follow);
      continue;
    }
    ++process->tenant->moving;
    run(turn, *turn.nodes, now_s, follow, key);
  }
}

// End jobs with their walltime over while they only wait for a turn; whether there are any.
bool ProgramRuntime::expire(double now_s, Follow& follow) {
  std::vector<ProcessPtr> late;
  for (const auto& entry : processes_) {
    const Process& process = *entry.second;
    if (!process.waiting.empty() && process.live.empty() && process.sub_jobs.overdue(now_s)) {
      late.push_back(entry.second);
    }
  }
  for (const ProcessPtr& process : late) {
    if (!process->outcome) process->outcome = TIMED_OUT;
    give_up(process, now_s, follow);
  }
  return !late.empty();
}

// Give up the turns that a job waits for, and those that wait for the file system.
void ProgramRuntime::withdraw(Process& process, double now_s, Follow& follow) {
  if (process.tenant) {
    Gate::Keys dropped;
    gate_->withdraw(process.tenant->number, now_s, dropped);
    for (const std::int64_t key : dropped) {
      turns_.erase(key);
      erase(process.waiting, key);
    }
  }
  const auto stalled = stalled_;
  for (const std::int64_t key : stalled) {
    if (std::find(process.waiting.begin(), process.waiting.end(), key) == process.waiting.end())
      continue;
    erase(stalled_, key);
    turns_.erase(key);
    erase(process.waiting, key);
    release(key, now_s, follow);
  }
}

// ---------------------------------------------------------------- outages

bool ProgramRuntime::file_system_out() const {
  return !closed_.empty() && std::binary_search(closed_.begin(), closed_.end(), hosts_.pfs);
}

// Why an operation cannot begin, which is a node or a storage node that is out.
Reason ProgramRuntime::out(Process& process, const std::shared_ptr<const Timed>& timed,
                           const NodeList& nodes) const {
  Reason reason;
  if (closed_.empty()) return reason;
  std::int32_t gone = -1;
  const auto look = [&](std::int32_t host) {
    if (host == hosts_.pfs || !std::binary_search(closed_.begin(), closed_.end(), host)) return;
    if (gone < 0 || host < gone) gone = host;
  };
  const auto low = lowered(process, timed, nodes);
  for (const SubTask& task : low->tasks) {
    for (const std::int32_t host : *task.hosts) look(host);
    if (!task.storage) continue;
    for (const auto& entry : *task.storage) look(entry.second);
  }
  if (gone < 0) return reason;
  reason.code = Reason::Code::HOST_OUT;
  reason.number = gone;
  return reason;
}

// End a job that cannot continue: kill its running parts except transfers beside.
void ProgramRuntime::abandon(const ProcessPtr& process, Reason reason, double now_s,
                             Follow& follow) {
  stop(*process, now_s, follow);
  process->outcome = KILLED;
  process->reason = std::move(reason);
  give_up(process, now_s, follow);
  if (process->over && by_job_.count(process->job->id)) end_if_through(process, now_s, follow);
}

// Note the loss of data on storage nodes that go out: checkpoints, and drains under way.
void ProgramRuntime::note_outages(const NodeList& hosts, double now_s) {
  if (!restarts_ || hosts.empty()) return;
  model_->went_out(hosts, now_s);
  for (const auto& entry : processes_) {
    for (const std::int32_t storage : entry.second->allocation->storages) {
      const std::int32_t host = hosts_.storages.at(static_cast<std::size_t>(storage));
      if (std::binary_search(hosts.begin(), hosts.end(), host)) entry.second->spoilt = true;
    }
  }
}

}  // namespace spillway
