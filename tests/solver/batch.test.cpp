// Batches and single requests in one file: what holds for the ones must hold for the others.

#include <basal/solver/batch.hpp>

#include <basal/executors/executors.hpp>
#include <basal/posse/posse.hpp>
#include <basal/solver/detail/solve_scope.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "problems.hpp"

using namespace basal::solver;
using namespace std::chrono_literals;
using basal::executors::executor_pool;

using request = solve_request<double>;
using outcome = solve_outcome<double>;

namespace {

executor_pool make_pool(std::size_t executors) {
  basal::executors::pool_config config;
  config.name = "test";
  config.executors = executors;
  return executor_pool{std::move(config)};
}

/// Right-hand sides of one matrix.
std::vector<request> sharing(const problems::matrix_ptr& a, unsigned count,
                             solve_options options = {}) {
  std::vector<request> requests;
  for (unsigned i = 0; i < count; ++i)
    requests.emplace_back(linear_operator<double>{a}, problems::numbers(a->rows(), 100 + i),
                          options);
  return requests;
}

/// A system of one equation whose product first calls `f`.
request calling(std::function<void()> f) {
  return {
    linear_operator<double>{1,
                            [f = std::move(f)](std::span<const double> x, std::span<double> y) {
                              f();
                              y[0] = 2 * x[0];
                            },
                            {2.0}},
    {1.0},
    {.method = method::bicgstab, .preconditioner = preconditioning::none}};
}

/// A solve that takes until it is stopped: some 10^16 walks.
request endless() {
  return {linear_operator<double>{problems::dominant(20, 1, 0.9)},
          problems::numbers(20, 1),
          {.method = method::random_walk,
           .tolerance = 1e-8,
           .iteration_limit = budget::unlimited,
           .entry = 0},
          {.ticks = budget::unlimited}};
}

void await_running(const batch_solver& solver) {
  while (solver.stats().running == 0)
    std::this_thread::yield();
}

std::vector<solve_event> drain(subscription& s) {
  std::vector<solve_event> events;
  while (auto next = s.try_next()) {
    REQUIRE(next->event);
    events.push_back(*next->event);
  }
  return events;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

} // namespace

TEST_CASE("outcomes are in the order of requests, and right") {
  auto pool = make_pool(2);
  batch_solver solver{pool};
  std::vector<problems::matrix_ptr> matrices;
  std::vector<request> requests;
  for (unsigned i = 0; i < 50; ++i) {
    matrices.push_back(problems::dominant(static_cast<basal::solver::index_type>(5 + i), i));
    requests.emplace_back(linear_operator<double>{matrices[i]},
                          problems::numbers(matrices[i]->rows(), i),
                          solve_options{.tolerance = 1e-10});
  }
  auto outcomes = solver.solve_batch(requests);
  REQUIRE(outcomes.size() == 50);
  for (unsigned i = 0; i < 50; ++i) {
    REQUIRE_FALSE(outcomes[i].failure);
    CHECK(outcomes[i].result.state == state::converged);
    CHECK(outcomes[i].id == i + 1);
    CHECK(problems::residual(*matrices[i], outcomes[i].result.x, requests[i].b) <= 1.1e-10);
  }
}

TEST_CASE("right-hand sides of one matrix are solved as blocks, with the same results") {
  auto a = problems::dominant(200, 1, 0.5, 20);
  auto pool = make_pool(2);
  batch_solver solver{pool};
  auto requests = sharing(a, 67, {.method = method::neumann});
  auto together = solver.solve_batch(requests);
  CHECK(solver.stats().blocks == 8);
  auto alone = solver.solve_batch(requests, {.block_width = 1});
  CHECK(solver.stats().blocks == 8);
  for (unsigned i = 0; i < 67; ++i) {
    CHECK(together[i].result.state == state::converged);
    // A block needs a step more: it looks at residuals before it adds a term.
    CHECK(together[i].result.iterations - alone[i].result.iterations <= 1);
    CHECK(problems::residual(*a, together[i].result.x, requests[i].b) <= 1.1e-6);
  }
  SECTION("but requests with other options or budgets are not mixed with them") {
    for (unsigned i = 0; i < 67; i += 2)
      requests[i].limits.ticks = 3;
    auto mixed = solver.solve_batch(requests, {.block_width = 8});
    for (unsigned i = 0; i < 67; ++i) {
      CHECK((mixed[i].result.state == state::budget_exhausted) == (i % 2 == 0));
      if (i % 2 == 0) {
        CHECK(mixed[i].exhausted == budget_kind::ticks);
        CHECK(mixed[i].ticks == 3);
      }
    }
  }
}

TEST_CASE("a column of a block for which the method fails is solved by another one") {
  // The router sees a symmetric matrix with a positive diagonal, but it is indefinite, so that
  // conjugate gradients break down.
  triplets<double> entries{3, 3};
  for (basal::solver::index_type i = 0; i < 3; ++i)
    for (basal::solver::index_type j = 0; j < 3; ++j)
      entries.add(i, j, i == j ? 1 : 2);
  auto a = std::make_shared<const csr_matrix<double>>(std::move(entries).build());
  auto pool = make_pool(2);
  batch_solver solver{pool};
  auto requests = sharing(a, 16);
  for (std::uint32_t width : {1u, 8u})
    for (const auto& o : solver.solve_batch(requests, {.block_width = width})) {
      REQUIRE_FALSE(o.failure);
      CAPTURE(o.result.why);
      CHECK(o.result.state == state::converged);
      CHECK(problems::residual(*a, o.result.x, requests[(o.id - 1) % 16].b) <= 1.1e-6);
    }
}

TEST_CASE("a batch of many entries of one solution is divided quickly") {
  auto a = problems::dominant(10, 1);
  auto pool = make_pool(2);
  batch_solver solver{pool};
  std::vector<request> requests;
  for (unsigned i = 0; i < 20'000; ++i)
    requests.emplace_back(
      linear_operator<double>{a}, problems::numbers(10, 1),
      solve_options{.entry = static_cast<basal::solver::index_type>(i % 10), .seed = i},
      budget{.ticks = 0});
  auto outcomes = solver.solve_batch(std::move(requests));
  CHECK(outcomes.size() == 20'000);
}

TEST_CASE("right-hand sides of a matrix with short rows are faster alone") {
  auto pool = make_pool(2);
  batch_solver solver{pool};
  solver.solve_batch(sharing(problems::dominant(200, 1), 64, {.method = method::neumann}));
  CHECK(solver.stats().blocks == 0);
  CHECK(solver.stats().solves_completed == 64);
}

TEST_CASE("results have the same bits without a pool and with 1, 2 and 3 executors") {
  auto a = problems::dominant(300, 7, 0.5, 20); // its right-hand sides come in blocks
  auto spd = problems::dominant(40, 8);
  auto requests = sharing(a, 40);
  for (auto& r : sharing(spd, 5))
    requests.push_back(r);
  for (basal::solver::index_type entry = 0; entry < 6; ++entry)
    requests.emplace_back(
      linear_operator<double>{a}, problems::numbers(300, 5),
      solve_options{.method = method::random_walk, .tolerance = 0.1, .entry = entry});
  batch_solver sequential{solver_limits{}};
  auto expected = sequential.solve_batch(requests);
  for (std::size_t executors : {1u, 2u, 3u}) {
    auto pool = make_pool(executors);
    batch_solver solver{pool};
    auto outcomes = solver.solve_batch(requests);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      CAPTURE(executors, i);
      REQUIRE_FALSE(outcomes[i].failure);
      CHECK(same_bits(outcomes[i].result.x, expected[i].result.x));
      CHECK(outcomes[i].result.iterations == expected[i].result.iterations);
    }
  }
}

TEST_CASE("a request that fails does so alone, in a block, too") {
  auto a = problems::dominant(30, 2);
  auto pool = make_pool(2);
  batch_solver solver{pool};
  auto requests = sharing(a, 16, {.method = method::neumann});
  requests[3].b.pop_back();
  requests[5].b[0] = std::numeric_limits<double>::quiet_NaN();
  requests[6].b[29] = std::numeric_limits<double>::infinity();
  triplets<double> hollow{2, 2};
  hollow.add(0, 1, 1);
  hollow.add(1, 0, 1);
  auto no_diagonal = std::make_shared<const csr_matrix<double>>(std::move(hollow).build());
  requests.emplace_back(linear_operator<double>{no_diagonal}, std::vector{1.0, 1.0},
                        solve_options{.method = method::neumann});
  requests.emplace_back(linear_operator<double>{a}, problems::numbers(30, 1),
                        solve_options{.tolerance = -1});
  auto outcomes = solver.solve_batch(requests, {.block_width = 8});
  std::map<std::size_t, errc> expected{{3, errc::dimension_mismatch},
                                       {5, errc::not_finite},
                                       {6, errc::not_finite},
                                       {16, errc::zero_diagonal},
                                       {17, errc::bad_option}};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CAPTURE(i);
    if (expected.count(i) == 0) {
      CHECK_FALSE(outcomes[i].failure);
      CHECK(outcomes[i].result.state == state::converged);
    } else {
      REQUIRE(outcomes[i].failure);
      CHECK(outcomes[i].failure->code() == expected[i]);
    }
  }
  auto stats = solver.stats();
  CHECK(stats.failed == 5);
  CHECK(stats.solves_completed == 13);
}

TEST_CASE("an empty batch is done at once, with its events and its progress") {
  auto pool = make_pool(1);
  batch_solver solver{pool};
  auto events = solver.events().subscribe();
  std::vector<std::size_t> totals;
  CHECK(solver
          .solve_batch<double>(
            {}, {.on_progress = [&](batch_progress p) { totals.push_back(p.total); }})
          .empty());
  CHECK(totals == std::vector<std::size_t>{0});
  auto seen = drain(*events);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] == solve_event{.kind = event_kind::batch_started, .id = 1});
  CHECK(seen[1].kind == event_kind::batch_completed);
  CHECK(seen[1].id == 1); // batches count for themselves, so empty ones do not collide
  solver.solve_batch<double>({});
  CHECK(drain(*events)[0].id == 2);
}

