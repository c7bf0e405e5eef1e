// Rows of `allocations.csv`: what each started job was given.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "log/rows.hpp"
#include "model/job.hpp"

namespace spillway {

// Nodes of a partition, ascending, and its name.
struct NamedNodes {
  std::string name;
  std::vector<std::int32_t> nodes;
};

class AllocationTable {
 public:
  // nodes, storages: Batsim's ids of nodes and storage nodes by the indices that schedulers use.
  // partitions: a column more, if there are any. sink: is given the rows, many at a time.
  AllocationTable(std::vector<std::int32_t> nodes, std::vector<std::int32_t> storages,
                  std::vector<NamedNodes> partitions, Rows::Sink sink);

  // A job starts.
  void add(const Job& job, const Allocation& allocation, double now_s);
  // Hand out the rows collected so far.
  void settle() { rows_.settle(); }

 private:
  std::string node_text(const Allocation& allocation) const;
  std::string storage_text(const Allocation& allocation) const;
  std::string partition_of(const Job& job, const Allocation& allocation) const;

  std::vector<std::int32_t> nodes_, storages_;
  std::vector<NamedNodes> partitions_;
  Rows rows_;
};

}  // namespace spillway
