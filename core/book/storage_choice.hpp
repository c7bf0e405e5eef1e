#pragma once
#include <algorithm>
#include <cstdint>

#include "book/placement.hpp"

namespace spillway {

// Chooses the storage node of each request of one job.
class StorageChoice {
 public:
  StorageChoice(std::int64_t* window, const std::int64_t* after, const JobDemand& demand,
                const Machine& machine, Scratch& scratch, StorageOrder order)
      : free_(window + machine.first_storage),
        after_(after + machine.first_storage),
        since_(scratch.since + machine.first_storage),
        taken_(scratch.taken + machine.first_storage),
        capacity_(&machine.capacity[static_cast<std::size_t>(machine.first_storage)]),
        demand_(demand),
        machine_(machine),
        scratch_(scratch),
        order_(order),
        striped_(demand.uses & STRIPED) {}

  // Whether there was one for each request.
  bool run() {
    std::fill(taken_, taken_ + machine_.storages, 0);
    // These orders prefer a storage node even more when it has fewer bytes, and the nearest one is
    // the first of its list that holds a request: the same again while it holds one.
    const bool nearest = order_ == StorageOrder::NEAREST;
    const bool stays =
        !striped_ && (nearest || order_ == StorageOrder::BY_ID || order_ == StorageOrder::FULLEST ||
                      order_ == StorageOrder::FULLEST_AT_END);
    for (std::int64_t request = 0; request < demand_.requests;) {
      const std::int32_t node = node_of(request), storage = find(node);
      if (storage < 0) return false;
      const std::int64_t first = request++;
      std::int64_t left = free_[storage] - demand_.bb_bytes;
      if (stays) {
        const std::int32_t list = list_of(node);
        while (request < demand_.requests && left >= demand_.bb_bytes &&
               (!nearest || list_of(node_of(request)) == list)) {
          left -= demand_.bb_bytes;
          request++;
        }
      }
      free_[storage] = left;
      taken_[storage] += request - first;
      std::fill(scratch_.storages.begin() + first, scratch_.storages.begin() + request, storage);
    }
    return true;
  }

 private:
  // Node that a request belongs to; stripes are spread over the job's nodes.
  std::int32_t node_of(std::int64_t request) const {
    const bool each = demand_.requests == demand_.nodes;
    const std::int64_t place = each ? request : request * demand_.nodes / demand_.requests;
    return scratch_.nodes[static_cast<std::size_t>(place)];
  }

  std::int32_t list_of(std::int32_t node) const {
    return machine_.lists[static_cast<std::size_t>(node)];
  }

  // Storage node with free bytes for one more request of a node, by the order; -1: there is none.
  std::int32_t find(std::int64_t node) const {
    const bool by_place = order_ == StorageOrder::NEAREST || order_ == StorageOrder::RACK;
    const std::int32_t* nearest =
        &machine_.facts().nearest[static_cast<std::size_t>(node * machine_.storages)];
    std::int32_t best = -1;
    for (std::int32_t rank = 0; rank < machine_.storages; rank++) {
      const std::int32_t storage = by_place ? nearest[rank] : rank;
      if (free_[storage] < demand_.bb_bytes || (striped_ && taken_[storage] > 0)) continue;
      if (order_ <= StorageOrder::RACK) return storage;
      if (best < 0 || is_better(storage, best)) best = storage;
    }
    return best;
  }

  bool is_better(std::int32_t storage, std::int32_t best) const {
    std::int64_t later = 0;
    switch (order_) {
      case StorageOrder::COMPACT:
        later = (taken_[best] > 0) - (taken_[storage] > 0);
        break;
      case StorageOrder::SPREAD:
        later = (taken_[storage] > 0) - (taken_[best] > 0);
        break;
      case StorageOrder::EQUAL:
        later = taken_[storage] - taken_[best];
        break;
      case StorageOrder::FULLEST_AT_END:
        later = after_[storage] - after_[best];
        if (later == 0) later = since_[best] - since_[storage];
        break;
      case StorageOrder::LEAST_LOADED: {
        const double share =
            static_cast<double>(free_[storage]) / static_cast<double>(capacity_[storage]);
        const double other =
            static_cast<double>(free_[best]) / static_cast<double>(capacity_[best]);
        later = (share < other) - (share > other);
        break;
      }
      default:
        break;
    }
    const std::int64_t now = free_[storage] - free_[best];
    return later < 0 || (later == 0 && (order_ >= StorageOrder::EMPTIEST ? now > 0 : now < 0));
  }

  std::int64_t* free_;
  const std::int64_t* after_;
  const std::int64_t* since_;
  std::int64_t* taken_;
  const std::int64_t* capacity_;
  const JobDemand& demand_;
  const Machine& machine_;
  Scratch& scratch_;
  StorageOrder order_;
  bool striped_;
};

}  // namespace spillway
