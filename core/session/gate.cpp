#include "session/gate.hpp"

#include <algorithm>

namespace spillway {

Account& Gate::account(std::int64_t application, double now_s) {
  const auto found = accounts_.try_emplace(application);
  if (found.second) found.first->second.entered_s = now_s;
  return found.first->second;
}

Gate::Fault Gate::enroll(Turn& turn) {
  if (begun_.count(turn.key)) return Fault::HAS_BEGUN;
  account(turn.application, turn.requested_s);
  turn.number = count_++;
  return Fault::NONE;
}

void Gate::begin(const Turn& turn) {
  begun_.emplace(turn.key, turn);
  Account& account = accounts_.at(turn.application);
  ++account.turns;
  ++account.moving;
}

Gate::Fault Gate::end(std::int64_t key, Turn& turn) {
  const auto found = begun_.find(key);
  if (found == begun_.end()) return Fault::NOT_BEGUN;
  turn = found->second;
  begun_.erase(found);
  --accounts_.at(turn.application).moving;
  return Fault::NONE;
}

Gate::Fault Gate::leave(std::int64_t application, double now_s, Account& closed) {
  closed = Account();
  closed.entered_s = now_s;
  const auto found = accounts_.find(application);
  if (found == accounts_.end()) return Fault::NONE;
  closed = found->second;
  accounts_.erase(found);
  return closed.waiting || closed.moving ? Fault::STILL_BUSY : Fault::NONE;
}

Gate::Fault SharedGate::request(Turn turn, Keys& begun) {
  const Fault fault = enroll(turn);
  if (fault != Fault::NONE) return fault;
  begin(turn);
  begun.push_back(turn.key);
  return Fault::NONE;
}

Gate::Fault SharedGate::release(std::int64_t key, double, Keys&) {
  Turn turn;
  return end(key, turn);
}

ExclusiveGate::IoNode& ExclusiveGate::at(std::int32_t number) {
  for (IoNode& node : nodes_) {
    if (node.number == number) return node;
  }
  nodes_.emplace_back();
  nodes_.back().number = number;
  return nodes_.back();
}

const ExclusiveGate::IoNode* ExclusiveGate::find(std::int32_t number) const {
  for (const IoNode& node : nodes_) {
    if (node.number == number) return &node;
  }
  return nullptr;
}

Gate::Fault ExclusiveGate::request(Turn turn, Keys& begun) {
  const Fault fault = enroll(turn);
  if (fault != Fault::NONE) return fault;
  IoNode& node = at(turn.node);
  for (const Turn& waiting : node.queue) {
    if (waiting.key == turn.key) return Fault::WAITS_ALREADY;
  }
  if (node.held) {
    node.queue.push_back(turn);
    account(turn.application, turn.requested_s).begin_wait(turn.requested_s);
    return Fault::NONE;
  }
  node.held = true;
  node.holder = turn.key;
  begin(turn);
  begun.push_back(turn.key);
  return Fault::NONE;
}

double ExclusiveGate::rank(const Turn& turn, double now_s) const {
  switch (order_) {
    case IoOrder::SHORTEST:
      return turn.volume_bytes;
    case IoOrder::STARVED:
      return -accounts_.at(turn.application).waited(now_s);
    case IoOrder::STRETCH:
      return -accounts_.at(turn.application).stretch(now_s);
    case IoOrder::FIFO:
      break;
  }
  return 0.0;  // the number decides
}

Gate::Fault ExclusiveGate::release(std::int64_t key, double now_s, Keys& begun) {
  Turn ended;
  const Fault fault = end(key, ended);
  if (fault != Fault::NONE) return fault;
  IoNode& node = at(ended.node);
  node.held = false;
  if (node.queue.empty()) return Fault::NONE;
  auto next = node.queue.begin();
  double least = rank(*next, now_s);
  for (auto turn = next + 1; turn != node.queue.end();
       ++turn) {  // ties: the queue is in order of the numbers
    const double own = rank(*turn, now_s);
    if (own < least) {
      least = own;
      next = turn;
    }
  }
  const Turn turn = *next;
  node.queue.erase(next);
  accounts_.at(turn.application).end_wait(now_s);
  node.held = true;
  node.holder = turn.key;
  begin(turn);
  begun.push_back(turn.key);
  return Fault::NONE;
}

void ExclusiveGate::withdraw(std::int64_t application, double now_s, Keys& dropped) {
  for (IoNode& node : nodes_) {
    const auto own = [application](const Turn& turn) { return turn.application == application; };
    for (const Turn& turn : node.queue) {
      if (!own(turn)) continue;
      dropped.push_back(turn.key);
      accounts_.at(application).end_wait(now_s);
    }
    node.queue.erase(std::remove_if(node.queue.begin(), node.queue.end(), own), node.queue.end());
  }
}

const Turn* ExclusiveGate::holder(std::int32_t number) const {
  const IoNode* node = find(number);
  return node && node->held ? &begun_.at(node->holder) : nullptr;
}

std::vector<Turn> ExclusiveGate::waiting(std::int32_t number) const {
  const IoNode* node = find(number);
  return node ? node->queue : std::vector<Turn>();
}

const char* ExclusiveGate::inconsistency() const {
  std::size_t held = 0;
  for (const IoNode& node : nodes_) {
    if (!node.held && !node.queue.empty()) return "turns wait at an I/O node that is free";
    if (node.held && !begun_.count(node.holder)) return "holders and accounts differ";
    held += node.held;
  }
  return held == begun_.size() ? "" : "holders and accounts differ";
}

}  // namespace spillway
