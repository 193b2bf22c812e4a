#include <basal/cluster/cluster.hpp>

#include "cluster/folder.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <numeric>
#include <set>
#include <stdexcept>

using namespace basal;
using cluster::coordinator;
using cluster::errc;
using cluster::manifest;
using cluster::result_order;
using test::folder;

namespace {

using results = std::vector<std::pair<std::uint64_t, long>>;

long square(posse::member&, int x) {
  return long{x} * x;
}
constexpr posse::pure<square> pure_square{"square"};

long fib(posse::member& m, int n) {
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](auto& left) { return fib(left, n - 1); },
                             [=](auto& right) { return fib(right, n - 2); });
  return a + b;
}
constexpr posse::pure<fib> pure_fib{"fib"};

long odd_fail(posse::member&, int x) {
  if (x % 2 != 0)
    throw std::runtime_error("odd: " + std::to_string(x));
  return x;
}
constexpr posse::pure<odd_fail> pure_odd_fail{"odd_fail"};

/// Ends with its computation.
long forever(posse::member& m, int) {
  for (;;)
    m.poll();
}
constexpr posse::pure<forever> pure_forever{"forever"};

std::atomic<int> calls{0};

long counted(posse::member&, int x) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return x;
}
constexpr posse::pure<counted> pure_counted{"counted"};

struct table {
  std::vector<long> entries;
};
template <class Fields>
auto inspect(Fields& f, table& t) {
  return f(t.entries);
}

/// The entry, and where the table is.
std::pair<long, std::uint64_t> look_up(posse::member&, const table& t, int i) {
  return {t.entries.at(static_cast<std::size_t>(i)), reinterpret_cast<std::uintptr_t>(&t)};
}
constexpr posse::pure<look_up> pure_look_up{"look_up"};

std::vector<int> numbers(int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

template <class Function>
errc failure_of(Function&& f, std::string* said = nullptr) {
  try {
    f();
  } catch (const cluster::error& e) {
    if (said != nullptr)
      *said = e.what();
    return e.code();
  }
  return errc{};
}

} // namespace

TEST_CASE("map computes all items") {
  coordinator c{{.executors = 2}};
  const auto items = numbers(1000);
  const auto squares = map(c, pure_square, items);
  for (const int i : items)
    CHECK(squares[static_cast<std::size_t>(i)] == long{i} * i);
  CHECK(map(c, pure_fib, std::vector<int>{20, 10}) == std::vector<long>{6765, 55});
  CHECK(map(c, pure_square, std::vector<int>{}).empty());
}

TEST_CASE("results come as they finish or in the order of their items") {
  coordinator c{{.executors = 2}};
  for (const auto order : {result_order::as_finished, result_order::by_item}) {
    results got;
    const auto done
      = map(c, pure_square, numbers(300), [&](std::uint64_t i, long r) { got.emplace_back(i, r); },
            {.order = order});
    CHECK(done.results == 300);
    CHECK(done.items == 300);
    if (order == result_order::as_finished)
      std::sort(got.begin(), got.end());
    REQUIRE(got.size() == 300);
    for (std::uint64_t i = 0; i < 300; ++i)
      CHECK(got[i] == std::pair{i, static_cast<long>(i * i)});
  }
}

TEST_CASE("an item that fails each time is poisoned, with its reason, and the others go on") {
  coordinator c{{.executors = 2}};
  for (const auto order : {result_order::as_finished, result_order::by_item}) {
    results got;
    const auto done
      = map(c, pure_odd_fail, numbers(20), [&](std::uint64_t i, long r) { got.emplace_back(i, r); },
            {.order = order, .tries = 3});
    CHECK(got.size() == 10);
    REQUIRE(done.poisoned.size() == 10);
    for (const auto& p : done.poisoned)
      CHECK(p.reason == "odd: " + std::to_string(p.item));
    CHECK(done.reposted == 20);
  }
  std::string said;
  CHECK(failure_of([&] { map(c, pure_odd_fail, numbers(4)); }, &said) == errc::poisoned);
  CHECK_THAT(said, ContainsSubstring("2 items have no result") && ContainsSubstring("odd: "));
}

