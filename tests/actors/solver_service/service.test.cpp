#include <basal/actors/actor_system_config.hpp>
#include <basal/solver/triplets.hpp>
#include <basal/solver_service/solver_service.hpp>

#include <caf/actor_system.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deep_to_string.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace solver = basal::solver;
using namespace basal::actors;

namespace {

/// [4 1; 1 3], with the solution (1, 2) for (6, 7).
shared_matrix small_matrix() {
  return std::make_shared<const solver::csr_matrix<double>>(
    2, 2, std::vector<solver::index_type>{0, 2, 4}, std::vector<solver::index_type>{0, 1, 0, 1},
    std::vector<double>{4, 1, 1, 3});
}

/// Solving it takes until somebody stops it: some 10^16 walks on a path.
solve_message endless() {
  constexpr solver::index_type size = 20;
  solver::triplets<double> entries{size, size};
  for (solver::index_type i = 0; i < size; ++i) {
    entries.add(i, i, 1);
    if (i > 0)
      entries.add(i, i - 1, 0.4);
    if (i + 1 < size)
      entries.add(i, i + 1, -0.5);
  }
  std::vector<double> b(size);
  std::iota(b.begin(), b.end(), -5.0);
  return {.a = std::make_shared<const solver::csr_matrix<double>>(std::move(entries).build()),
          .b = std::move(b),
          .options = {.method = solver::method::random_walk,
                      .tolerance = 1e-8,
                      .iteration_limit = solver::budget::unlimited,
                      .entry = 0},
          .limits = {.ticks = solver::budget::unlimited}};
}

struct fixture {
  basal::actor_system_config cfg;
  caf::actor_system system;
  caf::scoped_actor self{system};

  fixture() : system(configured(cfg)) {
  }

  static basal::actor_system_config& configured(basal::actor_system_config& cfg) {
    cfg.set("basal.message-executors", std::size_t{2});
    cfg.set("basal.compute-executors", std::size_t{2});
    add_solver_messages(cfg);
    return cfg;
  }

  /// The reply, or an error's text.
  template <class Reply, class... Args>
  std::pair<Reply, std::string> ask(const solver_service& whom, const Args&... args) {
    std::pair<Reply, std::string> result;
    self->request(whom, caf::infinite, args...)
      .receive([&](Reply& x) { result.first = std::move(x); },
               [&](caf::error& err) {
                 REQUIRE(err);
                 result.second = system.render(err);
               });
    return result;
  }

  /// Nothing, or an error's text.
  std::string subscribe(const solver_service& service, const solver_subscriber& who,
                        std::uint64_t capacity) {
    std::string problem;
    self->request(service, caf::infinite, caf::subscribe_atom::value, who, capacity)
      .receive([] {}, [&](caf::error& err) { problem = system.render(err); });
    return problem;
  }

