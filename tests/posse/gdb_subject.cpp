// The program under gdb_script.sh: a computation with a delegate, and a delegate of that one.

#include <basal/executors/completion.hpp>
#include <basal/posse/posse.hpp>

#include <atomic>
#include <thread>

namespace {

using namespace basal;

std::atomic<int> begun{0};
std::atomic<bool> go_on{false};
executors::completion events[2];

void compute_until(posse::member& m, int count) {
  while (begun.load() < count)
    m.poll();
}

void middle(posse::member& m) {
  begun.fetch_add(1);
  m.fork_merge(
    [](posse::member& left) {
      compute_until(left, 2);
      events[1].wait();
    },
    [](posse::member&) {
      begun.fetch_add(1);
      while (!go_on.load())
        std::this_thread::yield();
    });
}

void tree(posse::member& m) {
  m.fork_merge(
    [](posse::member& left) {
      compute_until(left, 2);
      events[0].wait();
    },
    middle);
}
constexpr posse::pure<tree> pure_tree{"subject_tree"};

} // namespace

/// gdb stops here.
extern "C" [[gnu::noinline, gnu::used]] void everybody_has_begun() {
  asm volatile("" ::: "memory");
}

int main() {
  posse::runtime_config config;
  config.compute_executors = 3;
  posse::runtime runtime{config};
  std::thread caller{[&] { pure_tree(runtime); }};
  const auto& pool = runtime.compute();
  while (begun.load() < 2)
    std::this_thread::yield();
  // The two that wait have left their fibers when their executors are idle.
  while (!runtime.call_executors()->is_idle(0)
         || pool.is_idle(0) + pool.is_idle(1) + pool.is_idle(2) < 2)
    std::this_thread::yield();
  everybody_has_begun();
  go_on = true;
  for (auto& event : events)
    event.set();
  caller.join();
}
