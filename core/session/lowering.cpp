#include "session/lowering.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

namespace spillway {

namespace {

std::int32_t file_system(const Hosts& hosts) {
  if (hosts.pfs < 0)
    throw std::invalid_argument("a transfer with a file system, which the platform lacks");
  return hosts.pfs;
}

// Batsim's ids of the storage nodes that hold the burst buffers of some of an allocation's nodes;
// all of them while it has no nodes yet, and where the buffer is striped.
NodeList storages_of(const NodeList& nodes, const Allocation& allocation, const Hosts& hosts) {
  NodeList found;
  const auto host = [&hosts](std::int32_t storage) {
    return hosts.storages.at(static_cast<std::size_t>(storage));
  };
  if (allocation.striped || allocation.nodes.empty()) {
    for (const std::int32_t storage : allocation.storages) found.push_back(host(storage));
    return found;
  }
  if (allocation.storages.size() != allocation.nodes.size()) {
    throw std::invalid_argument("a transfer with a burst buffer, which the job lacks");
  }
  found.reserve(nodes.size());
  for (const std::int32_t node : nodes) {
    const auto place = std::lower_bound(allocation.nodes.begin(), allocation.nodes.end(), node);
    if (place == allocation.nodes.end() || *place != node) {
      throw std::invalid_argument("a transfer of a node that the job was not granted");
    }
    found.push_back(
        host(allocation.storages[static_cast<std::size_t>(place - allocation.nodes.begin())]));
  }
  return found;
}

std::shared_ptr<TransferProfile> profile_of(const Transfer& transfer, TransferProfile::Form form,
                                            const char* kind) {
  auto profile = std::make_shared<TransferProfile>();
  profile->form = form;
  profile->kind = kind;
  profile->bytes = transfer.bytes_per_node;
  profile->writes = transfer.source == Place::COMPUTE_NODES;
  profile->identity = profile.get();
  return profile;
}

// One transfer per node, or per stripe, between the file system and burst buffers.
Lowered staged(const Transfer& transfer, const NodeList& nodes, const Allocation& allocation,
               const Hosts& hosts) {
  const std::int32_t pfs = file_system(hosts);
  const bool inwards = transfer.source == Place::FILE_SYSTEM;
  std::map<std::int32_t, SubTask>
      tasks;  // the same one for each node that has its bytes on a storage node
  Lowered lowered;
  for (const std::int32_t storage : storages_of(nodes, allocation, hosts)) {
    SubTask& task = tasks[storage];
    if (!task.hosts) {
      task.hosts =
          std::make_shared<NodeList>(NodeList{std::min(storage, pfs), std::max(storage, pfs)});
      task.storage = std::make_shared<Request::Storage>(Request::Storage{
          {"source", inwards ? pfs : storage}, {"destination", inwards ? storage : pfs}});
    }
    lowered.tasks.push_back(task);
  }
  const auto profile = profile_of(transfer, TransferProfile::Form::STAGING, "data_staging");
  profile->key = ProfileKey()  // both directions are one profile
                     .member("type")
                     .text(profile->kind)
                     .member("nb_bytes")
                     .number(profile->bytes)
                     .member("from")
                     .text("source")
                     .member("to")
                     .text("destination")
                     .member("ret")
                     .number(Amount(std::int64_t{0}))
                     .take();
  lowered.profile = profile;
  return lowered;
}

std::shared_ptr<TransferProfile> node_io(const Transfer& transfer, const char* label) {
  const auto profile =
      profile_of(transfer, TransferProfile::Form::NODE_IO, "parallel_homogeneous_pfs");
  const Amount nothing(std::int64_t{0});
  profile->label = label;
  profile->key = ProfileKey()
                     .member("type")
                     .text(profile->kind)
                     .member("bytes_to_read")
                     .number(profile->writes ? nothing : profile->bytes)
                     .member("bytes_to_write")
                     .number(profile->writes ? profile->bytes : nothing)
                     .member("storage")
                     .text(label)
                     .member("ret")
                     .number(nothing)
                     .take();
  return profile;
}

// One sub-job for all nodes and all stripes, with a flow for each pair.
Lowered to_stripes(const Transfer& transfer, const NodeList& nodes, const Allocation& allocation,
                   const Hosts& hosts) {
  std::set<std::int32_t> ends;
  for (const std::int32_t node : nodes) ends.insert(hosts.nodes.at(static_cast<std::size_t>(node)));
  const NodeList storages = storages_of(nodes, allocation, hosts);
  const std::set<std::int32_t> stripes(storages.begin(), storages.end());
  auto all = std::make_shared<NodeList>(ends.begin(), ends.end());
  all->insert(all->end(), stripes.begin(), stripes.end());
  std::sort(all->begin(), all->end());
  const auto profile = profile_of(transfer, TransferProfile::Form::STRIPES, "parallel");
  profile->flow = transfer.bytes_per_node.value /
                  static_cast<double>(ends.size());  // of one node on one stripe
  for (const std::int32_t host : *all) profile->is_stripe.push_back(stripes.count(host) > 0);
  Lowered lowered;
  lowered.profile = profile;
  lowered.tasks.push_back({all, nullptr});
  return lowered;
}

// One sub-job for each node, to or from its burst buffer.
Lowered checkpoint(const Transfer& transfer, const NodeList& nodes, const Allocation& allocation,
                   const Hosts& hosts) {
  if (allocation.striped) return to_stripes(transfer, nodes, allocation, hosts);
  const NodeList storages = storages_of(nodes, allocation, hosts);
  if (storages.size() != nodes.size()) {
    throw std::invalid_argument(
        "a transfer between nodes and a burst buffer, while the job has no nodes yet");
  }
  Lowered lowered;
  lowered.tasks.reserve(nodes.size());
  for (std::size_t place = 0; place < nodes.size(); ++place) {
    const std::int32_t host = hosts.nodes.at(static_cast<std::size_t>(nodes[place]));
    lowered.tasks.push_back(
        {std::make_shared<NodeList>(1, host),
         std::make_shared<Request::Storage>(Request::Storage{{"burstbuffer", storages[place]}})});
  }
  lowered.profile = node_io(transfer, "burstbuffer");
  return lowered;
}

// One sub-job for all nodes together, to or from the file system.
Lowered collective(const Transfer& transfer, const NodeList& nodes, const Hosts& hosts) {
  Lowered lowered;
  lowered.profile = node_io(transfer, "pfs");
  lowered.tasks.push_back(
      {host_ids(nodes, hosts),
       std::make_shared<Request::Storage>(Request::Storage{{"pfs", file_system(hosts)}})});
  return lowered;
}

}  // namespace

Work TransferProfile::work() const {
  Work work;
  if (form == Form::STAGING) {
    work.kind = Work::Kind::STAGING;
    work.com = bytes.value;
    work.label = "source";
    work.target = "destination";
  } else if (form == Form::NODE_IO) {
    work.kind = Work::Kind::STORAGE_ACCESS;
    work.read = writes ? 0.0 : bytes.value;
    work.write = writes ? bytes.value : 0.0;
    work.label = label;
  } else {
    work.kind = Work::Kind::EXPLICIT;
    work.cpus.assign(is_stripe.size(), 0.0);
    work.coms = flows();
  }
  return work;
}

std::vector<double> TransferProfile::flows() const {
  const std::size_t size = is_stripe.size();
  std::vector<double> bytes_by_pair(size * size, 0.0);
  for (std::size_t from = 0; from < size; ++from) {
    for (std::size_t to = 0; to < size; ++to) {
      if (is_stripe[from] != is_stripe[to] && is_stripe[to] == writes)
        bytes_by_pair[from * size + to] = flow;
    }
  }
  return bytes_by_pair;
}

Ids host_ids(const NodeList& nodes, const Hosts& hosts) {
  auto ids = std::make_shared<NodeList>();
  ids->reserve(nodes.size());
  for (const std::int32_t node : nodes)
    ids->push_back(hosts.nodes.at(static_cast<std::size_t>(node)));
  std::sort(ids->begin(), ids->end());
  return ids;
}

bool is_striped(const Transfer& transfer, const Allocation& allocation) {
  return allocation.striped && transfer.buffered();
}

double volume(const Transfer& transfer, std::size_t nodes, const Allocation& allocation) {
  const bool whole = is_striped(transfer, allocation) || nodes == 0;
  return transfer.bytes_per_node.value *
         static_cast<double>(whole ? allocation.storages.size() : nodes);
}

Lowered lower(const Transfer& transfer, const NodeList& nodes, const Allocation& allocation,
              const Hosts& hosts) {
  if (transfer.source == transfer.destination) {
    throw std::invalid_argument("a transfer whose source is its destination");
  }
  if (!transfer.buffered()) return collective(transfer, nodes, hosts);
  return transfer.shared() ? staged(transfer, nodes, allocation, hosts)
                           : checkpoint(transfer, nodes, allocation, hosts);
}

}  // namespace spillway
