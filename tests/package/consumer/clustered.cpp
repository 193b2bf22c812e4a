// A batch in this process: no server, no CAF.

#include <basal/cluster/cluster.hpp>

#include <cstdio>
#include <vector>

namespace {

long square(basal::posse::member&, int x) {
  return long{x} * x;
}

constexpr basal::posse::pure<square> pure_square{"square"};

} // namespace

int main() {
  basal::cluster::coordinator coordinator{{.executors = 2}};
  const auto squares = map(coordinator, pure_square, std::vector<int>{3, 4});
  std::printf("%ld %ld\n", squares[0], squares[1]);
  return squares == std::vector<long>{9, 16} ? 0 : 1;
}
