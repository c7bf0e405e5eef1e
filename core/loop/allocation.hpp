#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "loop/machines.hpp"
#include "loop/way.hpp"
#include "model/messages.hpp"

namespace spillway::batsim {

/// Machines that a job runs on, with what every start needs of them.
struct Allocation {
  /// Ascending, none twice.
  Ids ids;
  /// Their hosts in the platform.
  std::vector<std::int32_t> hosts;
  /// As Batsim prints the set.
  std::string text;
  /// Number of compute hosts, which come first.
  std::size_t compute = 0;
  /// Way of messages from the job, which come from the first machine.
  Way way;

  bool has_storage() const { return compute < ids->size(); }
};

using AllocationPtr = std::shared_ptr<const Allocation>;

/// Makes allocations, each set of machines once.
class Allocations {
 public:
  explicit Allocations(Machines& machines) : machines_(machines) {}

  /// The allocation of machines in any order; throws `Fault` when empty or unknown.
  AllocationPtr of(const std::vector<std::int32_t>& ids);

 private:
  struct Hash {
    std::size_t operator()(const std::vector<std::int32_t>& ids) const;
  };

  AllocationPtr make(const std::vector<std::int32_t>& ids) const;

  Machines& machines_;
  std::unordered_map<std::vector<std::int32_t>, AllocationPtr, Hash> known_;
};

/// Where the executors of a job run.
struct Placement {
  AllocationPtr allocation;
  /// Platform's host of each executor, if they are not one per machine: a host may serve several.
  std::vector<std::int32_t> mapped;
  /// Machine by label of storage; `nullptr`: none given.
  std::shared_ptr<const Request::Storage> storage;

  const std::vector<std::int32_t>& executors() const {
    return mapped.empty() ? allocation->hosts : mapped;
  }
};

/// Places the executors of a job as the scheduler mapped them; throws `Fault` if the mapping has a
/// gap or names a place outside of the allocation.
Placement placed(AllocationPtr allocation, const Request::Mapping* mapping,
                 std::shared_ptr<const Request::Storage> storage);

}  // namespace spillway::batsim
