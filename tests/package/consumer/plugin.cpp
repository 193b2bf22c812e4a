#include <basal/posse/posse.hpp>

namespace {

long fib(basal::posse::member& m, int n) {
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](auto& left) { return fib(left, n - 1); },
                             [=](auto& right) { return fib(right, n - 2); });
  return a + b;
}

constexpr basal::posse::pure<fib> pure_fib{"fib"};

} // namespace

extern "C" long plugin_fib(int n) {
  basal::posse::runtime runtime{{.compute_executors = 2}};
  return pure_fib(runtime, n);
}
