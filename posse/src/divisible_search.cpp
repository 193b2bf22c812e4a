#include <basal/posse/detail/divisible_search.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/right_continuation.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

namespace {

/// Elements of such a cost that are claimed together: so many that the exchange of a line is
/// little of their time; of n that are expected to be looked at not many, since others wait for
/// the last ones, and those behind the end are done in vain. The same number from call to call,
/// so that mostly who has had an element has it again: with parts that changed, searches of 1 MiB
/// took up to 1.3 times as long.
std::size_t part_for(pace::element_cost cost, std::size_t n, std::size_t executors) noexcept {
  constexpr std::size_t parts_for_each = 8;
  if (cost == 0)
    return 1;
  const auto each = pace::work_of(cost, n) / executors;
  const auto ticks = std::min(std::max(each / parts_for_each, std::min(each / 2, pace::target)),
                              pace::longest_target);
  return std::max<std::uint64_t>(1, (ticks << 8) / cost);
}

} // namespace

/// A member that takes part.
class divisible_search::claimer : public claimers::claimer {
public:
  explicit claimer(divisible_search& in) : claimers::claimer(in), search_(in) {
    std::lock_guard lock{in.mutex_};
    join();
  }

  ~claimer() {
    std::lock_guard lock{search_.mutex_};
    leave();
  }

