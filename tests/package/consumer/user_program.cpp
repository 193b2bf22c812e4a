// A program and its library use one basal: the runtime of the one runs the functions of the other,
// and an error of the other is of the type that the one catches.

#include "user_library.hpp"

#include <basal/posse/posse.hpp>

#include <cstdio>

int main() {
  basal::posse::runtime runtime{{.compute_executors = 2}};
  const long answer = library_fib(runtime, 25);
  std::printf("fib(25) = %ld\n", answer);
  try {
    library_fib(runtime, -1);
  } catch (const basal::posse::cancelled& e) {
    std::printf("fib(-1): %s\n", e.what());
    return answer == 75025 && e.reason() == basal::posse::cancel_reason::stop_requested ? 0 : 1;
  }
  return 1;
}
