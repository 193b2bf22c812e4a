// Algorithms over ranges. Their first argument says who computes: a runtime, as here, the self of a
// handler, or the member of a computation that they are part of.
#include <basal/posse/posse.hpp>

#include <iostream>
#include <numeric>
#include <vector>

namespace posse = basal::posse;

int main() {
  posse::runtime runtime; // one executor for each usable CPU
  std::vector<int> numbers(1'000'000);
  std::iota(numbers.begin(), numbers.end(), 0);

  const auto squares = posse::map(runtime, numbers, [](int x) { return long{x} * x; });
  std::cout << "sum of squares: " << posse::reduce(runtime, squares, 0L) << '\n';

  const auto odd = posse::filter(runtime, numbers, [](int x) { return x % 2 != 0; });
  std::cout << "odd numbers: " << odd.size() << '\n';

  posse::for_each(runtime, numbers, [](int& x) { x = static_cast<int>(x * 7919L % 1'000'003); });
  posse::sort(runtime, numbers);
  std::cout << "the greatest: " << numbers.back() << '\n';
}
