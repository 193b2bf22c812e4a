// A shared library of somebody else's, which runs on the runtime that its caller has.

#include "user_library.hpp"

#include <basal/posse/posse.hpp>

namespace {

long fib(basal::posse::member& m, int n) {
  if (n < 0)
    throw basal::posse::cancelled{basal::posse::cancel_reason::stop_requested};
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](auto& left) { return fib(left, n - 1); },
                             [=](auto& right) { return fib(right, n - 2); });
  return a + b;
}

constexpr basal::posse::pure<fib> pure_fib{"fib"};

} // namespace

long library_fib(basal::posse::runtime& runtime, int n) {
  return pure_fib(runtime, n);
}
