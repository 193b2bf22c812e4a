#include <basal/executors/executor_pool.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <atomic>

using namespace basal;

namespace {

// A computation that goes on until one of its continuations was stolen.
struct restless {
  posse::runtime& rt;
  executors::completion done;
  executors::inbox_node node;

  explicit restless(posse::runtime& host) : rt(host) {
    node.item = {this, &ops};
  }

  static const executors::work_ops ops;
};

constexpr executors::work_ops restless::ops{
  [](void* object, executors::executor&) noexcept {
    auto& self = *static_cast<restless*>(object);
    self.rt.run([&](posse::member& m) {
      auto poll_until_theft = [&](posse::member& k) {
        while (self.rt.stats().thefts == 0)
          k.poll();
      };
      m.fork_merge(poll_until_theft, [](posse::member&) {});
    });
    self.done.set();
  },
  nullptr,
};

} // namespace

// "Whole actors before continuations" once counted everything that waited on the
// executor. Two computations that take turns there wait for each other all the
// time, and no sibling can take a fiber: so nothing was ever stolen from either
// while an executor slept.
TEST_CASE("computations that take turns on one executor are stolen from all the same") {
  executors::pool_config config;
  config.name = "clients";
  config.executors = 2;
  executors::executor_pool clients{config};
  posse::runtime_config compute;
  compute.compute_executors = 1;
  compute.quantum = posse::runtime_config::min_quantum;
  compute.simulate.cpus = 2; // else, where there is one, it has no use for a thief
  posse::runtime rt{compute};
  rt.attach(clients);
  restless first{rt};
  restless second{rt};
  auto* idle = clients.claim_idle();
  while (idle == nullptr)
    idle = clients.claim_idle();
  struct both {
    restless& first;
    restless& second;
  } pair{first, second};
  static constexpr executors::work_ops start{
    [](void* object, executors::executor& self) noexcept {
      auto& p = *static_cast<both*>(object);
      self.push_pinned(p.first.node);
      self.push_pinned(p.second.node);
    },
    nullptr,
  };
  executors::inbox_node node{nullptr, {&pair, &start}};
  clients.deliver_claimed(*idle, node);
  first.done.wait();
  second.done.wait();
  CHECK(rt.stats().thefts > 0);
  clients.stop(executors::stop_mode::drain);
}