TEST_CASE("events come in the order in which a batch and its solves live") {
  auto a = problems::dominant(50, 3);
  auto pool = make_pool(2);
  batch_solver solver{pool};
  auto events = solver.events().subscribe();
  auto requests = sharing(a, 20);
  requests[4].b.clear();
  auto outcomes = solver.solve_batch(requests);
  auto seen = drain(*events);
  REQUIRE(seen.size() == 42);
  CHECK(seen.front() == solve_event{.kind = event_kind::batch_started, .id = 1, .count = 20});
  CHECK(seen.back().kind == event_kind::batch_completed);
  CHECK(seen.back().count == 20);
  std::map<std::uint64_t, int> stage;
  for (std::size_t i = 1; i + 1 < seen.size(); ++i) {
    const auto& e = seen[i];
    if (e.kind == event_kind::solve_started) {
      CHECK(stage[e.id]++ == 0);
      continue;
    }
    CHECK(stage[e.id]++ == 1);
    if (e.id == 5) {
      CHECK(e.kind == event_kind::solve_failed);
      CHECK(e.error == errc::dimension_mismatch);
    } else {
      CHECK(e.kind == event_kind::solve_completed);
      CHECK(e.converged);
      CHECK(e.elapsed == outcomes[e.id - 1].elapsed);
    }
  }
  CHECK(stage.size() == 20);
}

