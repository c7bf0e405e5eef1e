#include "loop/tasks.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "loop/fault.hpp"

namespace spillway::batsim {
namespace {

constexpr double LEAST_FLOP = 1e-10;

/// Platform's host that the scheduler gave for a label of storage.
std::int32_t storage_host(const Placement& place, const std::string& label,
                          const Machines& machines) {
  const Request::Storage* given = place.storage.get();
  const auto end = given == nullptr ? Request::Storage::const_iterator{} : given->end();
  auto found = end;
  if (given != nullptr) {
    found = std::find_if(given->begin(), end,
                         [&label](const auto& pair) { return pair.first == label; });
  }
  if (found == end) throw Fault(Rule::STORAGE_UNMAPPED, {}, {label});
  const std::int32_t machine = found->second;
  const auto count = static_cast<std::int64_t>(machines.size());
  if (machine < 0 || machine >= count) {
    throw Fault(Rule::STORAGE_UNKNOWN, {double(machine), double(count)}, {label});
  }
  if (!machines.is_storage(machine)) throw Fault(Rule::NO_STORAGE_HOST, {double(machine)}, {label});
  return machines.host(machine);
}

/// The storage host of a profile that names one label; without a mapping the machine's only storage
/// host.
std::int32_t accessed_host(const Placement& place, const std::string& label,
                           const Machines& machines) {
  if (place.storage == nullptr || place.storage->empty()) {
    if (machines.storage_count() != 1) {
      throw Fault(Rule::STORAGE_MAPPING_NEEDED, {double(machines.storage_count())}, {label});
    }
    return machines.host(static_cast<std::int32_t>(machines.size()) - 1);
  }
  const auto& given = *place.storage;
  if (std::none_of(given.begin(), given.end(),
                   [&label](const auto& pair) { return pair.first == label; })) {
    std::vector<std::string> words = {label};
    for (const auto& pair : given) words.push_back(pair.first);
    throw Fault(Rule::STORAGE_LABEL, {}, std::move(words));
  }
  return storage_host(place, label, machines);
}

/// A task whose transfers are still between positions of its hosts, as profiles state them.
void lay_out(const Work& work, const Placement& place, const Machines& machines, Task& task) {
  task.clear();
  const std::vector<std::int32_t>& executors = place.executors();
  const auto count = static_cast<std::int32_t>(executors.size());
  if (work.kind == Work::Kind::STAGING) {
    task.hosts = {storage_host(place, work.label, machines),
                  storage_host(place, work.target, machines)};
    if (work.com > 0.0) task.flows.push_back({0, 1, work.com});
    return;
  }
  task.hosts = executors;
  switch (work.kind) {
    case Work::Kind::HOMOGENEOUS:
      task.flops = {work.cpu};
      task.bytes_each_pair = work.com;
      break;
    case Work::Kind::HOMOGENEOUS_TOTAL:
      task.flops = {work.cpu / count};
      task.bytes_each_pair = work.com / count;
      break;
    case Work::Kind::EXPLICIT:
      if (executors.size() != work.cpus.size()) {
        throw Fault(Rule::EXECUTORS, {double(work.cpus.size()), double(count)});
      }
      task.flops = work.cpus;
      for (std::int32_t from = 0; from < count; ++from) {
        for (std::int32_t to = 0; to < count; ++to) {
          const double bytes = work.coms[static_cast<std::size_t>(from) * executors.size() +
                                         static_cast<std::size_t>(to)];
          if (bytes != 0.0) task.flows.push_back({from, to, bytes});
        }
      }
      break;
    case Work::Kind::IO_STREAM:
    case Work::Kind::STORAGE_ACCESS:
      task.hosts.push_back(accessed_host(place, work.label, machines));
      for (std::int32_t at = 0; at < count && work.read > 0.0; ++at) {
        task.flows.push_back({count, at, work.read});
      }
      for (std::int32_t at = 0; at < count && work.write > 0.0; ++at) {
        task.flows.push_back({at, count, work.write});
      }
      if (work.kind == Work::Kind::IO_STREAM) {
        task.flops.assign(task.hosts.size(), work.cpu);
        task.flops.back() = 0.0;
      }
      break;
    default:
      break;
  }
}

/// Gives an engine's form to a task that was laid out: transfers between hosts; a task of one host
/// has none.
void settle(Prepared& prepared, bool communicates) {
  Task& task = prepared.task;
  prepared.nothing = (task.hosts.size() == 1 || !communicates) &&
                     std::all_of(task.flops.begin(), task.flops.end(),
                                 [](double amount) { return amount == 0.0; });
  if (task.hosts.size() == 1) {
    task.flows.clear();
    task.bytes_each_pair = 0.0;
  }
  for (Flow& flow : task.flows) {
    flow.from = task.hosts[static_cast<std::size_t>(flow.from)];
    flow.to = task.hosts[static_cast<std::size_t>(flow.to)];
  }
}

/// Adds a laid-out task to the dense amounts of a merged one, its positions at `at`.
void add(const Task& task, const std::vector<std::size_t>& at, std::vector<double>& flops,
         std::vector<double>& bytes) {
  const std::size_t count = at.size();
  std::vector<double> own(count * count, 0.0);
  if (task.bytes_each_pair > 0.0) {
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to) {
        if (from != to) own[from * count + to] = task.bytes_each_pair;
      }
    }
  }
  for (const Flow& flow : task.flows) {
    own[static_cast<std::size_t>(flow.from) * count + static_cast<std::size_t>(flow.to)] +=
        flow.bytes;
  }
  for (std::size_t from = 0; from < count; ++from) {
    flops[at[from]] += task.work(from);
    for (std::size_t to = 0; to < count; ++to) {
      bytes[at[from] * flops.size() + at[to]] += own[from * count + to];
    }
  }
}

