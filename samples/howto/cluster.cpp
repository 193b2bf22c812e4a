// Primes below a million, counted in pieces. `howto_cluster` does so in this process,
// `howto_cluster ADDRESS` has it done by the workers of a nats-server, and
// `howto_cluster ADDRESS --serve` is one of them, until Ctrl-C.
#include <basal/cluster/cluster.hpp>

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

struct piece {
  std::uint32_t first;
  std::uint32_t last;
};

template <class Fields>
auto inspect(Fields& f, piece& p) { // the fields that travel
  return f(p.first, p.last);
}

std::uint32_t primes(basal::posse::member& m, const piece& p) {
  std::uint32_t found = 0;
  for (auto n = p.first; n < p.last; ++n) {
    m.poll();
    std::uint32_t divisor = 2;
    while (divisor * divisor <= n && n % divisor != 0)
      ++divisor;
    found += n > 1 && divisor * divisor > n ? 1 : 0;
  }
  return found;
}

inline constexpr basal::posse::pure<primes> pure_primes{"primes"};

int main(int count, char** arguments) {
  const std::string address = count > 1 ? arguments[1] : "local"; // this process
  try {
    if (count > 2) {
      const basal::cluster::termination_signals signals;
      basal::cluster::registry functions;
      functions.add(pure_primes);
      basal::cluster::serve(functions,
                            {.connection = {.address = address}, .stop = signals.token()});
      return 0;
    }
    std::vector<piece> pieces;
    for (std::uint32_t first = 0; first < 1'000'000; first += 10'000)
      pieces.push_back({first, first + 10'000});
    basal::cluster::coordinator coordinator{{.connection = {.address = address}}};
    std::uint64_t sum = 0;
    const auto done = map(
      coordinator, pure_primes, pieces, [&](std::uint64_t, std::uint32_t n) { sum += n; },
      {.journal = address == "local" ? "" : "primes.journal"}); // after kill -9, goes on from there
    std::cout << sum << " primes; " << done.results << " of " << done.items
              << " pieces have results, " << done.mismatches << " mismatches\n";
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