  /// @returns false if nothing is left; else [first, last) are this one's, `most` at most
  bool claim(std::size_t most) noexcept {
    auto& next = search_.next_;
    // Acquire and release, for are_all_behind(): who claims later elements sees this one listed.
    first = next.load(std::memory_order_relaxed);
    do {
      const auto end = search_.limit();
      if (first >= end) {
        stop();
        return false;
      }
      last = first + std::min(most, end - first);
    } while (!next.compare_exchange_weak(first, last, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
    begin_at(first);
    return true;
  }

private:
  divisible_search& search_;
};

/// A thief's work.
struct divisible_search::help {
  divisible_search* search;
  pace::element_cost known; ///< to the victim; 0: not

  void operator()(member& m) const {
    const near_body body{search->body_, search->place_.bytes};
    if (search->left() == 0)
      return;
    const auto likely = std::max<std::size_t>(1, search->expected_left());
    const auto cost = known != 0 ? known : search->site().cost();
    claimer mine{*search};
    search->claim_parts(m, body.get(), mine, cost != 0 ? pace{0, likely, cost, likely} : pace{0, 1},
                        0);
  }
};

/// The elements that nobody has claimed.
class divisible_search::rest : public right_continuation {
public:
  rest(right_continuation* older, divisible_search& in, pace::element_cost each) noexcept
    : right_continuation(older, ops), thief{&in, 0}, cost(each) {
  }

  help thief; ///< its own from the theft on
  pace::element_cost cost;
  std::uint64_t steps = 0;      ///< that its member has done since ...
  std::uint64_t safepoints = 0; ///< ... it had passed so many

private:
  static detail::delegation* delegate(right_continuation& self, computation& origin,
                                      division) noexcept {
    auto& r = static_cast<rest&>(self);
    r.thief.known = r.cost;
    return new (std::nothrow) typed_delegation<help>(origin, r.thief);
  }

  static std::uint64_t expected(const right_continuation& self, std::uint64_t like) noexcept {
    const auto& r = static_cast<const rest&>(self);
    const auto work = expected_work(r.cost, r.thief.search->expected_left(), like);
    return r.cost != 0 ? std::max<std::uint64_t>(1, work) : work; // 0: not known
  }

  static constexpr operations ops{&delegate, &expected};
};

std::size_t divisible_search::go_on(search_place& place, void* body, member& m, std::size_t first,
                                    std::size_t reached, std::size_t few, std::size_t last,
                                    way how) {
  return divisible_search{place, body}.go_on(m, first, reached, few, last, how);
}

/// All that was not done at once.
/// @param reached the first that is not done
/// @param few     the element before which it probably ends
/// @param how     the elements before that are done
std::size_t divisible_search::go_on(member& m, std::size_t first, std::size_t reached,
                                    std::size_t few, std::size_t last, way how) {
  choose_site(last - first);
  jump found;
  if (how == way::timed || how == way::timed_by_chance)
    reached = run_timed(m, first, few, how, found, 1);
  const bool jumped = found.begun != 0 && reached != few;
  if (how == way::in_steps || jumped || (reached == few && few != last))
    reached = search(m, first, reached, last, found);
  end(m, found);
  note_end(place_, reached - first + 1);
  return reached;
}

/// @param begin the first of all
/// @param first the first that is not done
std::size_t divisible_search::search(member& m, std::size_t begin, std::size_t first,
                                     std::size_t last, const jump& found) {
  begin_ = begin;
  next_.store(first, std::memory_order_relaxed);
  begin_with(last);
  const auto likely = std::max<std::size_t>(1, expected_left());
  const auto steps = this->begin(m, first, first + likely, found);
  part_ = part_for(site().cost(steps), likely, m.most_executors());
  const auto begun = m.now();
  const auto thefts = m.num_thefts();
  {
    claimer mine{*this};
    claim_parts(m, body_, mine, steps, first);
  }
  rethrow_failure();
  const auto end = limit();
  if (m.num_thefts() == thefts)
    learn(pace::cost_of(m.now() - begun, end - first + 1));
  return end;
}

/// Of a search that was not divided. Of those that end before the second look of the pace nothing
/// else is learned.
void divisible_search::learn(pace::element_cost measured) const noexcept {
  if (const auto known = site().cost(); known == 0 || measured < known)
    site().learn(measured);
}

/// Elements that nobody has claimed.
std::size_t divisible_search::left() const noexcept {
  const auto next = next_.load(std::memory_order_relaxed);
  return std::max(next, limit()) - next;
}

/// Those of them that will be looked at: as many together as in other searches here, and half as
/// many again as there were already, at least.
std::size_t divisible_search::expected_left() const noexcept {
  const auto gone = next_.load(std::memory_order_relaxed) - begin_;
  const auto usual = place_.usual.load(std::memory_order_relaxed);
  if (usual == 0)
    return left();
  return std::min(left(), std::max(usual - std::min(usual, gone), gone / 2));
}

/// Until none is left.
/// @param position of the pace, which counts the member's elements only
void divisible_search::claim_parts(member& m, void* body, claimer& mine, pace steps,
                                   std::size_t position) {
  rest node{m.youngest_, *this, site().cost(steps)};
  m.youngest_ = &node;
  try {
    m.poll(); // the member's first look, if there was none yet
    node.safepoints = m.safepoints();
    offer(m, node);
  } catch (...) { // as if of the next element, if there is one
    if (const auto next = next_.load(std::memory_order_relaxed); next < limit())
      fail(next, std::current_exception());
  }
  while (!node.is_taken() && mine.claim(std::max(steps.step(), part_))) {
    // The last part leaves nothing to steal: without the node, what the body
    // forks is the next that may be.
    const bool is_last = mine.last >= limit();
    if (is_last)
      m.youngest_ = node.older();
    try {
      do_part(m, body, mine, is_last ? nullptr : &node, steps, position);
    } catch (...) {
      fail(mine.first, std::current_exception());
    }
    if (is_last)
      return;
  }
  if (node.is_taken()) {
    if (left() != 0)
      claim_parts(m, body, mine, steps, position);
    else
      mine.stop();
  }
  merge(m, node);
}

/// In steps, until one ends, or all that follow are not wanted any more.
/// @param node null: nothing is left to be stolen
void divisible_search::do_part(member& m, void* body, const claimer& mine, rest* node, pace& steps,
                               std::size_t& position) {
  for (auto first = mine.first; first != mine.last;) {
    const auto last = first + std::min(steps.step(), mine.last - first);
    m.poll();
    const auto reached = place_.step(m, body, first, last);
    if (reached != last) {
      end_at(reached);
      return;
    }
    position += last - first;
    first = last;
    if (node != nullptr) {
      ++node->steps;
      if (steps.is_look_due(position, [&] { return m.now(); }))
        steps = look(m, *node, position, steps);
    }
    if (first >= limit()) [[unlikely]]
      return;
  }
}

void divisible_search::offer(member& m, const rest& node) noexcept {
  const auto work = pace::work_of(node.cost, expected_left());
  if (node.is_taken())
    return;
  if (m.is_worth_an_offer(work))
    m.offer();
  else
    m.note_refusal(work);
}

/// As of a range.
[[gnu::noinline]] pace divisible_search::look(member& m, rest& node, std::size_t position,
                                              pace steps) {
  const auto passed = m.safepoints() - std::exchange(node.safepoints, m.safepoints());
  if (passed > std::exchange(node.steps, 0))
    place_.sites.note_forks();
  const auto now = m.now();
  steps = steps.look(position, now, std::max(expected_left(), m.least_left()));
  if (steps.is_news())
    site().learn(steps.measured());
  node.cost = site().cost(steps);
  if (!node.is_taken() && m.is_worth_an_offer(pace::work_of(node.cost, expected_left())))
    m.offer();
  if (!node.is_taken())
    m.heed(now);
  return steps;
}

/// Unlinks the node, and waits for its thief, if there is one. A thief that does elements which
/// nobody wants any more is told so.
void divisible_search::merge(member& m, rest& node) {
  BASAL_ASSERT(m.youngest_ == &node, "a body forks with the member that it was called with");
  if (!node.is_taken() || are_all_behind()) {
    m.abandon();
    return;
  }
  m.youngest_ = node.older();
  m.await_merge(node);
  // Its error would be one from before it claimed anything: others did what there was.
  const std::unique_ptr<delegation> merged{node.delegation};
}

} // namespace basal::posse::detail