TEST_CASE("statistics add up") {
  auto a = problems::dominant(50, 3);
  auto pool = make_pool(2);
  batch_solver solver{pool};
  auto requests = sharing(a, 10, {.method = method::neumann});
  requests[0].limits.iterations = 2;
  std::uint64_t ticks = 0;
  std::chrono::nanoseconds latency{0};
  for (const auto& o : solver.solve_batch(requests)) {
    ticks += o.ticks;
    latency += o.elapsed;
  }
  auto one = solver.solve(requests[1]);
  auto stats = solver.stats();
  CHECK(stats.solves_completed == 11);
  CHECK(stats.converged == 10);
  CHECK(stats.budget_exhausted == 1);
  CHECK(stats.batches == 1);
  CHECK(stats.ticks == ticks + one.ticks);
  CHECK(stats.neumann_terms == stats.ticks);
  CHECK(stats.latency_ns == static_cast<std::uint64_t>((latency + one.elapsed).count()));
  CHECK(stats.running == 0);
  CHECK(stats.convergence_rate() == Approx(10.0 / 11));
}

TEST_CASE("budgets end a solve where they say, those of 0 before it begins") {
  auto pool = make_pool(1);
  batch_solver solver{pool};
  auto a = problems::dominant(50, 4, 0.95);
  auto solved = [&](budget limits, solve_options options = {.method = method::neumann}) {
    auto o = solver.solve<double>(
      {linear_operator<double>{a}, problems::numbers(50, 1), options, limits});
    REQUIRE_FALSE(o.failure);
    CHECK(o.result.x.size() == 50);
    for (double entry : o.result.x)
      CHECK(std::isfinite(entry));
    return o;
  };
  for (std::uint64_t n : {0u, 1u, 5u}) {
    CHECK(solved({.ticks = n}).exhausted == budget_kind::ticks);
    CHECK(solved({.ticks = n}).ticks == n);
    CHECK(solved({.iterations = n}).exhausted == budget_kind::iterations);
    CHECK(solved({.iterations = n}).result.iterations == n);
    auto by_option = solved({}, {.method = method::neumann, .iteration_limit = n});
    CHECK(by_option.exhausted == budget_kind::iterations);
    CHECK(by_option.result.iterations == n);
  }
  CHECK(solved({.time = 0ns}).exhausted == budget_kind::time);
  CHECK(solved({.bytes = 0}).exhausted == budget_kind::bytes);
  CHECK(solved({.bytes = 0}).ticks == 0);
  CHECK(solved({.time = 10s}).result.state == state::converged);
  auto late = solver.solve([&] {
    auto r = endless();
    r.limits.time = 2ms;
    return r;
  }());
  CHECK(late.exhausted == budget_kind::time);
  CHECK(late.elapsed >= 2ms);
}