TEST_CASE("deadline, stop and memory limit travel with the item") {
  coordinator c{{.executors = 2}};
  const auto soon = std::chrono::system_clock::now() + std::chrono::milliseconds{30};
  const auto nothing = [](std::uint64_t, long) {};
  const auto late = map(c, pure_forever, numbers(3), nothing, {.deadline = soon});
  REQUIRE(late.poisoned.size() == 3);
  CHECK(late.reposted == 0);

  std::stop_source stop;
  std::jthread stopper{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{30});
    stop.request_stop();
  }};
  CHECK(failure_of([&] { map(c, pure_forever, numbers(3), nothing, {.stop = stop.get_token()}); })
        == errc::cancelled);

  const auto small = map(c, pure_fib, std::vector<int>{20}, nothing, {.memory_limit = 1});
  REQUIRE(small.poisoned.size() == 1);
  CHECK_THAT(small.poisoned[0].reason, ContainsSubstring("memory"));
}

TEST_CASE("what deliver throws ends the batch, and the journal keeps what it had") {
  const folder here;
  coordinator c{{.executors = 2}};
  const auto items = numbers(500);
  int delivered = 0;
  const auto break_off = [&](std::uint64_t, long) {
    if (++delivered == 100)
      throw std::logic_error("enough");
  };
  CHECK_THROWS_AS(map(c, pure_counted, items, break_off, {.journal = here.file()}),
                  std::logic_error);
  results got;
  calls = 0;
  const auto done
    = map(c, pure_counted, items, [&](std::uint64_t i, long r) { got.emplace_back(i, r); },
          {.order = result_order::by_item, .journal = here.file()});
  CHECK(done.resumed >= 100);
  CHECK(calls == static_cast<int>(500 - done.resumed)); // none of the journal's is computed again
  REQUIRE(got.size() == 500);
  for (std::uint64_t i = 0; i < 500; ++i)
    CHECK(got[i] == std::pair{i, static_cast<long>(i)});

  calls = 0;
  CHECK(map(c, pure_counted, items, {.journal = here.file()}).back() == 499);
  CHECK(calls == 0);
  CHECK(failure_of([&] { map(c, pure_counted, numbers(501), {.journal = here.file()}); })
        == errc::other_batch);
}

TEST_CASE("options outside their range are refused") {
  CHECK(failure_of([] { coordinator c{{.connection = {.address = "teapot"}}}; })
        == errc::bad_option);
  coordinator c{{.executors = 1}};
  const auto refused = [&](const cluster::map_options& options) {
    return failure_of([&] { map(c, pure_square, numbers(1), options); });
  };
  CHECK(refused({.tries = 0}) == errc::bad_option);
  CHECK(refused({.window = 0}) == errc::bad_option);
  static constexpr posse::pure<square> bad_name{"a.b"};
  CHECK(failure_of([&] { map(c, bad_name, numbers(1)); }) == errc::bad_option);
  cluster::registry functions;
  functions.add(pure_square).add(pure_square, 2);
  CHECK(failure_of([&] { functions.add(pure_square); }) == errc::bad_option);
}

TEST_CASE("items share a value, which is decoded once") {
  coordinator c{{.executors = 2}};
  table t;
  for (long i = 0; i < 50; ++i)
    t.entries.push_back(i * i);
  std::set<std::uint64_t> places;
  const auto done
    = map(c, pure_look_up, t, numbers(50), [&](std::uint64_t i, std::pair<long, std::uint64_t> r) {
        CHECK(r.first == static_cast<long>(i * i));
        places.insert(r.second);
      });
  CHECK(done.results == 50);
  CHECK(places.size() == 1);
}

TEST_CASE("a journal belongs to what its items share, too") {
  const folder f;
  coordinator c{{.executors = 1}};
  const auto deliver = [](std::uint64_t, std::pair<long, std::uint64_t>) {};
  const cluster::map_options options{.journal = f.file()};
  map(c, pure_look_up, table{{1, 2}}, numbers(2), deliver, options);
  CHECK(map(c, pure_look_up, table{{1, 2}}, numbers(2), deliver, options).resumed == 2);
  try {
    map(c, pure_look_up, table{{1, 3}}, numbers(2), deliver, options);
    FAIL("it took another table's results");
  } catch (const cluster::error& e) {
    CHECK(e.code() == errc::other_batch);
  }
}
