// Gates in front of the I/O nodes, which decide when running jobs may use the file system.
//
// A gate is a pure state machine: the runtime requests a turn before a transfer, releases it when
// the transfer has ended, and gets the turns that may begin now. Time only comes as an argument. A
// turn is one I/O operation of a job on one I/O node, and is not interrupted. No turn waits while
// it holds another one of the same request, so gates cannot deadlock.
//
// Jeannot, Pallez, Vidal, IJHPCA 2023 (DOI 10.1177/10943420231175854), section "Machine Model":
// exclusive, not preempted, first come first served; Gainaru et al., IPDPS 2015
// (DOI 10.1109/IPDPS.2015.116): the other orders' ideas.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "session/record.hpp"

namespace spillway {

// Order of the turns at an exclusive gate; ties are broken first come, first served.
enum class IoOrder : std::uint8_t {
  FIFO,      // first come first served
  SHORTEST,  // fewest bytes first
  STARVED,   // longest total wait first
  STRETCH    // largest stretch by waiting first
};

// One transfer that waits or runs.
struct Turn {
  std::int64_t key = 0;          // chosen by the caller, unique while the turn waits or runs
  std::int64_t application = 0;  // account that it belongs to
  std::int32_t node = 0;         // I/O node, from 0
  double volume_bytes = 0.0;
  double requested_s = 0.0;
  std::int64_t number = 0;  // rank among all requests
};

// Account of an application at a gate.
struct Account {
  double entered_s = 0.0;    // its start, or its first request (s)
  double waited_s = 0.0;     // at least one of its turns waited; closed intervals only
  std::int64_t turns = 0;    // turns that began
  std::int32_t waiting = 0;  // turns that wait now
  std::int32_t moving = 0;   // turns that have begun and not been released
  double since_s = NOT_YET;  // begin of the present wait

  // Time spent waiting so far (s), the present wait included.
  double waited(double now_s) const { return waited_s + (waiting ? now_s - since_s : 0.0); }
  // Time since the start over the part of it that was not waiting, >= 1; infinite if it only
  // waited.
  double stretch(double now_s) const {
    const double life_s = now_s - entered_s;
    const double worked_s = life_s - waited(now_s);
    return worked_s > 0 ? life_s / worked_s : NEVER;
  }
  void begin_wait(double now_s) {
    if (!waiting) since_s = now_s;
    ++waiting;
  }
  void end_wait(double now_s) {
    --waiting;
    if (!waiting) waited_s += now_s - since_s;
  }
};

class Gate {
 public:
  enum class Fault : std::uint8_t { NONE, HAS_BEGUN, WAITS_ALREADY, NOT_BEGUN, STILL_BUSY };
  using Keys = std::vector<std::int64_t>;

  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  virtual ~Gate() = default;

  // Open the account of a job at its start; without this it opens with the first request.
  void enter(std::int64_t application, double now_s) { account(application, now_s); }
  // Request a turn; appends the turns that begin now: this one, or none.
  virtual Fault request(Turn turn, Keys& begun) = 0;
  // Release the turn of a transfer that has ended in any way; appends the turns that begin now.
  virtual Fault release(std::int64_t key, double now_s, Keys& begun) = 0;
  // Drop the waiting turns of a job that is killed, and append them. Its running transfers
  // continue: their turns are released when they have really ended.
  virtual void withdraw(std::int64_t application, double now_s, Keys& dropped) = 0;
  // Close the account of a job that has ended (an empty one if it had no account).
  Fault leave(std::int64_t application, double now_s, Account& closed);

 protected:
  Account& account(std::int64_t application, double now_s);
  // Open a turn's account and number the turn.
  Fault enroll(Turn& turn);
  void begin(const Turn& turn);
  Fault end(std::int64_t key, Turn& turn);

  std::unordered_map<std::int64_t, Account> accounts_;
  std::unordered_map<std::int64_t, Turn> begun_;

 private:
  std::int64_t count_ = 0;
};

// Every turn begins at once.
class SharedGate final : public Gate {
 public:
  Fault request(Turn turn, Keys& begun) override;
  Fault release(std::int64_t key, double now_s, Keys& begun) override;
  void withdraw(std::int64_t, double, Keys&) override {}
};

// One turn at a time per I/O node, never preempted.
class ExclusiveGate final : public Gate {
 public:
  explicit ExclusiveGate(IoOrder order) : order_(order) {}

  Fault request(Turn turn, Keys& begun) override;
  Fault release(std::int64_t key, double now_s, Keys& begun) override;
  void withdraw(std::int64_t application, double now_s, Keys& dropped) override;

  // The turn that has begun at an I/O node; null: none.
  const Turn* holder(std::int32_t node) const;
  // The turns that wait at an I/O node, in order of their requests.
  std::vector<Turn> waiting(std::int32_t node) const;
  // "", or what is wrong: no application waits at a free I/O node, and the accounts agree.
  const char* inconsistency() const;

 private:
  struct IoNode {
    std::int32_t number = 0;
    bool held = false;
    std::int64_t holder = 0;
    std::vector<Turn> queue;
  };

  IoNode& at(std::int32_t number);
  const IoNode* find(std::int32_t number) const;
  double rank(const Turn& turn, double now_s) const;

  IoOrder order_;
  std::vector<IoNode> nodes_;  // in the order of their first requests
};

}  // namespace spillway
