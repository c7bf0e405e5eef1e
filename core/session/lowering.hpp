// Transfers in the simulator's terms: the profile of a transfer, and the hosts of its sub-jobs.
//
// Transfers of a burst buffer with a request per node are those of Kopanski's master's thesis
// (2020), section 2.4.2: one sub-job per node. A striped buffer (`Job::stripes`) belongs to the job
// as a whole: between the file system and the buffer there is one sub-job per stripe; between the
// nodes and the buffer there is one in all, in which each node exchanges an equal part of its bytes
// with each stripe.
#pragma once
#include <cstdint>
#include <vector>

#include "model/job.hpp"
#include "session/operation.hpp"
#include "session/runtime.hpp"
#include "session/sub_jobs.hpp"

namespace spillway {

// The profile of a transfer, in Batsim's types.
struct TransferProfile final : Description {
  enum class Form : std::uint8_t {
    STAGING,  // data_staging from the storage host `source` to `destination`
    NODE_IO,  // parallel_homogeneous_pfs: each node reads or writes one storage host, `label`
    STRIPES   // parallel: `flow` bytes from or to each end at each stripe
  };
  Form form = Form::STAGING;
  Amount bytes;
  bool writes = false;          // whether the bytes leave the nodes
  std::string label;            // of NODE_IO
  double flow = 0.0;            // of STRIPES
  std::vector<bool> is_stripe;  // by host, of STRIPES

  Work work() const override;
  // Bytes by pair of hosts, row by row (row: source), of STRIPES.
  std::vector<double> flows() const;
};

using NodeList = std::vector<std::int32_t>;

// Batsim's ids of some node indices, ascending.
Ids host_ids(const NodeList& nodes, const Hosts& hosts);

// Whether a transfer moves a buffer that belongs to the job as a whole, and so cannot be divided by
// nodes.
bool is_striped(const Transfer& transfer, const Allocation& allocation);

// Bytes that a transfer moves for so many nodes; for a striped buffer, or without nodes, on all
// storages.
double volume(const Transfer& transfer, std::size_t nodes, const Allocation& allocation);

// The sub-jobs of a transfer for these nodes of an allocation (indices, ascending). Throws
// std::invalid_argument for a transfer with a burst buffer that the job lacks, or a file system
// that the platform lacks.
Lowered lower(const Transfer& transfer, const NodeList& nodes, const Allocation& allocation,
              const Hosts& hosts);

}  // namespace spillway
