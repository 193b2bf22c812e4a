// One piece: single attempts, blocks, and what they fall back to share a request's begin and end.

#include "batch_job.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <basal/executors/detail/tick_clock.hpp>
#include <basal/solver/block_stepper.hpp>
#include <basal/solver/detail/solve_scope.hpp>
#include <basal/solver/detail/tick_scheduler.hpp>
#include <basal/solver/stepper.hpp>

#include "attempts.hpp"
#include "method/facts.hpp"
#include "options_hash.hpp"

namespace basal::solver {

using executors::tick_clock;

namespace {

auto fields(const budget& b) {
  return std::tuple{b.ticks, b.iterations, b.time.count(), b.bytes};
}

/// The part that requests solved together have in common; null if nothing can be shared.
template <class T>
const void* shared_part(const solve_request<T>& r) {
  if (auto* planned = std::get_if<solve_plan<T>>(&r.problem))
    return &planned->data();
  return std::get<typename solve_request<T>::unplanned>(r.problem).a.matrix().get();
}

/// The same for requests that may be solved together.
template <class T>
std::size_t hash_of_shared(const solve_request<T>& r) {
  auto hash = detail::hash_of(std::tuple{shared_part(r), detail::hash_of(fields(r.limits))});
  if (auto* system = std::get_if<typename solve_request<T>::unplanned>(&r.problem))
    hash ^= detail::hash_of(system->options);
  return hash;
}

template <class T>
bool may_share(const solve_request<T>& a, const solve_request<T>& b) {
  if (a.problem.index() != b.problem.index() || shared_part(a) != shared_part(b)
      || fields(a.limits) != fields(b.limits))
    return false;
  using unplanned = typename solve_request<T>::unplanned;
  auto* left = std::get_if<unplanned>(&a.problem);
  auto* right = std::get_if<unplanned>(&b.problem);
  return left == nullptr || left->options == right->options;
}

/// The rest of a budget.
budget without(budget all, const tick_result& spent, std::uint64_t ticks_of_clock) {
  auto subtract = [](std::uint64_t& from, std::uint64_t what) {
    if (from != budget::unlimited)
      from -= std::min(from, what);
  };
  subtract(all.ticks, spent.ticks);
  subtract(all.iterations, spent.ticks);
  if (all.time != std::chrono::nanoseconds::max())
    all.time -= std::min(all.time, tick_clock::to_duration(ticks_of_clock));
  return all;
}

/// A block reads the matrix once for all its columns, but each row of its vectors is as long as
/// the block is wide. Measured on an Ice Lake Xeon with Neumann's series: with 50 entries a row a
/// block of 8 takes half of the time of 8 solves, with 30 three quarters, with 8 between 0.8 and
/// 1.3, with the five of a plane's stencil twice the time. Narrower ones gain nothing.
template <class T>
bool blocks_pay(const solve_request<T>& r) {
  constexpr std::int64_t entries_per_row = 16;
  const auto* plan = std::get_if<solve_plan<T>>(&r.problem);
  const auto& a = plan != nullptr ? plan->matrix()
                                  : std::get<typename solve_request<T>::unplanned>(r.problem).a;
  return a.matrix() != nullptr && a.matrix()->nonzeros() / entries_per_row >= a.size();
}

template <class T>
std::uint32_t width_of_blocks(const solve_request<T>& first, std::size_t requests) {
  constexpr std::uint32_t widest = 8;
  // One block alone would leave the other executors without work.
  return requests >= 2 * widest && blocks_pay(first) ? widest : 1;
}

template <class T>
std::span<T> as_numbers(std::span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

} // namespace

template <class T>
batch_job<T>::batch_job(batch_solver::core& shared, std::vector<solve_request<T>> requests,
                        batch_options options, std::uint64_t batch,
                        std::function<void(outcomes)> done)
  : job(shared, std::move(options.stop)),
    requests_(std::move(requests)),
    outcomes_(requests_.size()),
    batch_(batch),
    first_id_(shared.last_solve.fetch_add(requests_.size(), std::memory_order_relaxed) + 1),
    began_(tick_clock::now()),
    done_(std::move(done)),
    on_progress_(std::move(options.on_progress)) {
  for (std::size_t i = 0; i < outcomes_.size(); ++i)
    outcomes_[i].id = first_id_ + i;
  divide(options.block_width);
  // All that has failed so far has thrown: these requests will be taken.
  shared.counters.add(counter::submitted, requests_.size());
  if (batch_ == 0)
    return;
  shared.counters.add(counter::batches);
  shared.events.publish(
    {.kind = event_kind::batch_started, .id = batch_, .count = requests_.size()});
}

/// Puts requests that share a matrix into groups, and cuts the groups into units. The executors
/// have nothing to do meanwhile, so requests that have no use for a group are not looked up.
template <class T>
void batch_job<T>::divide(std::uint32_t block_width) {
  units_.reserve(requests_.size());
  // By hash: requests for many entries of one solution differ in their options alone.
  std::unordered_multimap<std::size_t, group*> known;
  for (std::uint32_t i = 0; i < requests_.size(); ++i) {
    const auto& r = requests_[i];
    const bool planned = std::holds_alternative<solve_plan<T>>(r.problem);
    if (planned && (block_width == 1 || (block_width == 0 && !blocks_pay(r)))) {
      units_.push_back({nullptr, i, 1});
      continue;
    }
    group* found = nullptr;
    if (shared_part(r) != nullptr) {
      const auto hash = hash_of_shared(r);
      for (auto [it, end] = known.equal_range(hash); it != end && found == nullptr; ++it)
        if (may_share(requests_[it->second->members.front()], r))
          found = it->second;
      if (found == nullptr)
        known.emplace(hash, found = &groups_.emplace_back());
    } else {
      found = &groups_.emplace_back();
    }
    found->members.push_back(i);
  }
  if (groups_.empty())
    return;
  for (auto& g : groups_) {
    const auto size = static_cast<std::uint32_t>(g.members.size());
    const auto width
      = block_width != 0 ? block_width : width_of_blocks(requests_[g.members.front()], size);
    std::uint32_t first = 0;
    for (; size - first >= width; first += width)
      units_.push_back({&g, first, width});
    // The rest of a group is no block, except if the caller has set a block width.
    const auto rest = block_width != 0 ? std::max(size - first, 1u) : 1u;
    for (; first < size; first += rest)
      units_.push_back({&g, first, rest});
  }
  // So that requests begin about in their order.
  std::sort(units_.begin(), units_.end(),
            [](const unit& a, const unit& b) { return a.members().front() < b.members().front(); });
}

template <class T>
auto batch_job<T>::plan_of(group& g) noexcept -> const typename group::made& {
  if (auto* known = g.planned.load(std::memory_order_acquire))
    return *known;
  auto* mine = new typename group::made;
  try {
    const auto& problem = requests_[g.members.front()].problem;
    if (auto* plan = std::get_if<solve_plan<T>>(&problem)) {
      mine->plan.emplace(*plan);
    } else {
      const auto& system = std::get<typename solve_request<T>::unplanned>(problem);
      mine->plan = shared().template plans<T>().get(system.a, system.options);
    }
  } catch (const error& e) {
    mine->failure = e;
  } catch (const std::exception& e) {
    mine->failure = error{errc::internal, std::string{"planning a solve: "} + e.what()};
  }
  const typename group::made* first = nullptr;
  if (g.planned.compare_exchange_strong(first, mine, std::memory_order_acq_rel,
                                        std::memory_order_acquire))
    return *mine;
  delete mine;
  return *first;
}

template <class T>
void batch_job<T>::run_unit(std::uint32_t number, lane& on) noexcept {
  const solve_scope inside;
  const auto& u = units_[number];
  shared().counters.add(counter::taken, u.count);
  if (u.shares == nullptr) {
    run_planned(u.members(), std::get<solve_plan<T>>(requests_[u.first].problem), on);
  } else if (const auto& made = plan_of(*u.shares); made.plan) {
    run_planned(u.members(), *made.plan, on);
  } else {
    for (auto request : u.members()) {
      begin(request);
      fail(request, *made.failure);
    }
  }
  tell_progress(u.count);
}

template <class T>
void batch_job<T>::run_planned(std::span<const std::uint32_t> members, const solve_plan<T>& plan,
                               lane& on) noexcept {
  if (members.size() > 1 && block_stepper<T>::supports(plan)) {
    try {
      if (run_block(members, plan, on))
        return;
    } catch (const std::exception&) {
      // One column is at fault: alone, each gets its own answer.
    }
  }
  for (auto request : members)
    run_single(request, plan, on);
}

template <class T>
void batch_job<T>::refuse_unit(std::uint32_t number, refusal why) noexcept {
  const auto& u = units_[number];
  shared().counters.add(counter::taken, u.count);
  for (auto request : u.members())
    fail(request, error_of(why));
  tell_progress(u.count);
}

template <class T>
error batch_job<T>::error_of(refusal why) const {
  switch (why) {
  case refusal::too_busy:
    return {errc::too_busy, "all " + std::to_string(shared().gate.total())
                              + " permits are taken, and the policy is to reject; try again later, "
                                "or raise solver_limits::concurrent_solves"};
  case refusal::timed_out:
    return {errc::timed_out, "no permit became free within solver_limits::patience; try again "
                             "later, or raise concurrent_solves"};
  case refusal::cancelled:
  case refusal::stopped:
    break;
  }
  return stopped();
}

template <class T>
void batch_job<T>::run_single(std::uint32_t request, const solve_plan<T>& plan, lane& on) noexcept {
  auto began = begin(request);
  try {
    solve(request, plan, requests_[request].limits, on);
    complete(request, began);
  } catch (const error& e) {
    fail(request, e);
  } catch (const std::exception& e) {
    fail(request, {errc::internal, std::string{"a solve failed: "} + e.what()});
  }
}

/// One solve with all that is tried after it, up to the end of its budget. Adds to what the
/// outcome has already.
template <class T>
void batch_job<T>::solve(std::uint32_t request, const solve_plan<T>& first, budget left, lane& on) {
  auto& out = outcomes_[request];
  std::optional<solve_plan<T>> next;
  for (const auto* plan = &first; plan != nullptr;) {
    const auto start = tick_clock::now();
    const auto ran = attempt(request, *plan, left, on);
    if (out.result.state != state::stalled && out.result.state != state::diverged)
      return;
    auto after = plan->fallback();
    if (!after)
      return;
    next = std::move(after);
    plan = &*next;
    left = without(left, ran, tick_clock::now() - start);
    out.result.why += "; then: ";
  }
}

/// One method; the outcome is the better of what it was and this.
template <class T>
tick_result batch_job<T>::attempt(std::uint32_t request, const solve_plan<T>& plan, budget left,
                                  lane& on) {
  auto& out = outcomes_[request];
  solve_result<T> result;
  result.chosen = plan.chosen();
  result.preconditioner = plan.preconditioner();
  result.iterations = out.result.iterations;
  result.why = std::move(out.result.why);
  result.why += plan.why();
  result.x.assign(plan.solution_size(), T{0});
  const auto bytes = plan.scratch_bytes();
  tick_result ran;
  if (bytes > left.bytes) {
    result.state = state::budget_exhausted;
    out.exhausted = budget_kind::bytes;
    detail::take_better(out.result, std::move(result));
    return ran;
  }
  const auto scratch = on.scratch(bytes);
  if (!scratch)
    throw error{errc::out_of_scratch,
                "the solve needs " + std::to_string(bytes)
                  + " bytes of scratch memory, and "
                    "solver_limits::scratch_bytes of "
                  + std::to_string(shared().scratch.limit_bytes())
                  + " does not leave so much; raise it, or let fewer solves run at a time"};
  left.iterations = std::min(left.iterations, plan.options().iteration_limit);
  {
    stepper<T> steps{plan, requests_[request].b, result.x, *scratch};
    ran = run_ticks(steps, left, [&on] { return on.look(); });
    if (const auto walks = steps.walks(); walks > 0)
      shared().counters.add(counter::walks, walks);
    out.ticks += ran.ticks;
    if (ran.state == state::running)
      throw stopped();
    const auto report = steps.finish();
    result.state = report.state;
    result.residual = report.residual;
    result.half_width = steps.half_width();
    if (!steps.detail().empty())
      result.why.append("; ").append(steps.detail());
  }
  result.iterations += ran.ticks;
  out.exhausted = result.state == state::budget_exhausted ? ran.exhausted : budget_kind::none;
  if (detail::facts_of(plan.chosen()).series)
    shared().counters.add(counter::neumann_terms, ran.ticks);
  detail::take_better(out.result, std::move(result));
  return ran;
}

/// @returns false, with nothing done, if there is no memory for it.
template <class T>
bool batch_job<T>::run_block(std::span<const std::uint32_t> members, const solve_plan<T>& plan,
                             lane& on) {
  const auto width = members.size();
  const auto size = plan.solution_size();
  const auto bytes = block_stepper<T>::scratch_bytes(plan, width);
  const auto& limits = requests_[members.front()].limits;
  for (auto request : members)
    if (requests_[request].b.size() != size)
      return false; // so that the one at fault fails alone
  if (bytes + 2 * width * size * sizeof(T) > limits.bytes)
    return false;
  auto memory = shared().scratch.acquire(bytes);
  auto right = shared().scratch.acquire(width * size * sizeof(T));
  auto left = shared().scratch.acquire(width * size * sizeof(T));
  if (!memory || !right || !left)
    return false;
  auto b = as_numbers<T>(right->bytes());
  auto x = as_numbers<T>(left->bytes());
  std::fill(x.begin(), x.end(), T{0});
  for (std::size_t k = 0; k < width; ++k) {
    const auto& column = requests_[members[k]].b;
    for (std::size_t i = 0; i < size; ++i)
      b[i * width + k] = column[i];
  }
  const auto start = tick_clock::now();
  block_stepper<T> steps{plan, width, b, x, memory->bytes()};
  // Operations that may throw come before the events.
  for (auto request : members) {
    auto& result = outcomes_[request].result;
    result.x.resize(size);
    result.why = plan.why();
    result.chosen = plan.chosen();
    result.preconditioner = plan.preconditioner();
  }
  for (auto request : members)
    begin(request);
  auto allowed = limits;
  allowed.iterations = std::min(allowed.iterations, plan.options().iteration_limit);
  auto ran = run_ticks(steps, allowed, [&on] { return on.look(); });
  shared().counters.add(counter::blocks);
  if (ran.state == state::budget_exhausted)
    steps.finish();
  for (std::size_t k = 0; k < width; ++k) {
    const auto request = members[k];
    auto& out = outcomes_[request];
    auto& result = out.result;
    const auto& report = steps.column(k);
    out.ticks = result.iterations = steps.steps(k);
    if (detail::facts_of(plan.chosen()).series)
      shared().counters.add(counter::neumann_terms, result.iterations);
    if (report.state == state::running) {
      fail(request, stopped());
      continue;
    }
    result.residual = report.residual;
    result.state = report.state;
    if (report.state == state::budget_exhausted)
      out.exhausted = ran.exhausted;
    for (std::size_t i = 0; i < size; ++i)
      result.x[i] = x[i * width + k];
    if (report.state == state::stalled || report.state == state::diverged)
      fall_back(request, plan, without(limits, ran, tick_clock::now() - start), start, on);
    else
      complete(request, start);
  }
  return true;
}

/// For a column of a block for which the block's method was the wrong one.
template <class T>
void batch_job<T>::fall_back(std::uint32_t request, const solve_plan<T>& failed, budget left,
                             std::uint64_t began, lane& on) noexcept {
  try {
    if (auto next = failed.fallback()) {
      outcomes_[request].result.why += "; then: ";
      solve(request, *next, left, on);
    }
    complete(request, began);
  } catch (const error& e) {
    fail(request, e);
  } catch (const std::exception& e) {
    fail(request, {errc::internal, std::string{"a solve failed: "} + e.what()});
  }
}

template <class T>
std::uint64_t batch_job<T>::begin(std::uint32_t request) noexcept {
  shared().events.publish({.kind = event_kind::solve_started, .id = first_id_ + request});
  return tick_clock::now();
}

template <class T>
void batch_job<T>::complete(std::uint32_t request, std::uint64_t began) noexcept {
  auto& out = outcomes_[request];
  auto& c = shared().counters;
  out.elapsed = tick_clock::to_duration(tick_clock::now() - began);
  c.add(counter::ticks, out.ticks);
  shared().solves.add(out.result.chosen, out.result.state,
                      static_cast<std::uint64_t>(out.elapsed.count()));
  shared().events.publish({.kind = event_kind::solve_completed,
                           .id = out.id,
                           .elapsed = out.elapsed,
                           .converged = out.result.state == state::converged});
}

template <class T>
void batch_job<T>::fail(std::uint32_t request, error why) noexcept {
  auto& out = outcomes_[request];
  auto& c = shared().counters;
  c.add(counter::failed);
  c.add(counter::ticks, out.ticks);
  if (why.code() == errc::too_busy)
    c.add(counter::rejected);
  if (why.code() == errc::timed_out)
    c.add(counter::timed_out);
  if (why.code() == errc::cancelled)
    c.add(counter::cancelled);
  shared().events.publish(
    {.kind = event_kind::solve_failed, .id = first_id_ + request, .error = why.code()});
  out.result = {};
  out.failure = std::move(why);
}

/// Whoever finds another one telling leaves it to that one, so calls do not overlap and
/// nobody waits; the last request's end is told by finish().
template <class T>
void batch_job<T>::tell_progress(std::size_t requests) noexcept {
  if (!on_progress_)
    return;
  auto done = requests_done_.fetch_add(requests, std::memory_order_relaxed) + requests;
  if (done == requests_.size())
    return;
  std::unique_lock guard{progress_mutex_, std::try_to_lock};
  if (!guard || done <= progress_told_)
    return;
  progress_told_ = done;
  on_progress_({done, requests_.size()});
}

template <class T>
error batch_job<T>::stopped() const {
  if (stop_token().stop_requested())
    return {errc::cancelled, "the solve was cancelled by its stop token"};
  return {errc::stopped, "the batch_solver, or its executors, stopped before the solve had ended"};
}

template <class T>
void batch_job<T>::finish() noexcept {
  if (on_progress_)
    on_progress_({requests_.size(), requests_.size()});
  if (batch_ != 0)
    shared().events.publish({.kind = event_kind::batch_completed,
                             .id = batch_,
                             .count = requests_.size(),
                             .elapsed = tick_clock::to_duration(tick_clock::now() - began_)});
  done_(std::move(outcomes_));
}

template class batch_job<float>;
template class batch_job<double>;

} // namespace basal::solver