TEST_CASE("a tolerance of 0 ends, with what the number type allows") {
  auto pool = make_pool(1);
  batch_solver solver{pool};
  auto a = problems::dominant(50, 4);
  auto o = solver.solve<double>(
    {linear_operator<double>{a}, problems::numbers(50, 1), {.tolerance = 0}});
  REQUIRE_FALSE(o.failure);
  CHECK(o.result.state != state::running);
  CHECK(o.result.residual < 1e-12);
}

TEST_CASE("floats are solved, too") {
  auto pool = make_pool(1);
  batch_solver solver{pool};
  triplets<float> entries{2, 2};
  entries.add(0, 0, 4);
  entries.add(0, 1, 1);
  entries.add(1, 0, 1);
  entries.add(1, 1, 3);
  auto a = std::make_shared<const csr_matrix<float>>(std::move(entries).build());
  auto outcomes = solver.solve_batch<float>(
    {{linear_operator<float>{a}, {6, 7}}, {linear_operator<float>{a}, {5, 4}}});
  CHECK(outcomes[0].result.x[0] == Approx(1).margin(1e-4));
  CHECK(outcomes[0].result.x[1] == Approx(2).margin(1e-4));
  CHECK(outcomes[1].result.x[0] == Approx(1).margin(1e-4));
}

TEST_CASE("progress grows and ends with all") {
  auto a = problems::dominant(20, 5);
  auto pool = make_pool(2);
  batch_solver solver{pool};
  std::vector<std::size_t> seen;
  solver.solve_batch(sharing(a, 100), {.on_progress =
                                         [&](batch_progress p) {
                                           CHECK(p.total == 100);
                                           seen.push_back(p.done);
                                         },
                                       .block_width = 1});
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  CHECK(seen.back() == 100);
}

TEST_CASE("no more solves run at a time than there are permits, single ones and batches") {
  auto pool = make_pool(4);
  batch_solver solver{pool, {.concurrent_solves = 2}};
  std::atomic<int> inside{0}, most{0}, done{0};
  auto counted = [&] {
    return calling([&] {
      auto now = inside.fetch_add(1) + 1;
      for (auto m = most.load(); m < now && !most.compare_exchange_weak(m, now);) {
      }
      std::this_thread::sleep_for(200us);
      inside.fetch_sub(1);
    });
  };
  for (int i = 0; i < 20; ++i)
    solver.submit<double>(counted(), {}, [&](outcome) { done.fetch_add(1); });
  std::vector<request> requests;
  for (int i = 0; i < 20; ++i)
    requests.push_back(counted());
  solver.solve_batch(requests);
  while (done.load() < 20)
    std::this_thread::yield();
  CHECK(most == 2);
  CHECK(solver.stats().solves_completed == 40);
}

