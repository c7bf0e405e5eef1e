#include "bindings/machine.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "bindings/job.hpp"
#include "bindings/values.hpp"
#include "book/allocations.hpp"

namespace spillway::bindings {
namespace {

using Table = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;
using Place = std::vector<std::string>;

const std::map<std::string, NodeOrder> NODE_ORDERS = {
    {"first-fit", NodeOrder::FIRST_FIT}, {"spread", NodeOrder::SPREAD}, {"pack", NodeOrder::PACK}};
const std::map<std::string, StorageOrder> STORAGE_ORDERS = {
    {"nearest", StorageOrder::NEAREST},
    {"by-id", StorageOrder::BY_ID},
    {"rack", StorageOrder::RACK},
    {"fullest", StorageOrder::FULLEST},
    {"fullest-at-end", StorageOrder::FULLEST_AT_END},
    {"emptiest", StorageOrder::EMPTIEST},
    {"least-loaded", StorageOrder::LEAST_LOADED},
    {"compact", StorageOrder::COMPACT},
    {"spread", StorageOrder::SPREAD},
    {"equal", StorageOrder::EQUAL}};

template <class Order>
Order order_of(const std::map<std::string, Order>& orders, nb::handle order) {
  return orders.at(nb::cast<std::string>(order.attr("value")));
}

std::vector<std::int32_t> table_of(nb::handle array, std::size_t size) {
  const auto table = nb::cast<Table>(array);
  const std::size_t count = std::min(table.size(), size);
  return std::vector<std::int32_t>(table.data(), table.data() + count);
}

std::vector<Place> places_of(nb::handle things) {
  std::vector<Place> found;
  for (nb::handle thing : things) {
    Place place;
    for (nb::handle part : thing.attr("location")) place.push_back(nb::cast<std::string>(part));
    found.push_back(std::move(place));
  }
  return found;
}

std::size_t common(const Place& one, const Place& other) {
  std::size_t length = 0;
  while (length < std::min(one.size(), other.size()) && one[length] == other[length]) length++;
  return length;
}

// Number of the nearest storage nodes of each node that are in its own rack: the smallest place
// around it that has some. On a machine without places that is the whole machine; a node that
// shares no place with a storage node has none.
std::vector<std::int32_t> own_of(nb::handle machine, const Facts& facts) {
  const std::vector<Place> nodes = places_of(machine.attr("nodes"));
  const std::vector<Place> storages = places_of(machine.attr("storages"));
  std::vector<std::int32_t> found;
  for (std::size_t node = 0; node < nodes.size(); node++) {
    const std::int32_t* nearest = facts.nearest.data() + node * storages.size();
    const auto length = [&](std::size_t rank) {
      return common(nodes[node], storages[static_cast<std::size_t>(nearest[rank])]);
    };
    std::size_t count = 0;
    while (count < storages.size() && length(count) >= length(0)) count++;
    const bool alone = count && !nodes[node].empty() && !length(0);
    found.push_back(alone ? 0 : static_cast<std::int32_t>(count));
  }
  return found;
}

}  // namespace

StorageOrder storage_order_of(nb::handle order) { return order_of(STORAGE_ORDERS, order); }

std::vector<Pool> pools_of(nb::handle pools) {
  std::vector<Pool> found;
  std::map<std::string, std::int32_t> resources;
  for (nb::handle pool : pools) {
    Pool one;
    one.count = nb::cast<std::int64_t>(pool.attr("count"));
    one.overdrawn = nb::cast<bool>(pool.attr("overdrawn"));
    nb::object layer = pool.attr("layer");
    if (!layer.is_none()) {
      const auto name = nb::cast<std::string>(layer.attr("resource"));
      one.resource =
          resources.emplace(name, static_cast<std::int32_t>(resources.size())).first->second;
      one.mode = nb::cast<std::int32_t>(layer.attr("mode"));
      one.nodes = ascending(indices_of(layer.attr("nodes")));  // the book searches sorted lists
    }
    found.push_back(std::move(one));
  }
  return found;
}

PayloadPtr source_of(nb::handle machine, nb::handle placement) {
  return to_payload(nb::make_tuple(machine, placement));
}

nb::object python_machine(const Machine& machine) {
  return from_payload(machine.facts().source)[0];
}

nb::object python_placement(const Machine& machine) {
  return from_payload(machine.facts().source)[1];
}

MachinePtr machine_of(nb::handle machine, nb::handle given) {
  nb::object placement = given.is_none()
                             ? nb::module_::import_("spillway.core.placement").attr("Placement")()
                             : nb::borrow(given);
  Facts facts;
  facts.nodes = static_cast<std::int64_t>(nb::len(nb::object(machine.attr("nodes"))));
  facts.rows = nb::cast<std::int32_t>(machine.attr("rows"));
  for (nb::handle storage : machine.attr("storages")) {
    facts.storage_bytes.push_back(nb::cast<std::int64_t>(storage.attr("capacity_bytes")));
  }
  for (nb::handle link : machine.attr("links")) {
    facts.link_rates.push_back(nb::cast<std::int64_t>(link.attr("capacity_bytes_per_s")));
    facts.link_parents.push_back(nb::cast<std::int32_t>(link.attr("parent")));
  }
  const auto nodes = static_cast<std::size_t>(facts.nodes);
  facts.node_link.assign(nodes, -1);
  if (!facts.link_rates.empty()) facts.node_link = table_of(machine.attr("node_link"), nodes);
  facts.nearest = table_of(machine.attr("nearest_storages"), nodes * facts.storage_bytes.size());
  for (nb::handle one : machine.attr("partitions")) {
    facts.partitions.push_back(ascending(indices_of(one.attr("nodes"))));
  }
  facts.pools = pools_of(machine.attr("pools"));
  facts.node_order = order_of(NODE_ORDERS, placement.attr("node_order"));
  facts.storage_order = storage_order_of(placement.attr("storage_order"));
  facts.own.assign(nodes, 0);
  if (facts.storage_order == StorageOrder::RACK) facts.own = own_of(machine, facts);
  facts.source = source_of(machine, placement);
  const SizeFault fault = Machine::size_fault(facts);
  if (fault != SizeFault::NONE) {
    const bool links = fault == SizeFault::LINK_SUM;
    std::int64_t largest = 0;
    for (const std::int64_t size : links ? facts.link_rates : facts.storage_bytes)
      largest = std::max(largest, size);
    const auto number = links ? facts.nodes : static_cast<std::int64_t>(facts.storage_bytes.size());
    refuse("machine_size", static_cast<int>(fault), number, links ? largest + 1 : largest);
  }
  return std::make_shared<Machine>(std::move(facts));
}

}  // namespace spillway::bindings