  void end(const solver_service& service) {
    self->send_exit(service, caf::exit_reason::user_shutdown);
    self->wait_for(service);
  }
};

/// A copy of `value` that CAF has saved and loaded.
template <class T>
T through_serialiser(T value) {
  std::vector<char> bytes;
  caf::binary_serializer out{nullptr, bytes};
  REQUIRE_FALSE(out(value));
  T loaded;
  caf::binary_deserializer in{nullptr, bytes};
  REQUIRE_FALSE(in(loaded));
  return loaded;
}

std::vector<double> all_kinds_of_doubles() {
  using limits = std::numeric_limits<double>;
  return {0.0,
          -0.0,
          1.0 / 3,
          limits::infinity(),
          -limits::infinity(),
          limits::quiet_NaN(),
          std::bit_cast<double>(std::uint64_t{0x7ff0'0000'0000'0123}), // signalling, with payload
          std::bit_cast<double>(std::uint64_t{0xfff8'0000'dead'beef}),
          limits::denorm_min(),
          -limits::denorm_min(),
          limits::min() / 2,
          limits::min(),
          limits::max(),
          limits::lowest()};
}

std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> result;
  for (double v : values)
    result.push_back(std::bit_cast<std::uint64_t>(v));
  return result;
}

} // namespace

TEST_CASE("every double survives in every message, bit by bit") {
  const auto odd = all_kinds_of_doubles();
  CHECK(bits(through_serialiser(reals{odd}).values) == bits(odd));
  for (double x : odd)
    CHECK(bits({through_serialiser(real{x})}) == bits({x}));

  for (double x : odd) {
    batch_entry entry;
    entry.reply = {.id = 7,
                   .state = solver::state::diverged,
                   .exhausted = solver::budget_kind::time,
                   .x = odd,
                   .residual = x,
                   .half_width = x,
                   .why = "it grew",
                   .elapsed = std::chrono::nanoseconds{12}};
    batch_reply reply{{entry, {solver::make_error(solver::errc::not_finite), {}}}};
    auto after = through_serialiser(reply);
    REQUIRE(after.entries.size() == 2);
    CHECK(bits(after.entries[0].reply.x.values) == bits(odd));
    CHECK(bits({after.entries[0].reply.residual}) == bits({x}));
    CHECK(bits({after.entries[0].reply.half_width}) == bits({x}));
    CHECK(after.entries[0].reply.state == solver::state::diverged);
    CHECK(after.entries[0].reply.why == "it grew");
    CHECK(after.entries[0].reply.elapsed.count() == 12);
    CHECK(after.entries[1].failure == solver::make_error(solver::errc::not_finite));
  }

  solve_message message{.a = small_matrix(), .b = odd};
  message.options = {.method = solver::method::random_walk,
                     .tolerance = std::numeric_limits<double>::denorm_min(),
                     .entry = 1,
                     .seed = 99,
                     .confidence = 1 - 1e-16};
  message.limits = {.ticks = 1, .iterations = 2, .time = std::chrono::seconds{3}, .bytes = 4};
  auto after = through_serialiser(batch_message{{message, {}}, 3});
  REQUIRE(after.requests.size() == 2);
  CHECK(after.block_width == 3);
  CHECK(after.requests[1].a.matrix == nullptr);
  const auto& copy = after.requests[0];
  CHECK(bits(copy.b.values) == bits(odd));
  CHECK(bits({copy.options.tolerance}) == bits({message.options.tolerance}));
  CHECK(bits({copy.options.confidence}) == bits({message.options.confidence}));
  CHECK(copy.options.entry == 1);
  CHECK(copy.options.seed == 99);
  CHECK(copy.limits.time == std::chrono::seconds{3});
  CHECK(copy.a.matrix->nonzeros() == 4);
  CHECK(copy.a.matrix->row_values(1)[1] == 3);
}

TEST_CASE("a matrix that was damaged on its way is an error, not a matrix") {
  detail::matrix_parts parts{small_matrix()};
  shared_matrix loaded;
  SECTION("a column out of range") {
    parts.column_indices[3] = 5;
  }
  SECTION("a value that is no number") {
    parts.values.values[0] = std::numeric_limits<double>::quiet_NaN();
  }
  SECTION("sizes that do not fit") {
    parts.row_starts.pop_back();
  }
  SECTION("a negative size") {
    parts.rows = -1;
  }
  auto problem = parts.assemble(loaded);
  CHECK(problem.category() == solver::errc_category);
  CHECK(loaded.matrix == nullptr);
}

TEST_CASE("events and statistics survive CAF's serialiser and print with their fields' names") {
  solver::solve_event event{.kind = solver::event_kind::solve_failed,
                            .id = 5,
                            .elapsed = std::chrono::nanoseconds{7},
                            .error = solver::errc::too_busy};
  auto after = through_serialiser(events_message{3, {event, {}}});
  CHECK(after.lost == 3);
  CHECK(after.events == std::vector<solver::solve_event>{event, {}});
  solver::solver_stats stats;
  stats.solves_completed = ~std::uint64_t{0};
  stats.scratch.hits = 12;
  CHECK(through_serialiser(stats).solves_completed == ~std::uint64_t{0});
  CHECK(through_serialiser(stats).scratch.hits == 12);
  stats.plans.bytes = 13;
  CHECK(through_serialiser(stats).plans.bytes == 13);
  CHECK_THAT(caf::deep_to_string(event), ContainsSubstring("(kind = solve_failed, id = 5,")
                                           && ContainsSubstring("error = too_busy)"));
  CHECK_THAT(caf::deep_to_string(solver::solve_event{}), ContainsSubstring("error = none)"));
  CHECK_THAT(caf::deep_to_string(solver::solve_options{}),
             ContainsSubstring("method = automatic, preconditioner = automatic")
               && !ContainsSubstring("unprintable"));
  CHECK_THAT(caf::deep_to_string(solve_reply{}),
             ContainsSubstring("state = running, exhausted = none")
               && !ContainsSubstring("unprintable"));
  CHECK_THAT(caf::deep_to_string(stats), ContainsSubstring("scratch = scratch_stats(hits = 12"));
  CHECK_THAT(caf::deep_to_string(solve_message{.a = small_matrix(), .b = std::vector{0.5}}),
             ContainsSubstring("a = 2 x 2 matrix with 4 entries, b = [0.5"));
}

TEST_CASE_METHOD(fixture, "a request is answered with its solution") {
  auto service = spawn_solver_service(system);
  auto [reply, problem]
    = ask<solve_reply>(service, solve_message{.a = small_matrix(), .b = std::vector{6.0, 7.0}});
  CHECK(problem.empty());
  CHECK(reply.state == solver::state::converged);
  REQUIRE(reply.x.values.size() == 2);
  CHECK(reply.x.values[0] == Approx(1).margin(1e-5));
  CHECK(reply.x.values[1] == Approx(2).margin(1e-5));
  CHECK(reply.residual <= 1e-6);
  CHECK_FALSE(reply.why.empty());
  end(service);
}

TEST_CASE_METHOD(fixture, "errors are typed and say what is wrong") {
  auto service = spawn_solver_service(system);
  self->request(service, caf::infinite, solve_message{.a = small_matrix(), .b = {{1.0}}})
    .receive([](const solve_reply&) { FAIL("it was solved"); },
             [&](caf::error& err) {
               CHECK(err.category() == solver::errc_category);
               CHECK(err == solver::make_error(solver::errc::dimension_mismatch));
               CHECK_THAT(system.render(err), ContainsSubstring("dimension_mismatch: "));
               CHECK_THAT(system.render(err), ContainsSubstring("needs b of size 2, not 1")
                                                && !ContainsSubstring(" x "));
             });
  CHECK_THAT(ask<solve_reply>(service, solve_message{}).second,
             ContainsSubstring("there is no matrix"));
  auto nan = solve_message{.a = small_matrix(), .b = std::vector{1.0, std::nan("")}};
  CHECK_THAT(ask<solve_reply>(service, nan).second, ContainsSubstring("not_finite"));
  end(service);
}

TEST_CASE_METHOD(fixture, "a series that diverges is a result with finite numbers") {
  auto service = spawn_solver_service(system);
  shared_matrix weak = std::make_shared<const solver::csr_matrix<double>>(
    2, 2, std::vector<solver::index_type>{0, 2, 4}, std::vector<solver::index_type>{0, 1, 0, 1},
    std::vector<double>{1, 5, -5, 1});
  auto [reply, problem]
    = ask<solve_reply>(service, solve_message{.a = weak,
                                              .b = std::vector{1.0, 2.0},
                                              .options = {.method = solver::method::neumann}});
  // Either the check before it sees that it cannot converge, or it ends as diverged.
  if (problem.empty()) {
    CHECK(reply.state == solver::state::diverged);
    for (double entry : reply.x.values)
      CHECK(std::isfinite(entry));
    CHECK(std::isfinite(reply.residual));
  } else {
    CHECK_THAT(problem, ContainsSubstring("no_convergence_expected"));
  }
  end(service);
}

TEST_CASE_METHOD(fixture, "a batch is answered in order, each request for itself") {
  auto service = spawn_solver_service(system);
  batch_message batch;
  for (int i = 0; i < 20; ++i)
    batch.requests.push_back({.a = small_matrix(), .b = std::vector{4.0 * i, 1.0 * i}});
  batch.requests[3] = {};
  batch.requests[7].b.values.push_back(1);
  auto [reply, problem] = ask<batch_reply>(service, batch);
  CHECK(problem.empty());
  REQUIRE(reply.entries.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto& entry = reply.entries[i];
    if (i == 3 || i == 7) {
      CHECK(entry.failure == solver::make_error(solver::errc::dimension_mismatch));
      continue;
    }
    CHECK_FALSE(entry.failure);
    CHECK(entry.reply.x.values.at(0) == Approx(i).margin(1e-4));
  }
  CHECK(ask<batch_reply>(service, batch_message{}).first.entries.empty());
  CHECK_THAT(ask<batch_reply>(service, batch_message{{}, 1000}).second,
             ContainsSubstring("block_width is 1000"));
  end(service);
}

TEST_CASE_METHOD(fixture, "the service answers others while it solves") {
  auto service = spawn_solver_service(system, {.concurrent_solves = 1});
  auto patient = system.spawn([=](caf::event_based_actor* me) {
    me->request(service, caf::infinite, endless())
      .then([](const solve_reply&) {}, [](caf::error&) {});
  });
  solver::solver_stats stats;
  while (stats.running == 0)
    stats = ask<solver::solver_stats>(service, caf::get_atom::value).first;
  CHECK(stats.running == 1);
  end(service);
}

TEST_CASE_METHOD(fixture, "requests that are open when a service ends are answered") {
  auto service = spawn_solver_service(system, {.concurrent_solves = 1});
  auto first = self->request(service, caf::infinite, endless());
  auto second = self->request(service, caf::infinite, batch_message{{endless(), endless()}, 0});
  solver::solver_stats stats;
  while (stats.running == 0)
    stats = ask<solver::solver_stats>(service, caf::get_atom::value).first;
  self->send_exit(service, caf::exit_reason::user_shutdown);
  const auto stopped = solver::make_error(solver::errc::stopped);
  first.receive([](const solve_reply&) { FAIL("it was solved"); },
                [&](caf::error& err) { CHECK(err == stopped); });
  second.receive([](const batch_reply&) { FAIL("it was solved"); },
                 [&](caf::error& err) { CHECK(err == stopped); });
  self->wait_for(service);
}

TEST_CASE_METHOD(fixture, "ten thousand requests at once are all answered") {
  constexpr int count = 10'000;
  auto service = spawn_solver_service(system);
  const auto matrix = small_matrix();
  std::atomic<int> right{0}, answered{0};
  auto client = system.spawn([&, matrix](caf::event_based_actor* me) {
    for (int i = 0; i < count; ++i)
      me->request(service, caf::infinite, solve_message{.a = matrix, .b = std::vector{6.0, 7.0}})
        .then(
          [&](const solve_reply& r) {
            right += r.x.values.size() == 2 && std::abs(r.x.values[1] - 2) < 1e-4 ? 1 : 0;
            ++answered;
          },
          [&](caf::error&) { ++answered; });
  });
  self->wait_for(client); // it ends when nothing is open any more
  CHECK(answered == count);
  CHECK(right == count);
  const auto stats = ask<solver::solver_stats>(service, caf::get_atom::value).first;
  CHECK(stats.solves_completed == count);
  // One matrix, one plan; but the first few may have made it at the same time.
  CHECK(stats.plans.hits + stats.plans.misses == count);
  CHECK(stats.plans.hits > 0);
  CHECK(stats.plans.plans == 1);
  end(service);
}

TEST_CASE_METHOD(fixture, "a subscriber gets the events in order") {
  auto service = spawn_solver_service(system);
  std::vector<solver::solve_event> seen; // written by one actor, read after it has ended
  auto subscriber
    = system.spawn([&](solver_subscriber::pointer me) -> solver_subscriber::behavior_type {
        return {[&, me](const events_message& m) {
          CHECK(m.lost == 0);
          seen.insert(seen.end(), m.events.begin(), m.events.end());
          if (seen.back().kind == solver::event_kind::batch_completed)
            me->quit();
        }};
      });
  CHECK(subscribe(service, subscriber, 1000).empty());
  batch_message batch;
  for (int i = 0; i < 5; ++i)
    batch.requests.push_back({.a = small_matrix(), .b = std::vector{4.0, 1.0}});
  ask<batch_reply>(service, batch);
  self->wait_for(subscriber);
  REQUIRE(seen.size() == 12);
  CHECK(seen.front().kind == solver::event_kind::batch_started);
  CHECK(seen.front().count == 5);
  for (std::uint64_t id = 1; id <= 5; ++id) {
    std::vector<solver::event_kind> life;
    for (const auto& e : seen)
      if (e.id == id && e.count == 0)
        life.push_back(e.kind);
    CHECK(life
          == std::vector{solver::event_kind::solve_started, solver::event_kind::solve_completed});
  }
  CHECK_THAT(subscribe(service, subscriber, 0), ContainsSubstring("the capacity is 0"));
  CHECK_THAT(subscribe(service, {}, 5), ContainsSubstring("there is no subscriber"));
  end(service);
}

TEST_CASE_METHOD(fixture, "a slow subscriber loses events and is told how many") {
  auto service = spawn_solver_service(system);
  // As slow as can be: it looks into its mailbox when everything has happened.
  const auto subscriber = caf::actor_cast<solver_subscriber>(self);
  CHECK(subscribe(service, subscriber, 16).empty());
  batch_message batch;
  for (int i = 0; i < 100; ++i)
    batch.requests.push_back({.a = small_matrix(), .b = std::vector{4.0, 1.0}});
  ask<batch_reply>(service, batch);
  CHECK(ask<solver::solver_stats>(service, caf::get_atom::value).first.events_lost > 0);
  CHECK(self->mailbox().count() <= 1);
  std::uint64_t events = 0, lost = 0;
  while (events + lost < 202)
    self->receive([&](const events_message& m) {
      events += m.events.size();
      lost += m.lost;
    });
  CHECK(events + lost == 202);
  CHECK(lost > 0);
  end(service);
}

TEST_CASE("limits that allow nothing, and systems that cannot serve, are refused") {
  basal::actor_system_config on_basal;
  add_solver_messages(on_basal);
  caf::actor_system system{on_basal};
  CHECK_THROWS_AS(spawn_solver_service(system, {.concurrent_solves = 0}), solver::error);
  caf::actor_system_config stock;
  caf::actor_system other{stock};
  CHECK_THROWS_WITH(spawn_solver_service(other), ContainsSubstring("does not run on basal"));
  basal::actor_system_config without_messages;
  caf::actor_system ignorant{without_messages};
  CHECK_THROWS_WITH(spawn_solver_service(ignorant),
                    ContainsSubstring("add_solver_messages(config)"));
}
