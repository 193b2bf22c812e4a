// Many actors: a ring, a tree, a fan-in, and bursts to actors that come and go.
#include "scenarios.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <cstdint>
#include <string>

namespace conformance {

namespace {

using caf::actor;
using caf::behavior;
using caf::event_based_actor;
using section = transcript::section;

using done_atom = caf::atom_constant<caf::atom("done")>;
using hop_atom = caf::atom_constant<caf::atom("hop")>;

behavior ring_node(event_based_actor* self, const actor& next) {
  return {[=](hop_atom tag, int left, const actor& report) {
            if (left == 0)
              self->send(report, done_atom::value, self->id() != 0);
            else
              self->send(next, tag, left - 1, report);
          },
          [=](done_atom tag) {
            self->send(next, tag);
            self->quit();
          }};
}

// Sums the leaves of a binary tree of actors, each spawned by its parent's handler.
behavior tree_node(event_based_actor* self, const actor& parent, std::uint64_t depth,
                   std::uint64_t label) {
  if (depth == 0) {
    self->send(parent, label);
    self->quit();
    return {};
  }
  self->spawn(tree_node, actor{self}, depth - 1, 2 * label);
  self->spawn(tree_node, actor{self}, depth - 1, 2 * label + 1);
  auto sum = std::make_shared<std::uint64_t>(0);
  auto missing = std::make_shared<int>(2);
  return {[=](std::uint64_t part) {
    *sum += part;
    if (--*missing == 0) {
      self->send(parent, *sum);
      self->quit();
    }
  }};
}

void sender(event_based_actor* self, const actor& sink, int id, int count) {
  for (int i = 0; i < count; ++i)
    self->send(sink, id, i);
}

// Counts, and checks that each sender's messages arrive in the order of sending.
behavior fan_in(event_based_actor* self, const actor& report, int senders, int count) {
  auto next = std::make_shared<std::vector<int>>(static_cast<std::size_t>(senders), 0);
  auto left = std::make_shared<int>(senders * count);
  auto disorder = std::make_shared<int>(0);
  return {[=](int id, int i) {
    auto& expected = (*next)[static_cast<std::size_t>(id)];
    *disorder += i != expected++;
    if (--*left == 0) {
      self->send(report, *disorder);
      self->quit();
    }
  }};
}

} // namespace

void crowds(caf::actor_system& system, transcript& out) {
  auto& log = out.begin("crowds");
  {
    caf::scoped_actor self{system};
    constexpr int ring_size = 200;
    constexpr int hops = 20'000;
    auto last = self->spawn(ring_node, actor{});
    auto node = last;
    std::vector<actor> nodes{node};
    for (int i = 1; i < ring_size; ++i)
      nodes.push_back(node = self->spawn(ring_node, node));
    // The chain's end answers: its successor is no actor.
    self->send(node, hop_atom::value, ring_size - 1, actor{self});
    self->receive([&](done_atom, bool) { log.line("once around the ring"); });
    self->send(node, done_atom::value);
    for (const auto& each : nodes)
      self->wait_for(each);
    nodes.clear();
    auto ping = self->spawn([](event_based_actor* me) -> behavior {
      return {[me](hop_atom tag, int left, const actor& other, const actor& report) {
        if (left == 0)
          me->send(report, done_atom::value);
        else
          me->send(other, tag, left - 1, actor{me}, report);
        if (left <= 1)
          me->quit();
      }};
    });
    auto pong = self->spawn([](event_based_actor* me) -> behavior {
      return {[me](hop_atom tag, int left, const actor& other, const actor& report) {
        me->send(other, tag, left - 1, actor{me}, report);
        if (left <= 2)
          me->quit();
      }};
    });
    self->send(ping, hop_atom::value, hops, pong, actor{self});
    self->receive([&](done_atom) { log.line("ping pong"); });
    constexpr std::uint64_t depth = 10;
    self->spawn(tree_node, actor{self}, depth, std::uint64_t{1});
    self->receive([&](std::uint64_t sum) { log.line("tree " + std::to_string(sum)); });
    constexpr int senders = 20;
    constexpr int count = 500;
    auto sink = self->spawn(fan_in, actor{self}, senders, count);
    for (int id = 0; id < senders; ++id)
      self->spawn(sender, sink, id, count);
    self->receive([&](int disorder) { log.line("fan-in, disorder " + std::to_string(disorder)); });
  }
  system.await_all_actors_done();
}

} // namespace conformance
