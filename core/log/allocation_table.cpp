#include "log/allocation_table.hpp"

#include <algorithm>
#include <map>

#include "model/intervals.hpp"

namespace spillway {
namespace {

// A text as a cell of a CSV table: in quotation marks where it must be.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string found = "\"";
  for (const char letter : text) {
    if (letter == '"') found += '"';
    found += letter;
  }
  return found + '"';
}

}  // namespace

AllocationTable::AllocationTable(std::vector<std::int32_t> nodes,
                                 std::vector<std::int32_t> storages,
                                 std::vector<NamedNodes> partitions, Rows::Sink sink)
    : nodes_(std::move(nodes)),
      storages_(std::move(storages)),
      partitions_(std::move(partitions)),
      rows_(std::move(sink)) {}

void AllocationTable::add(const Job& job, const Allocation& allocation, double now_s) {
  const std::size_t mark = job.id.find('!');
  for (const std::string& text :
       {job.id.substr(mark + 1), job.id.substr(0, mark), job.user, std::to_string(job.nodes),
        node_text(allocation), std::to_string(allocation.bb_bytes), storage_text(allocation)})
    rows_.cell(quoted(text));
  std::string last;
  print(last, now_s);
  if (!partitions_.empty()) last += ',' + quoted(partition_of(job, allocation));
  rows_.end(last);
}

std::string AllocationTable::node_text(const Allocation& allocation) const {
  std::vector<std::int32_t> ids;
  ids.reserve(allocation.nodes.size());
  for (const std::int32_t node : allocation.nodes) ids.push_back(nodes_.at(std::size_t(node)));
  std::sort(ids.begin(), ids.end());
  return intervals(ids);
}

// Storage nodes with the number of requests on each: `97:2 105:1`.
std::string AllocationTable::storage_text(const Allocation& allocation) const {
  std::map<std::int32_t, std::int64_t> counts;
  for (const std::int32_t storage : allocation.storages)
    ++counts[storages_.at(std::size_t(storage))];
  std::string text;
  for (const auto& [id, count] : counts) {
    if (!text.empty()) text += ' ';
    text += std::to_string(id) + ':' + std::to_string(count);
  }
  return text;
}

// Name of the first of a job's partitions that has all of its nodes.
std::string AllocationTable::partition_of(const Job& job, const Allocation& allocation) const {
  for (const std::int32_t place : job.partitions) {
    const NamedNodes& partition = partitions_.at(std::size_t(place));
    if (std::includes(partition.nodes.begin(), partition.nodes.end(), allocation.nodes.begin(),
                      allocation.nodes.end()))
      return partition.name;
  }
  return "";
}

}  // namespace spillway