std::vector<std::size_t> positions(const Task& task, const std::vector<std::int32_t>& ids,
                                   const std::vector<std::int32_t>& all) {
  if (task.hosts.size() != ids.size()) throw Fault(Rule::EXTRA_IO_MAPPED);
  std::vector<std::size_t> found;
  for (const std::int32_t id : ids) {
    found.push_back(
        static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), id) - all.begin()));
  }
  return found;
}

}  // namespace

void prepare(const Work& work, const Placement& place, const Machines& machines,
             Prepared& prepared) {
  lay_out(work, place, machines, prepared.task);
  settle(prepared, prepared.task.bytes_each_pair > 0.0 || !prepared.task.flows.empty());
}

void check_flops(const Work& work, const Task& task, const Placement& place,
                 const Machines& machines) {
  const bool listed = work.kind == Work::Kind::EXPLICIT || work.kind == Work::Kind::IO_STREAM;
  const std::vector<std::int32_t>& ids = *place.allocation->ids;
  for (std::size_t at = 0; at < ids.size(); ++at) {
    if (!machines.is_storage(ids[at])) continue;
    const double amount = listed && at >= task.flops.size() ? 0.0 : task.work(at);
    if (amount > LEAST_FLOP) throw Fault(Rule::STORAGE_COMPUTES, {amount, double(ids[at])});
  }
}

void merge(Prepared& prepared, const Work& work, const Placement& place, const Work& io,
           const Placement& io_place, const Machines& machines) {
  Task own;
  Task extra;
  lay_out(work, place, machines, own);
  lay_out(io, io_place, machines, extra);
  std::vector<std::int32_t> ids = *place.allocation->ids;
  const std::vector<std::int32_t>& io_ids = *io_place.allocation->ids;
  ids.insert(ids.end(), io_ids.begin(), io_ids.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<double> flops(ids.size(), 0.0);
  std::vector<double> bytes(ids.size() * ids.size(), 0.0);
  add(own, positions(own, *place.allocation->ids, ids), flops, bytes);
  add(extra, positions(extra, io_ids, ids), flops, bytes);

  Task& task = prepared.task;
  task.clear();
  for (const std::int32_t id : ids) task.hosts.push_back(machines.host(id));
  task.flops = std::move(flops);
  const auto count = static_cast<std::int32_t>(ids.size());
  for (std::int32_t from = 0; from < count; ++from) {
    for (std::int32_t to = 0; to < count; ++to) {
      const double amount =
          bytes[static_cast<std::size_t>(from) * ids.size() + static_cast<std::size_t>(to)];
      if (amount != 0.0) task.flows.push_back({from, to, amount});
    }
  }
  settle(prepared, true);
  for (std::size_t at = 0; at < ids.size(); ++at) {
    if (machines.is_storage(ids[at]) && task.work(at) > LEAST_FLOP) {
      throw Fault(Rule::STORAGE_COMPUTES, {task.work(at), double(ids[at])});
    }
  }
}

}  // namespace spillway::batsim