TEST_CASE("a batch that has all permits hands them to a solve that waits, between its own") {
  auto pool = make_pool(2);
  batch_solver solver{pool, {.concurrent_solves = 1}};
  auto events = solver.events().subscribe();
  std::atomic<bool> single_waits{false};
  std::atomic<bool> single_ended{false};
  std::atomic<int> begun{0};
  // The first solve of the batch goes on when the single one asks for a permit. The others take a
  // while until it has ended, so that it queues long before the batch is through.
  std::vector<request> requests;
  for (int i = 0; i < 1000; ++i)
    requests.push_back(calling([&, first = i == 0] {
      begun.fetch_add(1);
      while (first && !single_waits.load())
        std::this_thread::yield();
      if (!single_ended.load())
        std::this_thread::sleep_for(200us);
    }));
  basal::executors::completion batch_done, single_done;
  solver.submit_batch<double>(requests, {.block_width = 1}, [&](auto) { batch_done.set(); });
  await_running(solver);
  int begun_before = 0;
  solver.submit<double>(calling([] {}), {}, [&](outcome) {
    begun_before = begun.load();
    single_ended.store(true);
    single_done.set();
  });
  while (!single_waits.load())
    while (auto next = events->try_next())
      if (next->event && next->event->kind == event_kind::concurrency_limit_reached)
        single_waits.store(true);
  single_done.wait();
  batch_done.wait();
  // Each of the batch multiplies at least twice; without a hand-over all of them would have begun.
  CHECK(begun_before < 1500);
  CHECK(begun >= 2000);
}

TEST_CASE("random walks are counted, those of each solve") {
  batch_solver solver{solver_limits{}};
  auto a = problems::dominant(300, 8, 0.9);
  solve_options options{.method = method::random_walk, .tolerance = 0, .entry = 3};
  options.walks_per_step = 32;
  // The first step pushes, the others walk.
  std::vector<request> requests{
    {linear_operator<double>{a}, problems::numbers(300, 1), options, {.ticks = 5}},
    {linear_operator<double>{a}, problems::numbers(300, 2), options, {.ticks = 11}}};
  solver.solve_batch(requests);
  CHECK(solver.stats().walks == 32 * (4 + 10));
  CHECK(solver.stats().ticks == 16);
  CHECK(solver.stats().neumann_terms == 0);
}

TEST_CASE("when all permits are taken a solve waits, is rejected or runs out of time") {
  auto pool = make_pool(2);
  auto a = problems::dominant(20, 6);
  auto policy = GENERATE(backpressure::wait, backpressure::reject, backpressure::wait_timeout);
  batch_solver solver{pool, {.concurrent_solves = 1, .backpressure = policy, .patience = 1ms}};
  auto events = solver.events().subscribe();
  std::stop_source stop;
  basal::executors::completion first_done;
  solver.submit<double>(endless(), stop.get_token(), [&](outcome) { first_done.set(); });
  await_running(solver);
  // The first one ends when the second one waits for its permit, or else has given up.
  std::thread stopper;
  if (policy == backpressure::wait)
    stopper = std::thread{[&, mine = solver.events().subscribe()] {
      for (bool waits = false; !waits; std::this_thread::yield())
        while (auto next = mine->try_next())
          waits |= next->event && next->event->kind == event_kind::concurrency_limit_reached;
      stop.request_stop();
    }};
  auto second = solver.solve(sharing(a, 1).front());
  if (stopper.joinable())
    stopper.join();
  stop.request_stop();
  first_done.wait();
  std::vector<solve_event> limits;
  for (auto& e : drain(*events))
    if (e.kind == event_kind::concurrency_limit_reached)
      limits.push_back(e);
  REQUIRE(limits.size() == 1);
  CHECK(limits[0].count == 1);
  CHECK(limits[0].limit == 1);
  switch (policy) {
  case backpressure::wait:
    CHECK_FALSE(second.failure);
    break;
  case backpressure::reject:
    REQUIRE(second.failure);
    CHECK(second.failure->code() == errc::too_busy);
    CHECK(solver.stats().rejected == 1);
    break;
  case backpressure::wait_timeout:
    REQUIRE(second.failure);
    CHECK(second.failure->code() == errc::timed_out);
    CHECK(solver.stats().timed_out == 1);
    break;
  }
}

TEST_CASE("solves are counted by the method that made x") {
  auto a = problems::dominant(50, 3);
  auto pool = make_pool(2);
  batch_solver solver{pool};
  auto requests = sharing(a, 10, {.method = method::neumann});
  requests[0].limits.iterations = 2;
  std::uint64_t latency = 0;
  for (const auto& o : solver.solve_batch(requests))
    latency += static_cast<std::uint64_t>(o.elapsed.count());
  solver.solve(sharing(a, 1, {.method = method::gmres}).front());
  for (const auto& x : solver.stats_by_method()) {
    CAPTURE(to_string(x.method));
    const auto ended = [&](state s) { return x.ended[static_cast<std::size_t>(s)]; };
    const std::uint64_t series = x.method == method::neumann ? 1 : 0;
    const std::uint64_t krylov = x.method == method::gmres ? 1 : 0;
    CHECK(ended(state::converged) == 9 * series + krylov);
    CHECK(ended(state::budget_exhausted) == series);
    CHECK(std::accumulate(x.took.begin(), x.took.end(), std::uint64_t{0}) == 10 * series + krylov);
    if (series == 1)
      CHECK(x.latency_ns == latency);
  }
}

