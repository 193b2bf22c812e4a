#include <basal/executors/placement.hpp>
#include <basal/posse/gc/gc.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <ranges>
#include <thread>
#include <vector>

using namespace basal::posse;

namespace {

struct list_node {
  long value;
  gc::ptr<list_node> next;
};

gc::ptr<list_node> make_list(long length) {
  gc::ptr<list_node> first;
  for (long i = 0; i < length; ++i)
    first = gc::make<list_node>(i, first);
  return first;
}

long sum(gc::ptr<list_node> l) {
  long result = 0;
  for (; l; l = l->next)
    result += l->value;
  return result;
}

struct sample {
  double x, y;
};

} // namespace

template <>
inline constexpr bool gc::is_pointer_free<sample> = true;

// Compiles or does not: what the types are for.
static_assert(gc::collectable<int> && gc::collectable<list_node> && gc::collectable<gc::string>);
static_assert(!gc::collectable<std::string> && !gc::collectable<std::vector<int>>);
static_assert(gc::content_of<double> == gc::content::pointer_free);
static_assert(gc::content_of<sample[4]> == gc::content::pointer_free);
static_assert(gc::content_of<std::pair<int, sample>> == gc::content::pointer_free);
static_assert(gc::content_of<list_node> == gc::content::pointers);
static_assert(gc::content_of<std::pair<int, gc::string>> == gc::content::pointers);
static_assert(sizeof(gc::ptr<list_node>) == sizeof(void*));
static_assert(std::is_trivially_copyable_v<gc::vector<int>>);
static_assert(std::ranges::contiguous_range<gc::vector<int>>);
static_assert(std::convertible_to<gc::ptr<list_node>, gc::ptr<const list_node>>);

