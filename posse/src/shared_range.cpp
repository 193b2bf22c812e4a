#include <basal/posse/detail/shared_range.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/cpu_pause.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/posse/detail/short_range.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

namespace {

constexpr std::uint32_t claims_if_even = 4; ///< of what is left of a share, about
constexpr std::uint32_t claims_if_not = 8;  ///< the same of elements that may be dear ones

constexpr std::uint64_t little = pace::target / 8; ///< ticks that a step's beginning costs

} // namespace

shared_range::shared_range(range_place<void>& place, void* body, range_site& site, int each,
                           std::size_t least_step, std::size_t first, std::size_t last,
                           std::size_t middle, pace::element_cost known,
                           std::uint64_t least) noexcept
  : place_(place),
    units_(first, last),
    usual_(site.cost(each)),
    is_uneven_(site.is_uneven()),
    least_(units_.units_of(pace::least_of(least_step, usual_))),
    few_(units_.units_of(usual_ == 0 ? 1 : (little << 8) / usual_)),
    least_ahead_(is_even() ? units_.units_of(pace::step_within(pace::target, usual_)) : 0),
    most_ahead_(units_.units_of(pace::step_within(pace::longest_target, usual_))),
    least_step_(static_cast<std::uint32_t>(std::min(least_step, pace::longest_step))),
    each_(static_cast<std::int8_t>(each)),
    body_(body),
    site_(site),
    owner_(*this, {0, units_.unit_at(middle)}, known),
    thief_(*this, {units_.unit_at(middle), units_.unit_at(last)}, known),
    least_taken_(least) {
  begin_with(last);
  owner_.join();
  thief_.join();
}

// -- shares -----------------------------------------------------------------------

bool shared_range::share::claim(std::size_t step, bool ahead) noexcept {
  if (first != last)
    return true;
  auto seen = left_.load(std::memory_order_relaxed);
  interval rest;
  do {
    first = last = in().units_.element_at(seen.first);
    if (seen.size() == 0 || first >= in().limit()) {
      stop();
      return false;
    }
    auto most = in().units_.units_of(step);
    if (ahead)
      most = std::max(most, in().ahead_of(seen.size()));
    const auto few = in().is_uneven_ ? std::max(in().least_, std::min(most, in().few_)) : most;
    const auto n = std::min(most, std::max(seen.size() / 2, few));
    rest = {n < seen.size() ? in().units_.end_of(seen.first, n) : seen.last, seen.last};
  } while (!left_.compare_exchange_weak(seen, rest, std::memory_order_relaxed));
  last = in().units_.element_at(rest.first);
  begin_at(first);
  return true;
}

std::size_t shared_range::share::left() const noexcept {
  const auto seen = left_.load(std::memory_order_relaxed);
  const auto begin = in().units_.element_at(seen.first);
  return std::max(begin, std::min(in().units_.element_at(seen.last), in().limit())) - begin;
}

bool shared_range::share::take(share& from, std::size_t most, std::uint32_t least) noexcept {
  auto seen = from.left_.load(std::memory_order_relaxed);
  interval taken;
  do {
    const auto n = std::min(in().units_.units_of(most), seen.size() - seen.size() / 2);
    if (n < least || seen.size() == 0)
      return false;
    taken = {in().units_.end_of(seen.first, seen.size() - n), seen.last};
  } while (
    !from.left_.compare_exchange_weak(seen, {seen.first, taken.first}, std::memory_order_relaxed));
  left_.store(taken, std::memory_order_relaxed);
  begin_at(in().units_.element_at(taken.first));
  return true;
}

// -- nodes and thieves --------------------------------------------------------------

/// The work of a thief that comes later: a part of the victim's share, if there still is one.
struct shared_range::part {
  shared_range* in;
  share* victim;
  std::size_t elements = 0;
  pace::element_cost known = 0; ///< to the victim; 0: not

  void operator()(member& m) const {
    share mine{*in, {}, known};
    {
      std::lock_guard lock{in->mutex_};
      if (!in->has_helpers_.load(std::memory_order_relaxed)) // a line that all read
        in->has_helpers_.store(true, std::memory_order_relaxed);
      mine.join();
      victim->promise(-static_cast<std::int64_t>(elements));
      mine.take(*victim, elements, 1);
    }
    in->help(m, mine);
    std::lock_guard lock{in->mutex_};
    mine.leave();
  }
};

/// The node of a member that goes through its share: stands for what is left of that.
class shared_range::rest : public right_continuation {
public:
  rest(right_continuation* older, shared_range& in, share& its, pace::element_cost each) noexcept
    : right_continuation(older, ops), thief{&in, &its}, cost(each) {
  }

