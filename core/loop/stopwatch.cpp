#include "loop/stopwatch.hpp"

#include <chrono>
#include <ctime>

namespace spillway {
namespace {

constexpr std::int64_t REPORT_EVERY_NS = 250'000'000;
constexpr double NANO = 1e-9;

std::int64_t real_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

std::int64_t thread_ns() {
  timespec found{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &found);
  return std::int64_t{found.tv_sec} * 1'000'000'000 + std::int64_t{found.tv_nsec};
}

}  // namespace

bool Stopwatch::exchange(const Message& message, Reply& reply) {
  if (answered_ % BLOCK == 0) next_block();
  const std::int64_t began_ns = real_ns();
  const bool answered = scheduler_.exchange(message, reply);
  note(began_ns, message.now_s);
  return answered;
}

bool Stopwatch::go_on(Reply& reply) {
  const std::int64_t began_ns = real_ns();
  const bool answered = scheduler_.go_on(reply);
  note(began_ns, reply.now_s);
  return answered;
}

double Stopwatch::cpu_s() const { return (cpu_ns_ + block_cpu_ns()) * NANO; }

void Stopwatch::next_block() {
  cpu_ns_ += block_cpu_ns();
  answered_ = answered_ns_ = 0;
  block_ns_ = real_ns();
  block_cpu_ns_ = thread_ns();
}

double Stopwatch::block_cpu_ns() const {
  if (answered_ == 0) return 0.0;
  const double share = double(answered_ns_) / double(real_ns() - block_ns_);
  return double(thread_ns() - block_cpu_ns_) * share;
}

void Stopwatch::note(std::int64_t began_ns, double now_s) {
  const std::int64_t ended_ns = real_ns();
  ++answered_;
  answered_ns_ += ended_ns - began_ns;
  times_ns_.push_back(ended_ns - began_ns);
  if (ended_ns < next_report_ns_) return;
  next_report_ns_ = ended_ns + REPORT_EVERY_NS;
  report_(now_s);
}

}  // namespace spillway
