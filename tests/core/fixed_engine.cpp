#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "engines/fixed.hpp"

using namespace spillway;

CORE_TEST(fixed_tasks_end_when_their_slowest_host_is_done) {
  FixedEngine engine({1e9, 2e9});
  Task task;
  task.hosts = {0, 1};
  task.flops = {4e9};
  const Handle both = engine.start(task);
  task.hosts = {1};
  const Handle fast = engine.start(task);
  std::vector<Handle> ended;
  engine.advance(NEVER, ended);
  EXPECT(ended == std::vector<Handle>{fast} && engine.clock_s() == 2.0);
  engine.change_speed(0, 2e9);
  EXPECT(engine.next_completion() == 3.0);
  EXPECT(engine.cancel(both) == 0.5 && engine.cancel(both) == Engine::NOT_ACTIVE);
  engine.advance(NEVER, ended);
  EXPECT(engine.clock_s() == 2.0 && engine.active() == 0);
}

CORE_TEST(fixed_every_task_ends_or_is_cancelled_once) {
  std::mt19937_64 random(7);
  FixedEngine engine({1e9, 3e9, 0.5e9});
  Task task;
  std::vector<Handle> ended;
  std::vector<int> left(2000, 1);
  for (std::size_t number = 0; number < left.size(); ++number) {
    task.clear();
    for (std::int32_t host = 0; host < 3; ++host) {
      if (random() % 2) task.hosts.push_back(host);
    }
    task.flops.assign(task.hosts.size(), static_cast<double>(random() % 1000) * 1e7);
    engine.start(task);
    if (random() % 5 == 0) {
      const std::size_t victim = random() % (number + 1);
      if (engine.cancel(static_cast<Handle>(victim)) >= 0.0) --left[victim];
    }
    if (random() % 50 == 0) engine.change_speed(0, static_cast<double>(1 + random() % 3) * 1e9);
    engine.advance(engine.clock_s() + static_cast<double>(random() % 100) / 20.0, ended);
  }
  while (engine.active() > 0) engine.advance(NEVER, ended);
  for (const Handle handle : ended) --left[static_cast<std::size_t>(handle)];
  for (const int count : left) EXPECT(count == 0);
}