TEST_CASE("objects that are pointed to survive collections, and garbage is reused") {
  auto kept = make_list(10'000);
  auto before = gc::stats();
  for (int i = 0; i < 50; ++i) {
    make_list(20'000);
    if (i % 10 == 0)
      gc::collect();
  }
  auto after = gc::stats();
  CHECK(sum(kept) == 9'999L * 10'000 / 2);
  CHECK(after.allocated_bytes - before.allocated_bytes >= 50u * 20'000 * sizeof(list_node) - 8192);
#ifndef __SANITIZE_THREAD__ // nothing is collected there
  CHECK(after.collections >= before.collections + 5);
  // A million nodes were made; without reuse they would take 32 MB.
  CHECK(after.heap_bytes < before.heap_bytes + (24u << 20));
  CHECK(after.longest_pause >= after.last_pause);
#endif
}

TEST_CASE("objects are aligned, zeroed, distinct, and may have any size") {
  std::vector<std::pair<std::uintptr_t, std::size_t>> places;
  std::vector<gc::handle<gc::ptr<char>>> alive;
  for (std::size_t bytes = 1; bytes < 600; ++bytes)
    for (auto kind : {gc::content::pointers, gc::content::pointer_free}) {
      auto* p = static_cast<char*>(gc::allocate(bytes, kind));
      CHECK(reinterpret_cast<std::uintptr_t>(p) % 16 == 0);
      if (kind == gc::content::pointers)
        CHECK(std::count(p, p + bytes, '\0') == static_cast<std::ptrdiff_t>(bytes));
      std::fill_n(p, bytes, '\xff');
      places.emplace_back(reinterpret_cast<std::uintptr_t>(p), bytes);
      alive.emplace_back(gc::ptr<char>{p});
    }
  std::ranges::sort(places);
  for (std::size_t i = 1; i < places.size(); ++i)
    REQUIRE(places[i - 1].first + places[i - 1].second < places[i].first);
  auto* large = static_cast<char*>(gc::allocate(3 << 20, gc::content::pointers));
  CHECK(large[(3 << 20) - 1] == 0);
}

TEST_CASE("a handle keeps its object alive where the collector does not look") {
  std::vector<gc::handle<gc::ptr<list_node>>> handles;
  std::thread maker{[&] {
    for (int i = 0; i < 200; ++i)
      handles.emplace_back(make_list(100));
  }};
  maker.join();
  for (int i = 0; i < 5; ++i) {
    gc::collect();
    make_list(100'000);
  }
  for (auto& h : handles)
    CHECK(sum(h.get()) == 4950);
  auto copy = handles[0];
  auto moved = std::move(handles[0]);
  CHECK(!handles[0]);
  handles.clear();
  gc::collect();
  make_list(100'000);
  CHECK(sum(copy.get()) == 4950);
  CHECK(copy.get() == moved.get());
  CHECK(!gc::handle<gc::ptr<list_node>>{}.get());
}

#ifndef __SANITIZE_THREAD__
TEST_CASE("what a handle held is collected once the last handle is gone") {
  auto used = [] {
    gc::collect();
    return gc::stats().used_bytes;
  };
  auto before = used();
  std::vector<gc::handle<gc::vector<int>>> handles;
  std::thread{[&] {
    for (int i = 0; i < 100; ++i)
      handles.emplace_back(gc::vector<int>::generate(100'000, [](std::size_t) { return 1; }));
  }}.join();
  CHECK(used() > before + 30'000'000);
  handles.clear();
  CHECK(used() < before + 10'000'000);
}
#endif

TEST_CASE("vectors are immutable ranges that share their elements") {
  auto squares = gc::vector<int>::generate(10, [](auto i) { return static_cast<int>(i * i); });
  CHECK(squares.size() == 10);
  CHECK(squares[9] == 81);
  CHECK(squares == gc::vector<int>{0, 1, 4, 9, 16, 25, 36, 49, 64, 81});
  auto slice = squares.slice(2, 3);
  CHECK(slice.data() == squares.data() + 2);
  CHECK(slice == gc::vector<int>{4, 9, 16});
  CHECK(squares.slice(8, 100).size() == 2);
  CHECK(squares.slice(11).empty());
  CHECK_THROWS_AS(squares.at(10), std::out_of_range);
  gc::vector<gc::string> words(std::vector<std::string>{"a", "bc"} // from any sized range
                               | std::views::transform([](auto& s) { return gc::string{s}; }));
  CHECK(words.back() == "bc");
  CHECK(gc::vector<int>{} == gc::vector<int>{});
  CHECK(gc::vector<int>{1, 2} < gc::vector<int>{1, 3});
  CHECK(std::accumulate(squares.begin(), squares.end(), 0) == 285);
  CHECK_THROWS_AS(gc::vector<double>::generate(SIZE_MAX / 4, [](auto) { return 0.0; }),
                  std::bad_array_new_length);
}

TEST_CASE("strings compare like text and share their characters") {
  gc::string s{"fork and merge"};
  CHECK(s == "fork and merge");
  CHECK(s.slice(9).begin() == s.begin() + 9);
  CHECK(s.slice(0, 4) + s.slice(8) == "fork merge");
  CHECK(s < "g");
  CHECK(gc::string{"a"} < gc::string{"b"});
  CHECK(gc::string{}.empty());
  CHECK(std::hash<gc::string>{}(s) == std::hash<std::string_view>{}("fork and merge"));
}

TEST_CASE("an account counts what its scope allocates, and no more") {
  gc::account outer;
  gc::account inner;
  gc::charge_scope scope{outer};
  make_list(1000);
  {
    gc::charge_scope nested{inner};
    make_list(10'000);
  }
  make_list(1000);
  CHECK(inner.bytes() == 10'000 * sizeof(list_node));
  CHECK(outer.bytes() <= 2000 * sizeof(list_node));
  CHECK(outer.bytes() + 4096 > 2000 * sizeof(list_node));
}

#ifndef __SANITIZE_THREAD__
TEST_CASE("garbage does not exceed an account's limit, live objects do") {
  gc::collect();
  auto base = gc::stats().used_bytes;
  gc::account limited{base + (16u << 20)};
  gc::charge_scope scope{limited};
  for (int i = 0; i < 200; ++i)
    make_list(20'000); // 640 kB of objects each
  CHECK(limited.bytes() <= limited.limit());
  CHECK_THROWS_AS(make_list(10'000'000), gc::limit_exceeded);
}
#endif

TEST_CASE("fibers of one executor charge their own accounts while they take turns") {
  runtime rt{{.compute_executors = 1, .quantum = runtime_config::min_quantum}};
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  std::atomic<int> begun{0};
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&, t] {
      rt.run([&](member& m) {
        ++begun; // so that there are turns to take: nobody is done before all have begun
        while (begun != 3)
          m.poll();
        gc::account mine;
        const auto count = 20'000 * (t + 1);
        {
          gc::charge_scope scope{mine};
          for (int i = 0; i < count; ++i) {
            gc::make<list_node>(i, nullptr);
            m.poll();
          }
        }
        wrong += mine.bytes() != static_cast<std::size_t>(count) * sizeof(list_node);
      });
    });
  for (auto& c : callers)
    c.join();
  CHECK(wrong == 0);
  CHECK(rt.stats().yields > 0);
}

TEST_CASE("computations return objects of the heap to any thread") {
  runtime rt{{.compute_executors = 2, .quantum = runtime_config::min_quantum}};
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] { // has not touched the heap before
      auto lists = rt.run([](member& m) {
        auto [a, b] = m.fork_merge([](member&) { return make_list(3000); },
                                   [](member&) { return make_list(4000); });
        return std::pair{a, b};
      });
      for (int i = 0; i < 20; ++i) {
        gc::collect();
        make_list(5000);
      }
      wrong += sum(lists.first) != 2999L * 3000 / 2 || sum(lists.second) != 3999L * 4000 / 2;
    });
  for (auto& c : callers)
    c.join();
  CHECK(wrong == 0);
}

#ifndef __SANITIZE_THREAD__
TEST_CASE("collections come as seldom as the garbage may grow") {
  auto collections_of = [](int lists) {
    auto before = gc::stats().collections;
    for (int i = 0; i < lists; ++i)
      make_list(10'000); // 320 KB
    return gc::stats().collections - before;
  };
  gc::collect();
  CHECK(collections_of(200) >= 2);
  gc::set_least_garbage(256 << 20);
  gc::collect();
  CHECK(collections_of(200) == 0);
  gc::set_least_garbage(gc::least_garbage_bytes);
}
#endif

TEST_CASE("collections use the CPUs that the process may use") {
  if (std::getenv("GC_MARKERS") == nullptr && std::getenv("GC_NPROCS") == nullptr)
    CHECK(gc::stats().markers == std::min<std::size_t>(basal::executors::usable_cpus(), 16));
}

TEST_CASE("threads come and go while collections run") {
  auto before = gc::stats().threads;
  std::atomic<int> wrong{0};
  for (int round = 0; round < 30; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        auto l = make_list(500);
        gc::collect();
        make_list(500);
        wrong += sum(l) != 499 * 500 / 2;
      });
    runtime rt{{.compute_executors = 2}};
    rt.run([&](member&) { wrong += sum(make_list(100)) != 4950; });
    for (auto& t : threads)
      t.join();
  }
  CHECK(wrong == 0);
  CHECK(gc::stats().threads <= before + 1);
}

TEST_CASE("a call keeps alive what the frames of its caller point to") {
  runtime rt{{.compute_executors = 1}};
  const auto kept = make_list(1000);
  const auto expected = sum(kept);
  rt.run([](member&) {
    for (int i = 0; i < 3; ++i) {
      gc::collect();
      make_list(10'000); // over what was collected
    }
  });
  CHECK(sum(kept) == expected);
}
