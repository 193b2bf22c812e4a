#include <cstdio>

#include <basal/posse/gc/gc.hpp>
#include <basal/posse/ord_map.hpp>
#include <basal/posse/posse.hpp>

int main() {
  using map = basal::posse::ord_map<int, int>;
  basal::posse::runtime runtime{{.compute_executors = 2}};
  const map odd = map{}.insert(1, 10).insert(3, 30);
  const map even = map{}.insert(2, 20);
  const map both = runtime.run([&](basal::posse::member& m) { return set_union(m, odd, even); });
  basal::posse::gc::collect();
  std::printf("%zu entries\n", both.size());
  return both.reduce(0, [](int a, int b) { return a + b; }) == 60 ? 0 : 1;
}
