// Task groups while others steal: trees of random shape whose tasks spawn, fork, take a while and
// fail at random, on 1 to 8 executors with the shortest quantum. Each task runs once unless an
// earlier one fails, and the exception is the sequential program's.

#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include "rounds.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace posse = basal::posse;
using posse::member;
using posse::task_group;
using posse::task_scope;

namespace {

struct node {
  std::vector<std::size_t> children;
  std::chrono::nanoseconds cost{0};
  bool fails = false;
};

struct failure : std::runtime_error {
  explicit failure(std::size_t which) : std::runtime_error(std::to_string(which)) {
  }
};

std::vector<node> random_tree(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::uniform_int_distribution<std::size_t> size{1, 2000};
  std::vector<node> tree(size(random));
  for (std::size_t i = 1; i < tree.size(); ++i) {
    // Old parents get more children: some nodes have hundreds, some paths are long.
    std::uniform_int_distribution<std::size_t> parent{i > 40 ? i - 40 : 0, i - 1};
    tree[seed % 3 == 0 ? i / 50 * (i >= 50) : parent(random)].children.push_back(i);
    tree[i].cost = std::chrono::nanoseconds{random() % 100 == 0 ? 100'000 : random() % 2000};
  }
  if (seed % 2 == 0)
    for (int k = 0; k < 3; ++k)
      tree[random() % tree.size()].fails = true;
  return tree;
}

void visit(const std::vector<node>& tree, std::size_t which, task_group& tasks,
           std::vector<std::atomic<int>>& visits) {
  const auto& n = tree[which];
  for (auto child : n.children)
    tasks.spawn([&tree, &visits, child](task_group& below) { visit(tree, child, below, visits); });
  auto end = std::chrono::steady_clock::now() + n.cost;
  tasks.member().fork_merge(
    [&](member& m) {
      while (std::chrono::steady_clock::now() < end)
        m.poll();
    },
    [&] { visits[which].fetch_add(1, std::memory_order_relaxed); });
  if (n.fails)
    throw failure{which};
}

// The first failure when every node is done before its children, and these in order.
std::string first_failure(const std::vector<node>& tree, std::size_t which) {
  if (tree[which].fails)
    return std::to_string(which);
  for (auto child : tree[which].children)
    if (auto error = first_failure(tree, child); !error.empty())
      return error;
  return "";
}

} // namespace

TEST_CASE("trees of tasks are done as by one thread") {
  for (std::size_t executors : {1, 2, 3, 8}) {
    posse::runtime_config config;
    config.compute_executors = executors;
    config.quantum = posse::runtime_config::min_quantum;
    posse::runtime rt{config};
    for (std::uint64_t seed = 1; seed <= 30 * rounds(); ++seed) {
      INFO("executors " << executors << ", seed " << seed);
      auto tree = random_tree(seed);
      std::vector<std::atomic<int>> visits(tree.size());
      std::string error;
      try {
        task_scope(rt, [&](task_group& tasks) { visit(tree, 0, tasks, visits); });
      } catch (const failure& f) {
        error = f.what();
      }
      REQUIRE(error == first_failure(tree, 0));
      for (auto& v : visits)
        REQUIRE((error.empty() ? v == 1 : v <= 1));
    }
    if (executors != 1)
      CHECK(rt.stats().thefts > 0);
  }
}
