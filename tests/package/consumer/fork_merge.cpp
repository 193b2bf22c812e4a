#include <cstdio>

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

int main() {
  basal::posse::runtime runtime{{.compute_executors = 2}};
  const long answer = pure_fib(runtime, 25);
  std::printf("fib(25) = %ld\n", answer);
  return answer == 75025 ? 0 : 1;
}
