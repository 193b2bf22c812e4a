// CAF 0.17.6 writes a double by arithmetic (caf/detail/ieee_754.hpp: pack754), which knows no
// special values: it divides an infinite one by two for ever, in the one thread that all
// connections of a process share. If these cases fail, CAF has been mended, and wire.hpp need not
// refuse doubles any more.
#include "support/catch.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

double sent_and_received(double x) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  std::vector<char> bytes;
  caf::binary_serializer sink{system, bytes};
  REQUIRE(!sink(x));
  caf::binary_deserializer source{system, bytes};
  double y = 0;
  REQUIRE(!source(y));
  return y;
}

std::uint64_t bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

} // namespace

TEST_CASE("CAF changes NaN, -0.0 and subnormal numbers on the wire, and keeps normal ones") {
  using limits = std::numeric_limits<double>;
  for (double kept : {0.1, -1e300, limits::min(), limits::max(), 0.0})
    CHECK(bits(sent_and_received(kept)) == bits(kept));
  CHECK(bits(sent_and_received(-0.0)) == bits(0.0));
  CHECK(!std::isnan(sent_and_received(limits::quiet_NaN())));
  CHECK(bits(sent_and_received(1e-310)) != bits(1e-310));
  CHECK(bits(sent_and_received(limits::denorm_min())) != bits(limits::denorm_min()));
}

TEST_CASE("CAF never ends with an infinite number") {
  caf::actor_system_config config;
  const auto child = fork(); // before any thread of CAF
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    const rlimit seconds{1, 1};
    setrlimit(RLIMIT_CPU, &seconds);
    std::vector<char> bytes;
    caf::binary_serializer sink{nullptr, bytes};
    double infinite = std::numeric_limits<double>::infinity();
    static_cast<void>(sink(infinite));
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
}