TEST_CASE("requests wait until they begin or are refused") {
  auto pool = make_pool(1);
  batch_solver solver{pool, {.concurrent_solves = 1}};
  CHECK(solver.stats().waiting == 0);
  std::stop_source stop_first, stop_others;
  basal::executors::completion first_done, others_done;
  solver.submit<double>(endless(), stop_first.get_token(), [&](outcome) { first_done.set(); });
  await_running(solver);
  // It has its permit, and begins.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (solver.stats().waiting != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  CHECK(solver.stats().waiting == 0);
  solver.submit_batch<double>(sharing(problems::dominant(20, 6), 30),
                              {.stop = stop_others.get_token()},
                              [&](std::vector<outcome>) { others_done.set(); });
  CHECK(solver.stats().waiting == 30);
  SECTION("begun") {
    stop_first.request_stop();
    others_done.wait();
    CHECK(solver.stats().solves_completed == 30);
  }
  SECTION("refused") {
    stop_others.request_stop();
    others_done.wait();
    CHECK(solver.stats().cancelled == 30);
    stop_first.request_stop();
  }
  CHECK(solver.stats().waiting == 0);
  first_done.wait();
}

TEST_CASE("a stop token ends what runs and what waits") {
  auto pool = make_pool(2);
  batch_solver solver{pool, {.concurrent_solves = 1}};
  std::stop_source stop;
  SECTION("used before, nothing begins") {
    stop.request_stop();
    auto outcomes
      = solver.solve_batch(sharing(problems::dominant(20, 6), 30), {.stop = stop.get_token()});
    for (const auto& o : outcomes)
      CHECK(o.failure->code() == errc::cancelled);
    CHECK(solver.stats().ticks == 0);
  }
  SECTION("used meanwhile, the running solve ends, and those behind it in the batch") {
    std::vector<request> requests;
    for (int i = 0; i < 10; ++i)
      requests.push_back(endless());
    std::thread stopper{[&] {
      await_running(solver);
      stop.request_stop();
    }};
    auto outcomes = solver.solve_batch(requests, {.stop = stop.get_token()});
    stopper.join();
    for (const auto& o : outcomes) {
      REQUIRE(o.failure);
      CHECK(o.failure->code() == errc::cancelled);
    }
    CHECK(solver.stats().cancelled == 10);
  }
  SECTION("a solve that waits for a permit ends at once, though none is free") {
    std::stop_source other;
    basal::executors::completion first_done, second_done;
    solver.submit<double>(endless(), stop.get_token(), [&](outcome) { first_done.set(); });
    await_running(solver);
    std::optional<outcome> second;
    solver.submit<double>(endless(), other.get_token(), [&](outcome o) {
      second = std::move(o);
      second_done.set();
    });
    other.request_stop();
    second_done.wait();
    CHECK(second->failure->code() == errc::cancelled);
    CHECK_FALSE(first_done.is_set());
    stop.request_stop();
    first_done.wait();
  }
}

TEST_CASE("a hundred thousand requests at once are all served, without stacks of their own") {
  constexpr std::size_t count = 100'000;
  auto pool = make_pool(2);
  batch_solver solver{pool, {.concurrent_solves = 3}};
  auto a = problems::dominant(4, 9);
  const solve_plan<double> plan{linear_operator<double>{a}, {.method = method::neumann}};
  SECTION("as single requests") {
    std::atomic<std::size_t> converged{0}, done{0};
    for (std::size_t i = 0; i < count; ++i)
      solver.submit<double>({plan, {1, 2, 3, 4}}, {}, [&](outcome o) {
        converged.fetch_add(!o.failure && o.result.state == state::converged ? 1 : 0);
        done.fetch_add(1);
      });
    while (done.load() < count)
      std::this_thread::sleep_for(1ms);
    CHECK(converged == count);
  }
  SECTION("as a batch") {
    std::vector<request> requests(count, request{plan, {1, 2, 3, 4}});
    std::size_t converged = 0;
    for (const auto& o : solver.solve_batch(std::move(requests)))
      converged += o.result.state == state::converged ? 1 : 0;
    CHECK(converged == count);
  }
  auto stats = solver.stats();
  CHECK(stats.solves_completed == count);
  CHECK(stats.scratch.misses <= 16); // in steady state all scratch memory is there
  std::uint64_t fibers = 0;
  for (std::size_t i = 0; i < pool.size(); ++i)
    fibers += pool.at(i).stats().fibers_created;
  CHECK(fibers <= count / 1000); // a few suspended solves, not one stack a request
}

