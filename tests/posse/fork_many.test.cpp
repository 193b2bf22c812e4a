// fork_merge with three and more branches, and branches that take no member: what it returns, the
// order of calls and of thefts, whose exception comes out.

#include "stepped_runtime.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

using namespace basal::posse;
using namespace basal::test;

namespace {

runtime_config config_of(std::size_t executors) {
  runtime_config config;
  config.compute_executors = executors;
  config.quantum = runtime_config::min_quantum;
  return config;
}

// The leaves of a tree in which each node has three branches.
long leaves(member& m, int depth) {
  if (depth == 0)
    return 1;
  auto [a, b, c] = m.fork_merge([=](member& k) { return leaves(k, depth - 1); },
                                [=](member& k) { return leaves(k, depth - 1); },
                                [=](member& k) { return leaves(k, depth - 1); });
  return a + b + c;
}

constexpr pure<leaves> pure_leaves{"leaves"};

} // namespace

TEST_CASE("many branches run in order and return a tuple") {
  runtime rt{config_of(1)};
  std::string order;
  auto all = rt.run([&](member& m) {
    auto named = [&] {
      order += 'c';
      return std::string{"three"};
    };
    return m.fork_merge(
      [&](member&) {
        order += 'a';
        return 1;
      },
      [&](member&) { order += 'b'; }, named,
      [&]() {
        order += 'd';
        return std::make_unique<int>(4);
      },
      [&](member& k) {
        order += 'e';
        return k.fork_merge([] { return 5; }, [] { return 6; }).second;
      });
  });
  CHECK(order == "abcde");
  CHECK(std::get<0>(all) == 1);
  CHECK(std::get<1>(all) == std::monostate{});
  CHECK(std::get<2>(all) == "three");
  CHECK(*std::get<3>(all) == 4);
  CHECK(std::get<4>(all) == 6);
}

TEST_CASE("branches, and what run() calls, need not take a member") {
  runtime rt{config_of(2)};
  CHECK(rt.run([] { return 3; }) == 3);
  CHECK(rt.offload([] { return 4; }) == 4);
  auto both
    = rt.run([](member& m) { return m.fork_merge([] { return 1; }, [](member&) { return 2.5; }); });
  CHECK(both.first == 1);
  CHECK(both.second == 2.5);
}

TEST_CASE("a tree of three branches a node gives the sequential result on 1 to 4 executors") {
  for (std::size_t executors = 1; executors <= 4; ++executors) {
    runtime rt{config_of(executors)};
    CHECK(pure_leaves(rt, 12) == 531'441);
  }
}

TEST_CASE("of five branches the last two are stolen first, then the third, then the second") {
  stepped_runtime host{stepped(4)};
  std::string log;
  auto note = [&](char branch) {
    return
      [&log, branch](member& m) { log += branch + std::to_string(m.executor().index()) + ' '; };
  };
  started root{host, 0, [&](member& m) {
                 m.fork_merge(
                   [](member& k) {
                     for (int quanta = 0; quanta < 3; ++quanta)
                       end_quantum(k);
                   },
                   note('b'), note('c'), note('d'), note('e'));
               }};
  host.run(0);
  CHECK(host->stats().thefts == 3);
  for (std::size_t thief = 1; thief != 4; ++thief)
    host.run(thief);
  host.run(0);
  CHECK(log == "d1 e1 c2 b3 ");
  CHECK(root.has_ended());
}

TEST_CASE("the first exception in the order of branches comes out") {
  for (std::size_t executors : {1, 3}) {
    runtime rt{config_of(executors)};
    for (int failing = 0; failing < 5; ++failing) {
      auto branch = [=](int i) {
        return [=](member& m) {
          const int turns = executors == 1 ? 1 : 2000 * (5 - i);
          for (int turn = 0; turn < turns; ++turn)
            m.poll();
          if (i >= failing)
            throw std::runtime_error(std::to_string(i));
          return i;
        };
      };
      std::string error;
      try {
        rt.run(
          [&](member& m) { m.fork_merge(branch(0), branch(1), branch(2), branch(3), branch(4)); });
      } catch (const std::runtime_error& e) {
        error = e.what();
      }
      CHECK(error == std::to_string(failing));
    }
  }
}

TEST_CASE("many branches end at a cancellation") {
  runtime rt{config_of(2)};
  CHECK_THROWS_AS(rt.run([&](member& m) {
    auto forever = [](member& k) {
      for (;;)
        k.poll();
    };
    m.fork_merge([&] { rt.cancel(); }, forever, forever);
  }),
                  cancelled);
}
