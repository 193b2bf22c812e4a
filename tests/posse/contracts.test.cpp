// Misuse of the module: builds with asserts name it.

#include <basal/posse/posse.hpp>

#include "support/contract.hpp"

#include <cstddef>
#include <memory_resource>

using namespace basal;
using basal::test::expect_broken_contract;
using posse::member;
using posse::runtime;

namespace {

/// Calls `body(member&)` on a runtime of its own with one compute executor.
void compute(auto body) {
  posse::runtime_config config;
  config.compute_executors = 1;
  runtime rt{config};
  rt.run(body);
}

} // namespace

TEST_CASE("a branch uses the member that it was called with") {
  expect_broken_contract("a branch uses the member that it was called with", [] {
    runtime outer;
    outer.run([](member& m) {
      runtime inner;
      inner.offload([&](member&) { m.memory(); });
    });
  });
}

TEST_CASE("a safepoint of a member that was captured names the computation and the remedy") {
  const auto in_another_one = [] {
    runtime outer;
    outer.run([](member& m) {
      runtime inner;
      inner.offload([&](member&) { m.poll(); });
    });
  };
  expect_broken_contract("one of a computation uses a member that it captured", in_another_one);
  expect_broken_contract("write m.fork_merge([&](basal::posse::member& k)", in_another_one);
}

TEST_CASE("a range ends behind its beginning") {
  expect_broken_contract("a range ends behind its beginning", [] {
    compute([](member& m) {
      auto body = [](member&, std::size_t, std::size_t last) { return last; };
      posse::range_search<decltype(body)>{body}.run(m, 2, 1);
    });
  });
  expect_broken_contract("a range ends behind its beginning", [] {
    compute([](member& m) {
      auto body = [](member&, std::size_t, std::size_t) {};
      posse::range_fork<decltype(body)>{body}.run(m, 2, 1);
    });
  });
}

TEST_CASE("the body of a range returns an element of its part, or the part's end") {
  expect_broken_contract("a body returns an element of its part", [] {
    compute([](member& m) {
      auto body = [](member&, std::size_t, std::size_t last) { return last + 1; };
      posse::range_search<decltype(body)>{body}.run(m, 0, 100);
    });
  });
  expect_broken_contract("a body returns an element of its part", [] {
    compute([](member& m) {
      auto body = [](member&, std::size_t first, std::size_t) { return first - 1; };
      posse::range_search<decltype(body)>{body}.run(m, 1, 100);
    });
  });
}

TEST_CASE("memory of a computation is given back before its end") {
  expect_broken_contract("memory of a computation is given back before its end", [] {
    void* kept = nullptr;
    compute([&](member& m) { kept = m.memory().allocate(16); });
  });
}

#ifndef __SANITIZE_ADDRESS__ // which finds that by itself, and earlier
TEST_CASE("no more memory is given back than was counted") {
  expect_broken_contract("no more memory is given back than was counted", [] {
    compute([&](member& m) {
      auto* memory = m.memory().allocate(16);
      m.memory().deallocate(memory, 32);
    });
  });
}
#endif

TEST_CASE("a lease of scratch ends on the executor where it began") {
  expect_broken_contract("a lease ends on the executor where it began", [] {
    posse::scratch values{[] { return 1; }};
    using lease = decltype(values)::lease;
    runtime rt;
    lease* kept = nullptr;
    rt.run([&](member& m) { kept = new lease(values.borrow(m)); });
    delete kept;
  });
}

TEST_CASE("a pool is attached to a runtime once") {
  expect_broken_contract("a pool is attached to a runtime once", [] {
    runtime rt;
    rt.attach(rt.compute());
  });
}

TEST_CASE("a pure function has a name") {
  expect_broken_contract("a pure function has a name", [] {
    static constexpr posse::pure<[](member&) { return 1; }> nameless{nullptr};
    runtime rt;
    nameless(rt);
  });
}