TEST_CASE("a flood with a policy to reject answers each request") {
  auto pool = make_pool(2);
  batch_solver solver{pool, {.concurrent_solves = 2, .backpressure = backpressure::reject}};
  auto a = problems::dominant(100, 9);
  const solve_plan<double> plan{linear_operator<double>{a}, {.method = method::neumann}};
  std::atomic<std::size_t> solved{0}, rejected{0}, other{0};
  for (int i = 0; i < 2000; ++i)
    solver.submit<double>({plan, problems::numbers(100, 1)}, {}, [&](outcome o) {
      if (!o.failure)
        solved.fetch_add(1);
      else if (o.failure->code() == errc::too_busy)
        rejected.fetch_add(1);
      else
        other.fetch_add(1);
    });
  while (solved + rejected + other < 2000)
    std::this_thread::yield();
  CHECK(solved >= 1);
  CHECK(other == 0);
}

TEST_CASE("a solve that calls a batch_solver is told that it must not") {
  auto pool = make_pool(2);
  batch_solver solver{pool};
  auto a = problems::dominant(5, 1);
  std::atomic<int> caught{0}, inside{0};
  auto nested = calling([&] {
    inside.fetch_add(solve_scope::active() ? 1 : 0);
    try {
      solver.solve(sharing(a, 1).front());
    } catch (const error& e) {
      caught.fetch_add(e.code() == errc::nested ? 1 : 0);
    }
  });
  CHECK_FALSE(solver.solve(nested).failure);
  CHECK(caught > 0);
  CHECK(inside == caught);
  CHECK(solver.stats().nested_calls == static_cast<std::uint64_t>(caught.load()));
  CHECK_FALSE(solve_scope::active());
}

TEST_CASE("what an operator forks runs in place: a solve is sequential on its thread") {
  using basal::posse::member;
  basal::posse::runtime rt{
    {.compute_executors = 3, .quantum = basal::posse::runtime_config::min_quantum}};
  batch_solver solver{rt.compute()};
  // Long enough to be stolen from by the others, which are idle.
  const auto fork = [&](int least) {
    rt.run([&](member& m) {
      m.fork_merge(
        [&](member& left) {
          const auto end = std::chrono::steady_clock::now() + least * rt.config().quantum;
          const auto last = std::chrono::steady_clock::now() + 10s;
          auto now = std::chrono::steady_clock::now();
          for (; now < end || (least == 0 && rt.stats().thefts == 0 && now < last);
               now = std::chrono::steady_clock::now())
            left.poll();
        },
        [](member&) {});
    });
  };
  std::atomic<int> called{0};
  const auto forking = calling([&] {
    ++called;
    fork(40);
  });
  CHECK_FALSE(solver.solve(forking).failure);
  CHECK(called > 0);
  CHECK(rt.stats().thefts == 0);
  // From a thread that solves by itself, the function is handed to an executor.
  {
    const solve_scope inside;
    fork(40);
  }
  CHECK(rt.stats().thefts == 0);
  fork(0); // until somebody comes
  CHECK(rt.stats().thefts > 0);
}

TEST_CASE("a fiber that waits for a solve leaves its executor to the solve") {
  auto pool = make_pool(1);
  batch_solver solver{pool};
  struct caller {
    batch_solver& solver;
    std::vector<outcome> outcomes = {};
    basal::executors::completion done = {};
  } c{solver};
  static constexpr basal::executors::work_ops ops{
    [](void* object, basal::executors::executor&) noexcept {
      auto& me = *static_cast<caller*>(object);
      me.outcomes = me.solver.solve_batch(sharing(problems::dominant(20, 1), 10));
      me.done.set();
    },
    nullptr};
  REQUIRE(pool.submit({&c, &ops}));
  c.done.wait();
  CHECK(c.outcomes.size() == 10);
}

