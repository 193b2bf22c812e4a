#include <basal/posse/detail/divisible_range.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/delegation.hpp>

namespace basal::posse::detail {

namespace {

/// The thief's work.
struct upper_part {
  shared_range* in;

  void operator()(member& m) const {
    in->help(m);
  }
};

} // namespace

// -- the node ---------------------------------------------------------------------

// The node may stay untaken after this, and be asked again later.
delegation* divisible_range::rest::delegate(right_continuation& self, computation& origin,
                                            division how) noexcept {
  auto& r = static_cast<rest&>(self);
  BASAL_ASSERT(r.next < r.end, "a node of a range stands for an element at least");
  auto& all = *r.range;
  const auto left = r.end - r.next;
  all.choose_site(left); // a few elements that fork have no use for it before
  all.shared_.reset(new (std::nothrow) shared_range(
    all.place_, all.body_, all.site(), all.each_, all.least_, r.next, r.end,
    pace::end_of(r.next, left - part_of(left, r.cost, how)), r.cost,
    all.least_part_ != 0 ? all.expected_ / all.least_part_ : 0));
  if (all.shared_ == nullptr)
    return nullptr;
  upper_part upper{all.shared_.get()};
  return new (std::nothrow) typed_delegation<upper_part, upper_part>(origin, upper);
}

std::uint64_t divisible_range::rest::expected(const right_continuation& self,
                                              std::uint64_t like) noexcept {
  auto& r = static_cast<const rest&>(self);
  return expected_work(r.cost, r.end - r.next, like);
}

bool divisible_range::rest::is_better_alone(const right_continuation& self) noexcept {
  return static_cast<const rest&>(self).alone_until != 0;
}

constinit const right_continuation::operations divisible_range::rest::ops{&delegate, &expected,
                                                                          &is_better_alone};

// -- its member -------------------------------------------------------------------

void divisible_range::run_otherwise(member& m, std::size_t first, std::size_t last, way how) {
  if (most_steps_ != 0)
    least_ = std::max<std::size_t>(1, (last - first) / (most_steps_ * m.most_executors()));
  least_ = least_for(m, last - first);
  jump found;
  if (how != way::in_steps)
    first = run_timed(m, first, last, how, found, least_);
  if (first != last) {
    const auto steps
      = try_longer_steps(m, first, last, begin(m, first, last, found, least_), nullptr);
    if (first != last)
      run_all(m, first, last, steps);
  }
  end(m, found);
}

/// Elements of a step, at most, that is longer since so many are cheaper together, of n that are
/// left: half of them if they are so by far. Else, with more, executors would wait for each other's
/// last step. And they would where some elements are known to be as dear as all the others.
std::size_t divisible_range::most_together(const member& m, std::size_t n,
                                           bool by_far) const noexcept {
  constexpr std::size_t parts = 4; // of each executor: a guess
  if (by_far || !m.has_others())
    return n / 2;
  return site().is_uneven() ? 0 : n / (parts * std::max<std::size_t>(2, m.most_executors()));
}

/// Elements of a step, at least, where n are left.
std::size_t divisible_range::least_for(const member& m, std::size_t n) const noexcept {
  const auto& trial = site().longer_steps;
  const auto found = trial.least();
  return found <= least_
           ? least_
           : std::max(least_, std::min(found, most_together(m, n, trial.is_by_far())));
}

/// Elements of two steps, of which many at a time may be cheaper; none: there is nothing to try.
struct divisible_range::two_lengths {
  std::size_t longer = 0;
  std::size_t shorter = 0;
  bool is_known = false; ///< the longer one was found to be cheaper before
};

/// With n elements left at a pace: its step and a longer one; or, now and then, where that is what
/// was found before, a shorter one and its step.
divisible_range::two_lengths divisible_range::lengths_to_try(const member& m, std::size_t n,
                                                             const pace& steps) const noexcept {
  const auto& trial = site().longer_steps;
  const auto step = steps.step();
  const auto longer = step_trial::longer(step);
  const auto most = most_together(m, n, true);
  const bool may_be_longer = longer <= most && longer <= pace::longest_step
                             && longer > trial.least() // else it is known, and not taken here
                             && pace::work_of(site().cost(steps), longer) <= pace::longest_least;
  const bool was_found = step > 1 && step == least_ && step <= trial.least() && step <= most;
  if (was_found && (trial.is_doubted() || !may_be_longer))
    return {step, step_trial::shorter(step), true};
  return may_be_longer ? two_lengths{longer, step} : two_lengths{};
}

/// If it is time for that: does some elements in a longer step, and some in a shorter one; twice,
/// where there are many, since the first time may not be told from chance, and the second time the
/// other way round, since each element may be dearer than the one before it: there, or further on
/// in the range, whose costs do not rise and fall again as a rule.
/// @param first the first that is not done, before and after
/// @param node  of the range, in which others may take what comes then; null: there is none yet
/// @returns the pace from there on
pace divisible_range::try_longer_steps(member& m, std::size_t& first, std::size_t last, pace steps,
                                       rest* node) {
  const auto known = site().cost(steps);
  const auto [longer, shorter, is_known] = lengths_to_try(m, last - first, steps);
  auto& trial = site().longer_steps;
  if (known == 0 || longer == 0 || !trial.is_due(m.cells_->one_in_eight()))
    return steps;
  const auto time_of = [&](std::size_t elements) {
    const auto begun = m.now();
    first = place_.step(m, body_, first, first + elements);
    return pace::cost_of(m.now() - begun, elements);
  };
  if (node == nullptr) // the first elements wait for memory
    time_of(shorter);
  pace::element_cost measured = 0;
  do {
    if (node != nullptr) {
      node->next = first + longer + shorter;
      node->cost = known;
    }
    m.poll();
    const auto safepoints = m.safepoints();
    pace::element_cost of_shorter = 0;
    const bool comes_last = trial.is_confirming();
    if (comes_last) {
      of_shorter = time_of(shorter);
      measured = time_of(longer);
    } else {
      measured = time_of(longer);
      of_shorter = time_of(shorter);
    }
    if (m.safepoints() != safepoints) { // it is not the elements' cost alone
      place_.sites.note_forks();
      return pace{first};
    }
    trial.ended(longer, {measured, of_shorter, is_known ? of_shorter : known}, comes_last);
    if (node != nullptr && node->is_taken())
      break;
  } while (trial.is_confirming() && longer <= most_together(m, last - first, true));
  const auto before = std::exchange(least_, least_for(m, last - first));
  return range_site::begin_at(least_ == before ? known : measured, first, last, m.least_left(),
                              least_);
}

/// Divided, if it is worth a theft, unless that is known to make it slower.
void divisible_range::run_all(member& m, std::size_t first, std::size_t last, pace steps) {
  const auto known = site().cost(steps);
  const auto work = expected_ = pace::work_of(known, last - first);
  const auto begun = begun_ = m.now();
  if (!m.is_worth_an_offer(work) || !m.has_others()) {
    run_steps(m, first, last, steps);
    learn(m.now(), last - first);
    return;
  }
  const auto* who = &m.executor();
  const auto n = (last - first) << each_;
  auto& trial = place_.trials[range_sites::class_of(last - first)];
  const auto course = trial.begin(n, work, begun, who);
  const auto thefts = m.num_thefts();
  run_steps(m, first, last, steps,
            division_trial::is_alone(course) ? begun + trial.alone_for(course) : 0);
  const auto now = m.now();
  learn(now, last - first);
  if (division_trial::is_timed(course)) [[unlikely]]
    trial.end(course, n, now - begun, m.num_thefts() != thefts, now, who);
}

/// Of all elements together: the first ones, or the last, tell little of what others cost.
void divisible_range::learn(std::uint64_t now, std::size_t n) const noexcept {
  site().learn(pace::cost_of(busy_ != 0 ? busy_ : now - begun_, n), each_);
}

/// @param alone_until see `rest`
void divisible_range::run_steps(member& m, std::size_t first, std::size_t last, pace steps,
                                std::uint64_t alone_until) {
  if (last - first > 1) { // a member that gives its only element away would wait for it
    rest node{m, *this, first, last, site().cost(steps), alone_until};
    unwinding_guard guard{*this, m, first};
    node.safepoints = m.safepoints();
    if (alone_until == 0 && m.is_worth_an_offer(pace::work_of(node.cost, last - first)))
      [[unlikely]] {
      m.poll(); // the member's first look, if there was none yet
      node.safepoints = m.safepoints();
      m.offer();
      if (node.is_taken()) {
        guard.armed = false;
        begun_ = m.now(); // the theft is no element's cost
        share(m, node, steps);
        return;
      }
    } else if (alone_until == 0) {
      m.note_refusal(pace::work_of(node.cost, last - first));
    }
    while (last - first > steps.step()) {
      node.next = pace::end_of(first, steps.step());
      m.poll();
      first = place_.step(m, body_, first, node.next);
      if (node.is_taken()) [[unlikely]] {
        guard.armed = false;
        share(m, node, steps);
        return;
      }
      if (steps.is_look_due(first, [&] { return m.now(); })) [[unlikely]] {
        steps = look(m, node, first, steps);
        if (node.is_taken()) {
          guard.armed = false;
          share(m, node, steps);
          return;
        }
      }
    }
    // The last step leaves nothing to steal: without the node, what the body
    // forks is the next that may be.
    guard.armed = false;
    unlink(m, node);
  }
  m.poll();
  place_.step(m, body_, first, last);
}

/// The pace looks at the clock, `site` learns from it, and what is left is
/// offered if it would pay. The member knows the time from then on, too.
[[gnu::noinline]] pace divisible_range::look(member& m, rest& node, std::size_t& first,
                                             pace steps) {
  const auto passed = m.safepoints() - std::exchange(node.safepoints, m.safepoints());
  if (passed > steps.steps_before(first))
    place_.sites.note_forks();
  const auto now = m.now();
  steps = steps.look(first, now, std::max(node.end - first, m.least_left()));
  if (expected_ == 0 && steps.is_news()) {
    site().learn(steps.measured(), each_);
    steps = try_longer_steps(m, first, node.end, steps, &node);
    node.safepoints = m.safepoints();
    if (node.is_taken())
      return steps;
  }
  node.cost = site().cost(steps);
  if (node.cost != 0)
    node.cost = std::max(node.cost, usual(now, node.end - first));
  node.next = first;
  if (now >= node.alone_until)
    node.alone_until = 0;
  if (node.end - first == 1) // its member would give the last element away and wait
    return steps;
  if (node.alone_until == 0 && m.is_worth_an_offer(pace::work_of(node.cost, node.end - first)))
    m.offer();
  if (!node.is_taken())
    m.heed(now);
  return steps;
}

/// Cost of each of the `left` last elements if all take as long as they usually do; 0: it is not
/// known, or they take longer.
pace::element_cost divisible_range::usual(std::uint64_t now, std::size_t left) const noexcept {
  const auto passed = now - begun_;
  return expected_ > passed ? pace::cost_of(expected_ - passed, left) : 0;
}

[[gnu::noinline, gnu::cold]] void divisible_range::share(member& m, rest& node, pace steps) {
  shared_->run(m, steps);
  const auto ended = m.now();
  const auto merged = shared_->merge(m, node);
  shared_->rethrow_failure();
  if (merged == nullptr)
    return;
  if (merged->ended_at != 0 && begun_ != 0) {
    busy_ = ended - begun_ + (merged->ended_at - merged->begun_at) + shared_->busy();
    const auto apart = std::max(ended, merged->ended_at) - std::min(ended, merged->ended_at);
    site().note_ends(apart, busy_, m.least_taken());
  }
  if (shared_->is_as_divided())
    m.note_ends(ended, *merged);
}

void divisible_range::abandon(member& m, std::size_t from) noexcept {
  if (shared_ != nullptr)
    shared_->end_at(from);
  m.abandon();
}

} // namespace basal::posse::detail
