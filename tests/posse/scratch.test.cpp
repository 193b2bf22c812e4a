// Scratch values: how many are made, and that two running bodies never have the same one.

#include <basal/posse/scratch.hpp>

#include <basal/posse/algorithm.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace basal;
using posse::member;
using posse::runtime;

TEST_CASE("bodies on one executor use one value, one after the other") {
  posse::runtime_config config;
  config.compute_executors = 1;
  runtime rt{config};
  int made = 0;
  posse::scratch values{[&] { return ++made; }};
  posse::for_each(rt, std::vector<int>(10'000), [&](member& m, int&) {
    auto value = values.borrow(m);
    REQUIRE(*value == 1);
  });
  CHECK(made == 1);
}

TEST_CASE("who borrows twice at a time has two values") {
  posse::runtime_config config;
  config.compute_executors = 1;
  runtime rt{config};
  posse::scratch values{[] { return std::vector<int>(3); }};
  rt.run([&](member& m) {
    auto a = values.borrow(m);
    auto b = values.borrow(m);
    CHECK(&*a != &*b);
    CHECK(a->size() == 3);
  });
}

TEST_CASE("what one executor writes at each loan is in lines of its own") {
  runtime rt;
  posse::scratch values{[] { return 1; }};
  rt.run([&](member& m) {
    auto a = values.borrow(m);
    CHECK(reinterpret_cast<std::uintptr_t>(&*a) % 64 == 0);
  });
  CHECK(alignof(posse::detail::per_executor<char>::place) == 64);
}

TEST_CASE("what runs on an executor while a borrower there is suspended gets another value") {
  posse::runtime_config config;
  config.compute_executors = 1;
  runtime rt{config};
  std::atomic<int> made{0};
  posse::scratch values{[&] { return ++made; }};
  std::atomic<int> second{0};
  std::thread other;
  rt.run([&](member& m) {
    auto mine = values.borrow(m);
    other = std::thread{[&] { rt.run([&](member& k) { second = *values.borrow(k); }); }};
    while (second == 0) // lets the other computation have its turn at a quantum's end
      m.poll();
    CHECK(*mine == 1);
  });
  other.join();
  CHECK(second == 2);
  rt.run([&](member& m) { CHECK(*values.borrow(m) <= 2); });
  CHECK(made == 2);
}

TEST_CASE("two running bodies never have the same value") {
  posse::runtime_config config;
  config.compute_executors = 4;
  config.quantum = posse::runtime_config::min_quantum;
  runtime rt{config};
  posse::scratch values{[] { return std::atomic<bool>{false}; }};
  for (int round = 0; round < 20 || rt.stats().thefts == 0; ++round)
    posse::for_each(rt, std::vector<int>(300), [&](member& m, int&) {
      auto value = values.borrow(m);
      if (value->exchange(true, std::memory_order_relaxed))
        throw std::logic_error("shared");
      auto inner = [&](member& k) {
        auto other = values.borrow(k);
        for (int turn = 0; turn < 300; ++turn)
          k.poll();
        if (other->exchange(true, std::memory_order_relaxed))
          throw std::logic_error("shared");
        other->store(false, std::memory_order_relaxed);
      };
      m.fork_merge(inner, inner);
      value->store(false, std::memory_order_relaxed);
    });
}

TEST_CASE("a value that cannot be made is an exception of the body") {
  runtime rt;
  posse::scratch values{[]() -> int { throw std::runtime_error("no"); }};
  CHECK_THROWS_AS(rt.run([&](member& m) { return *values.borrow(m); }), std::runtime_error);
}
