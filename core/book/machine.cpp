#include "machine.hpp"

#include <algorithm>
#include <numeric>

namespace spillway {
namespace {

constexpr std::int64_t LARGEST_SUM = std::int64_t{1} << 62;
constexpr std::int64_t LARGEST_EXACT = std::int64_t{1}
                                       << 53;  // whole numbers below this are exact in a double

constexpr std::int64_t OVERDRAFT = -(std::int64_t{1} << 61);  // least amount left of a limit

using Words = std::vector<std::uint64_t>;

bool any(const Words& words) {
  return std::any_of(words.begin(), words.end(), [](std::uint64_t word) { return word != 0; });
}

std::int64_t size_of(const Words& words) {
  std::int64_t count = 0;
  for (const std::uint64_t word : words) count += popcount(word);
  return count;
}

bool reaches(std::int64_t number, std::int64_t largest, std::int64_t limit) {
  return number > 0 && largest > (limit - 1) / number;
}

}  // namespace

SizeFault Machine::size_fault(const Facts& facts) {
  std::int64_t largest = 0, widest = 0;
  for (const std::int64_t size : facts.storage_bytes) largest = std::max(largest, size);
  for (const std::int64_t rate : facts.link_rates) widest = std::max(widest, rate);
  if (reaches(static_cast<std::int64_t>(facts.storage_bytes.size()), largest, LARGEST_SUM))
    return SizeFault::STORAGE_SUM;
  if (reaches(facts.nodes, widest + 1, LARGEST_SUM)) return SizeFault::LINK_SUM;
  return largest >= LARGEST_EXACT ? SizeFault::STORAGE : SizeFault::NONE;
}

Machine::Machine(Facts facts) : facts_(std::move(facts)) {
  lay_out();
  NodeSet every;
  every.count = facts_.nodes;
  every.words.assign(static_cast<std::size_t>(words), 0);
  for (std::int64_t node = 0; node < facts_.nodes; node++)
    every.words[static_cast<std::size_t>(node >> 6)] |= bit_of(node);
  every.by_node.assign(layers.size(), 0);
  every.amounts.assign(static_cast<std::size_t>(pools), 0);
  sets_.push_back(every);
  known_[{{}, {}}] = 0;
}

void Machine::lay_out() {
  words = (facts_.nodes + 63) / 64;
  storages = static_cast<std::int64_t>(facts_.storage_bytes.size());
  links = static_cast<std::int64_t>(facts_.link_rates.size());
  pools = static_cast<std::int64_t>(facts_.pools.size());
  first_storage = HEAD + words;
  first_link = first_storage + storages;
  first_pool = first_link + links;
  width = first_pool + pools;
  racks = facts_.storage_order == StorageOrder::RACK;
  capacity.assign(static_cast<std::size_t>(width), 0);
  least = capacity;
  capacity[FREE_NODES] = facts_.nodes;
  for (std::int64_t node = 0; node < facts_.nodes; node++)
    words_of(&capacity[HEAD])[node >> 6] |= bit_of(node);
  total_bytes = largest_bytes = widest_rate = 0;
  for (std::int64_t place = 0; place < storages; place++) {
    const std::int64_t size = facts_.storage_bytes[static_cast<std::size_t>(place)];
    capacity[static_cast<std::size_t>(first_storage + place)] = size;
    total_bytes += size;
    largest_bytes = std::max(largest_bytes, size);
  }
  capacity[FREE_BYTES] = total_bytes;
  for (std::int64_t link = 0; link < links; link++) {
    const std::int64_t rate = facts_.link_rates[static_cast<std::size_t>(link)];
    capacity[static_cast<std::size_t>(first_link + link)] = rate;
    widest_rate = std::max(widest_rate, rate);
  }
  layers.clear();
  layered = false;
  for (std::int64_t place = 0; place < pools; place++) {
    const Pool& pool = facts_.pools[static_cast<std::size_t>(place)];
    capacity[static_cast<std::size_t>(first_pool + place)] = pool.count;
    if (pool.overdrawn) least[static_cast<std::size_t>(first_pool + place)] = OVERDRAFT;
    layered = layered || pool.resource >= 0;
    if (pool.mode > 1) layers.push_back({pool.mode, place, bits(pool.nodes)});
  }
  lists.assign(static_cast<std::size_t>(facts_.nodes), 0);
  for (std::size_t node = 1; node < lists.size(); node++) {
    const auto list = facts_.nearest.begin() + static_cast<std::ptrdiff_t>(node) * storages;
    lists[node] = lists[node - 1] + !std::equal(list, list + storages, list - storages);
  }
  below.assign(static_cast<std::size_t>(links), 0);
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> members;
  for (std::int64_t node = 0; links > 0 && node < facts_.nodes; node++) {
    const std::int32_t link = facts_.node_link[static_cast<std::size_t>(node)];
    if (link >= 0) below[static_cast<std::size_t>(link)]++;
    members[{link >= 0 ? link : links, node / 64}] |= bit_of(node);
  }
  for (std::int64_t link = links - 1; link >= 0; link--) {  // every link comes after its parent
    const std::int32_t parent = facts_.link_parents[static_cast<std::size_t>(link)];
    if (parent >= 0)
      below[static_cast<std::size_t>(parent)] += below[static_cast<std::size_t>(link)];
  }
  groups.clear();
  for (const auto& [key, nodes] : members) groups.push_back({key.first, key.second, nodes});
}

std::vector<std::uint64_t> Machine::bits(const std::vector<std::int32_t>& nodes) const {
  Words found(static_cast<std::size_t>(words), 0);
  for (const std::int32_t node : nodes) found[static_cast<std::size_t>(node >> 6)] |= bit_of(node);
  return found;
}

std::shared_ptr<Machine> Machine::widened(const std::vector<Pool>& more, PayloadPtr source) const {
  auto other = std::make_shared<Machine>(*this);
  other->facts_.pools = more;
  other->facts_.source = std::move(source);
  other->lay_out();
  for (NodeSet& set : other->sets_) {
    set.amounts.resize(static_cast<std::size_t>(other->pools), 0);
    set.by_node.resize(other->layers.size(), 0);
  }
  return other;
}

bool Machine::demand(const Job& job, Kinds kinds, JobDemand& out) {
  std::int64_t uses = kinds, bb_bytes = job.bb_bytes, io_rate = job.io_rate;
  const std::int64_t requests = job.requests();
  if (!bb_bytes || !(uses & BURST_BUFFERS)) {
    uses &= ~std::int64_t{BURST_BUFFERS};
    bb_bytes = 0;
  } else if (bb_bytes > largest_bytes || reaches(requests, bb_bytes, total_bytes + 1)) {
    return false;
  } else if (job.stripes) {
    if (job.stripes > storages) return false;
    uses |= STRIPED;
  }
  if (!io_rate || !links || !(uses & BANDWIDTH)) {
    uses &= ~std::int64_t{BANDWIDTH};
    io_rate = 0;
  } else {
    io_rate = std::min(io_rate,
                       widest_rate + 1);  // impossible as well, but small enough to be multiplied
  }
  if (job.nodes <= 0 || job.nodes > facts_.nodes) return false;
  out = {job.nodes, bb_bytes, io_rate, uses, requests, 0};
  if (job.pools.empty() || !(uses & POOLS)) {
    out.uses &= ~std::int64_t{POOLS};
    if (!job.partitions.empty()) out.first_set = first_set({job.partitions, {}});
    return out.first_set >= 0;
  }
  SetKey key{job.partitions, job.pools};
  bool requested = false, held = false;
  for (std::size_t place = 0; place < key.second.size() && place < facts_.pools.size(); place++) {
    if (facts_.pools[place].resource < 0 || !key.second[place]) continue;
    requested = true;
    held = held || facts_.pools[place].mode != 0;
    if (!(uses & NODES)) key.second[place] = 0;  // without nodes no layer is held
  }
  if ((uses & NODES || !requested) && held) out.uses |= LAYERED;
  out.first_set = first_set(key);
  return out.first_set >= 0;
}

std::int64_t Machine::first_set(const SetKey& key) {
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  std::vector<NodeSet> made;
  if (key.first.empty()) add_choices(sets_[0].words, key.second, made);
  for (const std::int32_t one : key.first) {
    add_choices(bits(facts_.partitions[static_cast<std::size_t>(one)]), key.second, made);
  }
  const std::int64_t first = made.empty() ? -1 : static_cast<std::int64_t>(sets_.size());
  for (std::size_t place = 0; place < made.size(); place++) {
    made[place].following = static_cast<std::int64_t>(made.size() - 1 - place);
    sets_.push_back(std::move(made[place]));
  }
  known_[key] = first;
  return first;
}

// The ways to meet a request for pools on some nodes, the best first; nothing if it can never be
// met. A resource of mode 1 is paid by one layer with a node of the job: each layer that is large
// enough is a choice, the one with the fewest nodes first. The number of nodes that the job needs
// is not checked.
void Machine::add_choices(const Words& nodes, const std::vector<std::int64_t>& requested,
                          std::vector<NodeSet>& found) const {
  std::vector<std::int64_t> amounts(requested);
  amounts.resize(static_cast<std::size_t>(pools), 0);
  std::vector<std::vector<std::size_t>>
      resources;  // places of the requested layers, in order of their first one
  for (std::size_t place = 0; place < amounts.size(); place++) {
    const Pool& pool = facts_.pools[place];
    if (pool.resource < 0) {
      if (amounts[place] > pool.count) return;
    } else if (amounts[place]) {
      const auto same = std::find_if(resources.begin(), resources.end(),
                                     [&](const std::vector<std::size_t>& places) {
                                       return facts_.pools[places[0]].resource == pool.resource;
                                     });
      if (same == resources.end()) {
        resources.push_back({place});
      } else {
        same->push_back(place);
      }
    }
  }
  Words usable(nodes);
  std::vector<std::vector<std::size_t>> payers;
  for (const std::vector<std::size_t>& places : resources) {
    const std::int64_t amount = amounts[places[0]];
    Words served(usable.size(), 0), refused(usable.size(), 0);
    std::vector<std::size_t> enough;
    for (const std::size_t place : places) {
      const Words own = bits(facts_.pools[place].nodes);
      const bool fits = facts_.pools[place].count >= amount;
      if (fits) enough.push_back(place);
      for (std::size_t word = 0; word < own.size(); word++) {
        served[word] |= own[word];
        if (!fits) refused[word] |= own[word];
      }
    }
    const std::int32_t mode = facts_.pools[places[0]].mode;
    for (std::size_t word = 0; word < usable.size(); word++)
      usable[word] &= mode > 1 ? served[word] & ~refused[word] : served[word];
    if (mode != 1) continue;
    std::stable_sort(enough.begin(), enough.end(), [&](std::size_t one, std::size_t other) {
      return facts_.pools[one].nodes.size() < facts_.pools[other].nodes.size();
    });
    payers.push_back(enough);
  }
  if (std::any_of(payers.begin(), payers.end(),
                  [](const std::vector<std::size_t>& one) { return one.empty(); }))
    return;
  std::vector<std::size_t> turn(payers.size(), 0);
  for (bool more = true; more;) {
    NodeSet set;
    set.words = usable;
    set.count = size_of(usable);
    if (!payers.empty()) {
      set.needed = usable;
      for (std::size_t payer = 0; payer < payers.size(); payer++) {
        const Words own = bits(facts_.pools[payers[payer][turn[payer]]].nodes);
        for (std::size_t word = 0; word < own.size(); word++) set.needed[word] &= own[word];
      }
    }
    if (payers.empty() || any(set.needed)) {
      for (std::size_t place = 0; place < amounts.size(); place++) {
        bool pays = facts_.pools[place].resource < 0;
        for (std::size_t payer = 0; payer < payers.size(); payer++)
          pays = pays || payers[payer][turn[payer]] == place;
        set.amounts.push_back(pays ? amounts[place] : 0);
      }
      for (const NodeLayer& layer : layers)
        set.by_node.push_back(amounts[static_cast<std::size_t>(layer.pool)]);
      found.push_back(std::move(set));
    }
    more = false;  // the next combination: the last payer changes first
    for (std::size_t payer = payers.size(); payer-- > 0;) {
      if (++turn[payer] < payers[payer].size()) {
        more = true;
        break;
      }
      turn[payer] = 0;
    }
  }
}

}  // namespace spillway
