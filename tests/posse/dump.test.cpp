// Computations in a dump: who stole from whom, what runs where, and what is suspended.

#include <basal/executors/completion.hpp>
#include <basal/posse/dump.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace basal;

// ThreadSanitizer keeps the signals of executors that sleep.
#if !defined(__SANITIZE_THREAD__)

namespace {

using executors::completion;

/// The events that the members of the tree wait for.
struct plan {
  std::atomic<int> begun{0};
  std::atomic<bool> stop{false};
  completion left;
  completion middle;
};
plan* now = nullptr;

/// Computes until `count` branches have begun elsewhere.
void compute_until(posse::member& m, int count) {
  while (now->begun.load() < count)
    m.poll();
}

/// Its right branch is stolen, and the right branch of that one.
void tree(posse::member& m) {
  m.fork_merge(
    [](posse::member& left) {
      compute_until(left, 2);
      now->left.wait();
    },
    [](posse::member& middle) {
      now->begun.fetch_add(1);
      middle.fork_merge(
        [](posse::member& left) {
          compute_until(left, 2);
          now->middle.wait();
        },
        [](posse::member&) {
          now->begun.fetch_add(1);
          while (!now->stop.load())
            std::this_thread::yield();
        });
    });
}
constexpr posse::pure<tree> pure_tree{"dumped_tree"};

void waits(posse::member&, completion* event) {
  event->wait();
}
constexpr posse::pure<waits> pure_waits{"dumped_wait"};

std::string dump_of(posse::runtime& runtime) {
  std::vector pools{&runtime.compute()};
  if (auto* callers = runtime.call_executors())
    pools.push_back(callers);
  return posse::dump(pools, std::chrono::seconds{60});
}

/// Dumps until it has `text`, for at most a minute.
std::string dump_with(posse::runtime& runtime, const std::string& text) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  for (;;) {
    auto result = dump_of(runtime);
    if (result.find(text) != std::string::npos)
      return result;
    if (std::chrono::steady_clock::now() > end)
      FAIL("no dump has \"" << text << "\":\n" << result);
  }
}

/// Its lines on computations that begin with `indent` blanks and go on with `text`: how many.
int lines(const std::string& dump, std::size_t indent, const std::string& text) {
  const auto wanted = '\n' + std::string(indent, ' ') + text;
  int count = 0;
  for (auto at = dump.find(wanted); at != std::string::npos; at = dump.find(wanted, at + 1))
    ++count;
  return count;
}

std::string state_of_innermost(const std::string& dump) {
  return dump.substr(dump.find(": ", dump.find("\n    delegate on basal.cpu")), 7);
}

} // namespace

TEST_CASE("a computation is a tree: each delegate stands below its victim, with where and what") {
  plan mine;
  now = &mine;
  posse::runtime_config config;
  config.compute_executors = 3;
  posse::runtime runtime{config};
  std::thread caller{[&] { pure_tree(runtime); }};
  // All have begun, the two victims wait in their left branches, and the innermost one was seen:
  // executors answer at different times.
  auto text = dump_with(runtime, "  delegate on basal.cpu");
  while (lines(text, 0, "dumped_tree on basal.call0: waits for an event, for ") != 1
         || lines(text, 4, "delegate on basal.cpu") != 1
         || text.find(": waits for an event", text.find("\n  delegate")) == std::string::npos
         || state_of_innermost(text) != ": runs\n")
    text = dump_of(runtime);
  INFO(text);
  CHECK(lines(text, 2, "delegate on basal.cpu") == 1);

  // The middle one comes to its merge.
  mine.middle.set();
  text = dump_with(runtime, ": waits for its delegate on basal.cpu");
  CHECK(lines(text, 2, "delegate on basal.cpu") == 1);
  CHECK(lines(text, 4, "delegate on basal.cpu") == 1);

  mine.stop = true;
  text = dump_with(runtime, "has ended, and is to be merged");
  CHECK(lines(text, 0, "dumped_tree on basal.call0: waits for an event, for ") == 1);
  mine.left.set();
  caller.join();
  CHECK(dump_of(runtime).find("dumped_tree") == std::string::npos);
}

TEST_CASE("computations that wait in one piece for the same event are told together") {
  posse::runtime_config config;
  config.compute_executors = 2;
  posse::runtime runtime{config};
  constexpr int count = 20;
  std::vector<completion> events(count);
  std::vector<std::thread> callers;
  for (auto& event : events)
    callers.emplace_back([&] { pure_waits.offload(runtime, &event); });
  const auto text
    = dump_with(runtime, "20 of dumped_wait without delegates, wait for an event, for ");
  CHECK_THAT(text, ContainsSubstring(" on basal.cpu"));
  for (auto& event : events)
    event.set();
  for (auto& caller : callers)
    caller.join();
}

TEST_CASE("a computation that another one calls stands below its caller") {
  posse::runtime_config config;
  config.compute_executors = 1;
  posse::runtime runtime{config};
  completion event;
  std::thread caller{[&] { runtime.run([&](posse::member&) { pure_waits(runtime, &event); }); }};
  const auto text = dump_with(runtime, "\n  dumped_wait on basal.call0: waits for an event, for ");
  CHECK_THAT(text, ContainsSubstring("a computation on basal.call0: has called dumped_wait\n"));
  event.set();
  caller.join();
}

#endif
