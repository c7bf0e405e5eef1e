#include "engines/fluid.hpp"

#include <memory>
#include <random>
#include <vector>

#include "check.hpp"

using namespace spillway;

namespace {

constexpr std::int32_t ROUTERS = 6, NEAR = 5, HOSTS = ROUTERS * NEAR;

/// Hosts below routers, a link for each host and direction, a link between each pair of routers.
class Tree final : public RouteSource {
 public:
  Route find(std::int32_t from, std::int32_t to) override {
    Route route{{2 * from}, 1e-4};
    if (from / NEAR != to / NEAR) {
      route.links.push_back(2 * HOSTS + from / NEAR * ROUTERS + to / NEAR);
      route.latency_s += 5e-4;
    }
    route.links.push_back(2 * to + 1);
    return route;
  }
  Route find_once(std::int32_t from, std::int32_t to) override { return find(from, to); }
  std::vector<std::vector<std::int32_t>> alike() override {
    std::vector<std::vector<std::int32_t>> groups(ROUTERS);
    for (std::int32_t host = 0; host < HOSTS; ++host) {
      groups[static_cast<std::size_t>(host / NEAR)].push_back(host);
    }
    return groups;
  }
};

std::shared_ptr<Network> tree(GroupLimits limits = {}) {
  const std::size_t links = 2 * HOSTS + ROUTERS * ROUTERS;
  std::vector<char> fatpipe(links, 0);
  fatpipe[links - 1] = fatpipe[3] = 1;
  return std::make_shared<Network>(
      std::vector<double>(HOSTS, 1e9), std::vector<std::int64_t>(HOSTS, 2),
      std::vector<double>(links, 1e8), std::move(fatpipe), std::make_unique<Tree>(), limits);
}

void draw(std::mt19937_64& random, Task& task) {
  task.clear();
  const auto first = static_cast<std::int32_t>(random() % HOSTS);
  const auto count = static_cast<std::int32_t>(1 + random() % 12);
  for (std::int32_t k = 0; k < count; ++k) task.hosts.push_back((first + 7 * k) % HOSTS);
  task.flops = {static_cast<double>(random() % 4) * 1e9};
  if (random() % 2) {
    task.bytes_each_pair = static_cast<double>(random() % 1000) * 1e4;
  } else {
    for (std::int32_t k = 0; k + 1 < count; ++k) {
      const auto at = static_cast<std::size_t>(k);
      task.flows.push_back({task.hosts[at], task.hosts[at + 1], 1e6 * k});
    }
  }
}

}  // namespace

CORE_TEST(fluid_invariants_hold_while_tasks_come_and_go) {
  std::mt19937_64 random(11);
  FluidEngine engine(tree());
  Task task;
  std::vector<Handle> ended;
  std::vector<int> left(1500, 1);
  for (std::size_t number = 0; number < left.size(); ++number) {
    draw(random, task);
    if (random() % 10 == 0) {
      engine.sleep(static_cast<double>(random() % 100) / 50.0);
    } else {
      engine.start(task);
    }
    if (random() % 6 == 0) {
      const std::size_t victim = random() % (number + 1);
      if (engine.cancel(static_cast<Handle>(victim)) >= 0.0) --left[victim];
    }
    if (random() % 40 == 0) engine.change_speed(3, static_cast<double>(1 + random() % 3) * 1e9);
    const std::size_t before = ended.size();
    const double ahead_s = engine.next_completion();
    engine.advance(engine.clock_s() + static_cast<double>(random() % 100) / 100.0, ended);
    EXPECT(ended.size() == before || engine.clock_s() == ahead_s);
    EXPECT(engine.check() == nullptr);
  }
  while (engine.active() > 0) engine.advance(NEVER, ended);
  for (const Handle handle : ended) --left[static_cast<std::size_t>(handle)];
  for (const int count : left) EXPECT(count == 0);
}

CORE_TEST(fluid_groups_change_no_result) {
  std::mt19937_64 random(5);
  const auto searched = tree();
  const auto known = tree({1, 1});
  const auto none = tree({0, 1'000'000'000});
  std::vector<std::int32_t> all;
  for (std::int32_t host = 0; host < HOSTS; ++host) all.push_back(host);
  searched->routes.group(all);
  EXPECT(searched->routes.groups().count() == ROUTERS);
  FluidEngine engines[] = {FluidEngine(none), FluidEngine(searched), FluidEngine(known)};
  Task task;
  for (int round = 0; round < 400; ++round) {
    draw(random, task);
    std::vector<Handle> ended[3];
    const double until_s = engines[0].clock_s() + 0.05;
    for (int k = 0; k < 3; ++k) {
      engines[k].start(task);
      engines[k].advance(until_s, ended[k]);
      EXPECT(ended[k] == ended[0] && engines[k].clock_s() == engines[0].clock_s());
    }
  }
  EXPECT(known->routes.groups().count() > 0 && none->routes.groups().count() == 0);
}
