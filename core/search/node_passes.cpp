// Slurm's main pass and backfill pass over a space of nodes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "search/node_space.hpp"

namespace spillway {
namespace {

enum Count { BY_SET, BY_USER, RESERVED };

constexpr std::int64_t PLANNED = 2;

double rounded(double time_s, double resolution_s) {
  return time_s < NEVER ? std::floor(time_s / resolution_s) * resolution_s : time_s;
}

// End of the reservation of a job that is to end at a time, rounded to the resolution.
double end_of(double time_s, const PlanRules& rules) {
  if (rules.ends_up && time_s < NEVER)
    return std::ceil(time_s / rules.resolution_s) * rules.resolution_s;
  return rounded(time_s, rules.resolution_s);
}

}  // namespace

// Whether enough idle nodes of a pair's partition have no reservation while it would run.
bool NodeSpace::may_start(const PairTable& pairs, std::int64_t pair, const PlanRules& rules) {
  const PairRow& one = pairs.rows[pair];
  const double now_s = rules.now_s, end_s = now_s + pairs.durations_s[pair];
  allow(one.set, now_s, end_s, rules);
  std::int64_t number = 0;
  for (std::int64_t word = 0; word < words_; word++) {
    found_[at(word)] = allowed_[at(word)] & left_[0][at(word)];
    number += popcount(found_[at(word)]);
  }
  for (std::int64_t segment = after(end_s) - 1; number >= one.nodes && segment >= 0; segment--)
    number = narrow(segment);
  return number >= one.nodes;
}

// Whether a pair exceeds the limit of its partition or its user; otherwise it is counted.
bool NodeSpace::is_over(const PairRow& pair, const Pass& pass, const PlanRules& rules) const {
  std::int64_t& of_set = pass.counts[BY_SET * pass.columns + pair.set];
  std::int64_t& of_user = pass.counts[BY_USER * pass.columns + pair.user];
  if (rules.most_of_set > 0 && of_set >= rules.most_of_set) return true;
  if (rules.most_of_user > 0 && of_user >= rules.most_of_user) return true;
  of_set++;
  of_user++;
  return false;
}

// The first time at which a pair need be tried; NEVER if the searches before do not reach any.
// Reservations only grow in a pass. If a pair of no more nodes and no longer duration, in the same
// partition, found too few nodes up to a time, this one would, too; also at times at which nodes
// become free only since then.
double NodeSpace::not_before(const PairTable& pairs, const Pass& pass, const PlanRules& rules,
                             std::int64_t pair) {
  const PairRow& one = pairs.rows[pair];
  const double duration_s = pairs.durations_s[pair];
  double begin_s = rules.now_s, first_s = rules.now_s;
  if (!windows_.empty()) return first_s;
  for (std::int64_t other = 0; other < pair; other++) {
    if (pass.unreserved_s[other] > first_s && pairs.rows[other].set == one.set &&
        pairs.rows[other].nodes <= one.nodes && pairs.durations_s[other] <= duration_s) {
      first_s = pass.unreserved_s[other];
    }
  }
  if (first_s == begin_s) return first_s;
  allow(one.set, begin_s, begin_s, rules);
  pass.unreserved_s[pair] = first_s;
  std::int64_t first = 0, segment = 0;
  while (times_[at(segment)] < first_s) {
    segment = release(segment + 1);
    if (segment == segments() || !sees(segment, first, begin_s, duration_s)) return NEVER;
    first = segment;
    begin_s = times_[at(segment)];
  }
  return begin_s;
}

double NodeSpace::plan(const PairTable& pairs, const Pass& pass, const PlanRules& rules,
                       std::int64_t pair, double not_before_s, double gone_s) {
  const PairRow& one = pairs.rows[pair];
  const double duration_s = pairs.durations_s[pair], now_s = rules.now_s;
  const bool apart = one.flags & PAIR_OVERLAPPING, now_only = one.flags & PAIR_NOW_ONLY;
  double& unreserved_s = pass.unreserved_s[pair];
  bool known = false;
  while (not_before_s < NEVER) {
    if (known && windows_.empty()) not_before_s = promising(one.nodes, not_before_s, duration_s);
    const double again_s = allow(one.set, not_before_s, not_before_s + duration_s, rules);
    const std::int64_t first = after(not_before_s) - 1;
    const std::int64_t blocked = unreserved(one.nodes, not_before_s, not_before_s + duration_s);
    if (blocked >= 0) {
      if (now_only) return NEVER;
      if (!known) unreserved_s = blocked + 1 < segments() ? times_[at(blocked + 1)] : NEVER;
      not_before_s = windows_.empty() ? past(blocked, first, not_before_s, duration_s)
                                      : std::min(later(first, not_before_s, duration_s), again_s);
      continue;
    }
    if (!known) {
      unreserved_s = not_before_s;
      known = true;
    }
    const std::int64_t leaving = leave(one.nodes, rules, gone_s);
    const bool runs = leaving > ended_ && ends_s_[at(leaving)] > gone_s;
    double start_s =
        std::max(runs ? std::max(ends_s_[at(leaving)], now_s + 1.0) : now_s, not_before_s);
    const bool waits = start_s <= now_s;
    double later_s = NEVER;
    if (waits) {
      choose_found(one.nodes);
      if (is_idle()) {
        if (ended_ > 0) {  // choose again among the idle ones, as a start does
          for (std::int64_t word = 0; word < words_; word++) found_[at(word)] &= left_[0][at(word)];
          choose_found(one.nodes);
        }
        return now_s;
      }
      start_s = now_s + 1.0;  // for nodes that are not back yet
    }
    if (now_only) return NEVER;
    if (!waits) {
      later_s = std::min(later(first, not_before_s, duration_s), again_s);
      if (start_s > later_s) {
        not_before_s = later_s;
        continue;
      }
      choose_found(one.nodes);
    }
    const double begin_s = rounded(start_s, rules.resolution_s),
                 end_s = end_of(start_s + duration_s, rules);
    if (apart || start_s > rules.until_s || !overlaps(begin_s, end_s)) return start_s;
    not_before_s = start_s > not_before_s ? start_s : later_s;
  }
  return NEVER;
}

bool NodeSpace::keep(const PairTable& pairs, const Pass& pass, const PlanRules& rules,
                     std::int64_t pair, double start_s) {
  const PairRow& one = pairs.rows[pair];
  if (start_s > rules.until_s || one.flags & PAIR_NOW_ONLY) return false;
  pass.counts[RESERVED * pass.columns + one.set]++;
  reserve(rounded(start_s, rules.resolution_s), end_of(start_s + pairs.durations_s[pair], rules));
  return true;
}

void NodeSpace::keep_started(const PairTable& pairs, const PlanRules& rules, std::int64_t pair,
                             Words nodes) {
  choose(std::move(nodes));
  reserve(rules.now_s, end_of(rules.now_s + pairs.durations_s[pair], rules));
}

std::int64_t NodeSpace::backfill(const PairTable& pairs, const Pass& pass, const PlanRules& rules,
                                 std::int64_t pair) {
  const double now_s = rules.now_s;
  std::int64_t possible = pair;
  while (pair < pairs.count) {
    if (rules.starts_only) {
      possible = std::max(possible, pair);
      while (possible < pairs.count &&
             !(pairs.waiting[pairs.rows[possible].job] && may_start(pairs, possible, rules))) {
        possible++;
      }
      if (possible == pairs.count) return possible;
    }
    PairRow& one = pairs.rows[pair];
    std::int64_t& waiting = pairs.waiting[one.job];
    if (!waiting || is_over(one, pass, rules)) {
      pair++;
      continue;
    }
    const bool one_left = (rules.one_each && waiting == PLANNED) ||
                          (rules.most_reserved > 0 &&
                           pass.counts[RESERVED * pass.columns + one.set] >= rules.most_reserved);
    if (one_left) one.flags |= PAIR_NOW_ONLY;
    if (one.flags & PAIR_CALLER) {
      asks_ = true;
      return pair;
    }
    const double first_s = not_before(pairs, pass, rules, pair);
    double start_s = NEVER;
    if (first_s == now_s || !(one.flags & PAIR_NOW_ONLY))
      start_s = plan(pairs, pass, rules, pair, first_s);
    if (one.flags & PAIR_NOW_ONLY) pass.unreserved_s[pair] = -NEVER;  // later times were not tried
    pass.starts_s[pair] = start_s;
    if (start_s < NEVER) waiting = PLANNED;
    if (start_s <= now_s && !(one.flags & (PAIR_WITHOUT | PAIR_STAGING))) {
      asks_ = false;
      return pair;
    }
    if (start_s < NEVER && !(start_s <= now_s && one.flags & PAIR_WITHOUT))
      keep(pairs, pass, rules, pair, start_s);
    pair++;
  }
  return pair;
}

std::int64_t NodeSpace::main(const PairTable& pairs, std::int64_t* ended, std::uint64_t* nodes,
                             std::int64_t asks, std::int64_t depth, std::int64_t pair) {
  for (; pair < pairs.count; pair++) {
    const PairRow& one = pairs.rows[pair];
    if (!pairs.waiting[one.job]) continue;
    if (looked_ == depth) return pairs.count;
    looked_++;
    if (ended[one.set]) continue;
    if (asks < 0 || one.flags & asks) return pair;
    const Words& set = sets_[at(one.set)];
    std::int64_t idle = 0;
    for (std::int64_t word = 0; word < words_; word++)
      idle += popcount(left_[0][at(word)] & nodes[word] & set[at(word)]);
    if (idle >= one.nodes) return pair;
    ended[one.set] = 1;
    std::uint64_t left = 0;
    for (std::int64_t word = 0; word < words_; word++) {
      nodes[word] &= ~set[at(word)];
      left |= nodes[word];
    }
    if (!left) return pairs.count;
  }
  return pair;
}

}  // namespace spillway