TEST_CASE("other work of an executor has its turn while a solve runs") {
  auto pool = make_pool(1);
  batch_solver solver{pool};
  std::stop_source stop;
  basal::executors::completion solved, ran;
  solver.submit<double>(endless(), stop.get_token(), [&](outcome) { solved.set(); });
  await_running(solver);
  static constexpr basal::executors::work_ops ops{
    [](void* object, basal::executors::executor&) noexcept {
      static_cast<basal::executors::completion*>(object)->set();
    },
    nullptr};
  REQUIRE(pool.submit({&ran, &ops}));
  ran.wait(); // or the test's time is over
  CHECK_FALSE(solved.is_set());
  stop.request_stop();
  solved.wait();
}

TEST_CASE("what is left when a batch_solver goes ends as stopped") {
  auto pool = make_pool(2);
  std::atomic<int> stopped{0};
  {
    batch_solver solver{pool, {.concurrent_solves = 1}};
    for (int i = 0; i < 100; ++i)
      solver.submit<double>(endless(), {}, [&](outcome o) {
        stopped.fetch_add(o.failure && o.failure->code() == errc::stopped ? 1 : 0);
      });
    await_running(solver);
  }
  CHECK(stopped == 100);
}

TEST_CASE("on a pool that has stopped, requests fail instead of waiting for ever") {
  auto pool = make_pool(2);
  batch_solver solver{pool, {.concurrent_solves = 1}};
  std::atomic<int> stopped{0};
  auto count = [&](const outcome& o) {
    stopped.fetch_add(o.failure && o.failure->code() == errc::stopped ? 1 : 0);
  };
  static constexpr basal::executors::work_ops nothing{
    [](void*, basal::executors::executor&) noexcept {}, nullptr};
  // The one that runs ends when the pool stops, no sooner: the next one would run for ever.
  solver.submit<double>(calling([&] {
                          while (pool.submit({&pool, &nothing}))
                            std::this_thread::sleep_for(1ms);
                        }),
                        {}, [](outcome) {});
  await_running(solver);
  for (int i = 0; i < 1000; ++i)
    solver.submit<double>(endless(), {}, count);
  pool.stop(basal::executors::stop_mode::discard);
  solver.submit<double>(endless(), {}, count);
  CHECK(stopped == 1001);
  CHECK(solver.solve(endless()).failure->code() == errc::stopped);
}

TEST_CASE("who comes again with a matrix finds its plan") {
  auto pool = make_pool(2);
  const auto a = problems::dominant(50, 1);
  batch_solver solver{pool};
  const auto first = solver.solve(sharing(a, 1).front());
  const auto again = solver.solve(sharing(a, 1).front());
  CHECK(same_bits(first.result.x, again.result.x));
  CHECK(first.result.why == again.result.why);
  CHECK(solver.stats().plans.misses == 1);
  CHECK(solver.stats().plans.hits == 1);
  solver.solve_batch(sharing(a, 10));
  CHECK(solver.stats().plans.misses == 1);
  batch_solver forgetful{pool, {.plan_cache_bytes = 0}};
  forgetful.solve(sharing(a, 1).front());
  forgetful.solve(sharing(a, 1).front());
  CHECK(forgetful.stats().plans.hits == 0);
}

TEST_CASE("scratch memory is bounded, and a solve that needs more says so") {
  auto pool = make_pool(1);
  batch_solver solver{pool, {.scratch_bytes = 8192}};
  auto small = problems::dominant(20, 1);
  auto big = problems::dominant(5000, 1);
  auto outcomes
    = solver.solve_batch<double>({{linear_operator<double>{big}, problems::numbers(5000, 1)},
                                  {linear_operator<double>{small}, problems::numbers(20, 1)}});
  REQUIRE(outcomes[0].failure);
  CHECK(outcomes[0].failure->code() == errc::out_of_scratch);
  CHECK_THAT(std::string{outcomes[0].failure->what()}, ContainsSubstring("scratch_bytes"));
  CHECK_FALSE(outcomes[1].failure);
}

TEST_CASE("options out of their range are refused") {
  auto pool = make_pool(1);
  CHECK_THROWS_AS((batch_solver{pool, {.concurrent_solves = 0}}), error);
  batch_solver solver{pool};
  CHECK_THROWS_WITH(solver.solve_batch(sharing(problems::dominant(5, 1), 2), {.block_width = 99}),
                    ContainsSubstring("block_width is 99"));
}
