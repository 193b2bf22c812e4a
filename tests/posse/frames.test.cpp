// Recursion that forks on the way down ends in the error that says so, whatever the size of the
// frames and of those before them: it never runs into the guard, which would end the program.

#include <basal/executors/completion.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>

using namespace basal::posse;
namespace executors = basal::executors;

namespace {

// A level of recursion whose frame has `Bytes` bytes beside what a fork needs; both ends are
// touched, the lower one first.
template <std::size_t Bytes>
[[gnu::noinline]] long level(member& m, long more) {
  volatile char frame[Bytes];
  frame[0] = 1;
  frame[Bytes - 1] = 1;
  if (more == 0)
    return 0;
  auto [a, b] = m.fork_merge([=](member& k) { return level<Bytes>(k, more - 1); },
                             [](member&) { return 1L; });
  return a + b + frame[Bytes / 2] * 0;
}

[[gnu::noinline]] long fib(member& m, long n) {
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](member& k) { return fib(k, n - 1); },
                             [=](member& k) { return fib(k, n - 2); });
  return a + b;
}

// As a sequential program, with `bytes` of the stack in use, so that little of it is left.
template <class Body>
[[gnu::noinline]] long deep_down(std::size_t bytes, Body body) {
  volatile char frame[4096];
  frame[0] = 1;
  return (bytes <= sizeof frame ? body() : deep_down(bytes - sizeof frame, body)) + frame[0] - 1;
}

constexpr long for_ever = 1L << 40;

// ThreadSanitizer keeps the whole stack for each word of a recording that is first written there:
// gigabytes in recursion as deep as this.
#ifdef __SANITIZE_THREAD__
constexpr bool records = false;
#else
constexpr bool records = true;
#endif

struct beginning {
  const char* name;
  long shallow_forks;     // to learn small frames from
  std::size_t deep_bytes; // on the stack before the first fork
};

constexpr beginning beginnings[] = {
  {"at once", 0, 0},
  {"after shallow forks", 25, 0},
  {"deep down", 0, 7 << 20},
  {"deep down, after shallow forks", 25, 7 << 20},
  {"at the very end of the stack", 0, (8 << 20) - 4096},
};

template <std::size_t Bytes>
std::string what_becomes_of(member& m, const beginning& b) {
  try {
    deep_down(b.deep_bytes, [&] {
      fib(m, b.shallow_forks);
      return level<Bytes>(m, for_ever);
    });
    return "no error";
  } catch (const memory_limit_exceeded&) {
    return "typed error";
  }
}

template <std::size_t Bytes>
void end_in_the_typed_error(runtime& rt) {
  CAPTURE(Bytes);
  for (const auto& b : beginnings) {
    CAPTURE(b.name);
    CHECK(rt.run([&](member& m) { return what_becomes_of<Bytes>(m, b); }) == "typed error");
  }
}

void all_frames_end_in_the_typed_error(runtime& rt) {
  end_in_the_typed_error<100>(rt);
  end_in_the_typed_error<400>(rt);
  end_in_the_typed_error<800>(rt);
  end_in_the_typed_error<2000>(rt);
  end_in_the_typed_error<8000>(rt);
  end_in_the_typed_error<20'000>(rt);
  end_in_the_typed_error<60'000>(rt);
}

} // namespace

TEST_CASE("frames of any size at every fork end in the typed error, in the root of a computation") {
  runtime rt{{.compute_executors = 1, .record = records}};
  all_frames_end_in_the_typed_error(rt);
}

TEST_CASE("and in a delegate") {
  runtime rt{{.compute_executors = 2, .record = records}};
  for (const auto& b : beginnings) {
    CAPTURE(b.name);
    std::atomic<bool> stolen{false};
    std::string of_small;
    std::string of_large;
    rt.run([&](member& m) {
      m.fork_merge(
        [&](member& k) { // until somebody has taken the other branch
          while (!stolen)
            k.poll();
        },
        [&](member& k) {
          stolen = true;
          of_small = what_becomes_of<800>(k, b);
          of_large = what_becomes_of<60'000>(k, b);
        });
    });
    CHECK(of_small == "typed error");
    CHECK(of_large == "typed error");
    CHECK(rt.stats().thefts > 0);
  }
}

TEST_CASE("and on the executors of another pool, whatever they run") {
  runtime rt{{.compute_executors = 1, .record = records}};
  executors::pool_config messages;
  messages.name = "test.msg";
  messages.record = records;
  executors::executor_pool pool{messages};
  rt.attach(pool);
  struct call {
    runtime& host;
    executors::completion done;
    std::exception_ptr failed;
  } a_call{rt, {}, nullptr};
  static constexpr executors::work_ops ops{
    [](void* object, executors::executor&) noexcept {
      auto& c = *static_cast<call*>(object);
      try {
        all_frames_end_in_the_typed_error(c.host);
      } catch (...) {
        c.failed = std::current_exception();
      }
      c.done.set();
    },
    nullptr,
  };
  REQUIRE(pool.submit({&a_call, &ops}));
  a_call.done.wait();
  CHECK(a_call.failed == nullptr);
  pool.stop(executors::stop_mode::drain);
  rt.stop(executors::stop_mode::drain);
}

TEST_CASE("and on the smallest stacks") {
  runtime rt{{.compute_executors = 1,
              .stack_bytes = executors::stack_pool::min_stack_bytes,
              .record = records}};
  for (const auto& b : {beginnings[0], beginnings[1]}) {
    CAPTURE(b.name);
    CHECK(rt.run([&](member& m) { return what_becomes_of<100>(m, b); }) == "typed error");
    CHECK(rt.run([&](member& m) { return what_becomes_of<60'000>(m, b); }) == "typed error");
  }
}