  part thief; ///< its own from the theft on
  pace::element_cost cost;
  std::uint64_t steps = 0;      ///< that its member has done since ...
  std::uint64_t safepoints = 0; ///< ... it had passed so many

private:
  static detail::delegation* delegate(right_continuation& self, computation& origin,
                                      division how) noexcept {
    auto& r = static_cast<rest&>(self);
    r.thief.known = r.cost;
    r.thief.elements = part_of(std::max<std::size_t>(1, r.thief.victim->unpromised()), r.cost, how);
    return new (std::nothrow) typed_delegation<part, part>(origin, r.thief);
  }

  static std::uint64_t expected(const right_continuation& self, std::uint64_t like) noexcept {
    const auto& r = static_cast<const rest&>(self);
    if (r.thief.victim->left() == 0)
      return 0; // others took them: what the body forks is all there is
    const auto work = expected_work(r.cost, r.thief.victim->unpromised(), like);
    return r.cost != 0 ? std::max<std::uint64_t>(1, work) : work; // 0: not known
  }

  static constexpr operations ops{&delegate, &expected};
};

// -- members -----------------------------------------------------------------------

void shared_range::run(member& m, pace steps) {
  auto position = owner_.next();
  do_all(m, body_, owner_, steps, position);
}

void shared_range::help(member& m) {
  thief_.has_begun.store(true, std::memory_order_relaxed);
  help(m, thief_);
}

void shared_range::help(member& m, share& mine) {
  const near_body body{body_, place_.bytes};
  // Where nothing is known, the clock is read from the first step on.
  const auto known = mine.cost.load(std::memory_order_relaxed);
  const auto cost = known != 0 ? known : site_.cost(each_);
  const auto left = mine.left();
  const auto n = left != 0 ? left : pace::longest_step; // it will take some of others'
  auto steps = cost != 0 ? pace{0, n, cost, n, least_step_} : pace{0, 1, least_step_};
  std::size_t position = 0;
  do_all(m, body.get(), mine, steps, position);
}

/// Until there is nothing left to take.
/// @param position of the pace, which counts the member's elements only
void shared_range::do_all(member& m, void* body, share& mine, pace& steps, std::size_t& position) {
  do {
    // A step, if the rest is to be offered to others first.
    while (mine.claim(steps.step(), is_even() && !m.has_idle_others()))
      if (mine.left() == 0) // without a node, what the body forks is the next to be stolen
        do_step(m, body, mine, nullptr, steps, position);
      else
        do_with_node(m, body, mine, steps, position);
  } while (take_from_any(m, mine));
}

/// Goes on with what was claimed, and with more while others may come for the rest: until it has
/// claimed the last elements, or somebody has come, and all is done.
void shared_range::do_with_node(member& m, void* body, share& mine, pace& steps,
                                std::size_t& position) {
  rest node{m.youngest_, *this, mine, site_.cost(steps)};
  m.youngest_ = &node;
  put_off_look(steps, position, mine);
  try {
    m.poll(); // the member's first look, if there was none yet
    node.safepoints = m.safepoints();
    offer(m, node, mine);
  } catch (...) {
    keep_failure(mine);
  }
  // As it begins, the rest is offered to others before it is worked on.
  while (!node.is_taken()) {
    if (mine.first != mine.last) // else the poll has failed
      do_step(m, body, mine, &node, steps, position);
    if (!mine.claim(steps.step(), true) || mine.left() == 0)
      break;
  }
  if (node.is_taken()) {
    mine.promise(static_cast<std::int64_t>(node.thief.elements));
    do_all(m, body, mine, steps, position);
  }
  if (const auto merged = merge(m, node); merged != nullptr && merged->ended_at != 0)
    busy_.fetch_add(merged->ended_at - merged->begun_at, std::memory_order_relaxed);
}

/// @param node null: nothing is left to be stolen
void shared_range::do_step(member& m, void* body, share& mine, rest* node, pace& steps,
                           std::size_t& position) {
  try {
    m.poll();
    place_.step(m, body, mine.first, mine.last);
    position += mine.last - mine.first;
    mine.first = mine.last;
    if (node == nullptr)
      return;
    ++node->steps;
    if (steps.is_look_due(position, [&] { return m.now(); })) [[unlikely]]
      steps = look(m, *node, mine, position, steps);
  } catch (...) {
    keep_failure(mine);
  }
}

/// As of the next element that is to be done; in a handler.
void shared_range::keep_failure(share& mine) {
  const auto at = mine.first != mine.last ? mine.first : mine.next();
  mine.first = mine.last;
  if (at < limit())
    fail(at, std::current_exception());
}

void shared_range::offer(member& m, const rest& node, const share& mine) noexcept {
  const auto work = pace::work_of(node.cost, mine.unpromised());
  if (node.is_taken())
    return;
  if (m.is_worth_an_offer(work))
    m.offer();
  else
    m.note_refusal(work);
}

/// As of a range.
[[gnu::noinline]] pace shared_range::look(member& m, rest& node, share& mine, std::size_t position,
                                          pace steps) {
  const auto passed = m.safepoints() - std::exchange(node.safepoints, m.safepoints());
  if (passed > std::exchange(node.steps, 0))
    place_.sites.note_forks();
  const auto now = m.now();
  steps = steps.look(position, now, std::max(mine.left(), m.least_left()));
  put_off_look(steps, position, mine);
  if (usual_ == 0 && steps.is_news())
    site_.learn(steps.measured(), each_);
  node.cost = site_.cost(steps);
  mine.cost.store(node.cost, std::memory_order_relaxed);
  if (!node.is_taken() && mine.left() != 0
      && m.is_worth_an_offer(pace::work_of(node.cost, mine.unpromised())))
    m.offer();
  if (!node.is_taken())
    m.heed(now);
  return steps;
}

std::unique_ptr<delegation> shared_range::merge(member& m, right_continuation& node) {
  BASAL_ASSERT(m.youngest_ == &node, "a body forks with the member that it was called with");
  if (!node.is_taken() || (limit() != units_.last() && are_all_behind())) {
    m.abandon();
    return nullptr;
  }
  m.youngest_ = node.older();
  m.await_merge(node);
  return std::unique_ptr<delegation>{node.delegation};
}

/// Half of what is left to the member that has most, if it is worth it. Where elements are known
/// to be uneven, what is thought to be less than that is left to its member for as long as it is
/// thought to take, and is taken if it is still there then.
/// @returns false if there is nothing
bool shared_range::take_from_any(member& m, share& mine) {
  const auto least = m.least_taken();
  if (least == 0)
    return false;
  auto found = try_take(mine, std::max(least, least_taken_));
  if (found == outcome::little && is_uneven_ && least_taken_ == 0) {
    // Not the executor's clock, which need not go on in a test.
    const auto begun = executors::tick_clock::now();
    do {
      for (int i = 0; i != 4;
           ++i) // 0.2 us: others' cache lines are not to be asked for all the time
        executors::cpu_pause();
      found = try_take(mine, executors::tick_clock::now() - begun < least ? least : 1);
    } while (found == outcome::little);
  }
  return found == outcome::taken;
}

/// @param least ticks of work
shared_range::outcome shared_range::try_take(share& mine, std::uint64_t least) {
  // Of two, without the mutex: mostly both are done at the same time.
  if (!has_helpers_.load(std::memory_order_relaxed))
    if (const auto work = work_for(mine, &mine == &owner_ ? thief_ : owner_); work < least)
      return work == 0 ? outcome::nothing : outcome::little;
  std::lock_guard lock{mutex_};
  const auto [most, work] = richest(mine);
  if (most == nullptr || work < least)
    return most == nullptr ? outcome::nothing : outcome::little;
  if (!mine.take(*most, units_.elements(), least_))
    return outcome::nothing;
  was_balanced_ = true;
  return outcome::taken;
}

/// Whether elements are known to cost about the same.
bool shared_range::is_even() const noexcept {
  return usual_ != 0 && !is_uneven_;
}

/// Where it would tell little news, there is no look for as long as the next claim should take.
void shared_range::put_off_look(pace& steps, std::size_t position,
                                const share& mine) const noexcept {
  const auto most = pace::step_within(pace::longest_target, usual_);
  if (is_even())
    steps.put_off_look(position + std::min(mine.left() / claims_if_even, most));
}

/// Units that are claimed together.
std::uint32_t shared_range::ahead_of(std::uint32_t left) const noexcept {
  const auto claims = is_even() ? claims_if_even : claims_if_not;
  return std::min(std::max(left / claims, least_ahead_), most_ahead_);
}

/// Ticks that what is left of a share will take; very many, if that is not known. For the owner
/// there is nothing in the share of a thief that has not begun: it takes all that back, in order.
std::uint64_t shared_range::work_for(const share& mine, const share& s) const noexcept {
  if (&s == &thief_ && &mine == &owner_ && !s.has_begun.load(std::memory_order_relaxed))
    return 0;
  const auto left = s.left();
  const auto cost = std::max(s.cost.load(std::memory_order_relaxed), usual_);
  return left == 0 ? 0 : cost != 0 ? std::max<std::uint64_t>(1, pace::work_of(cost, left)) : ~0ull;
}

/// With the mutex: of the first few, whose cache lines that takes, and its ticks of work.
std::pair<shared_range::share*, std::uint64_t> shared_range::richest(const share& mine) {
  constexpr int enough = 16;
  std::pair<share*, std::uint64_t> result{nullptr, 0};
  int seen = 0;
  for_each_claimer([&](claimers::claimer& c) {
    auto& s = static_cast<share&>(c);
    if (&s == &mine)
      return true;
    if (const auto work = work_for(mine, s); work > result.second)
      result = {&s, work};
    return ++seen != enough;
  });
  return result;
}

} // namespace basal::posse::detail
