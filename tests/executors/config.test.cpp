#include <basal/executors/config.hpp>
#include <basal/executors/detail/stack_pool.hpp>
#include <basal/executors/executor_pool.hpp>

#include "support/catch.hpp"

#include <cstring>
#include <limits>
#include <string>

using namespace basal::executors;

namespace {

std::string error_of(const pool_config& config) {
  try {
    executor_pool pool{config};
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

} // namespace

TEST_CASE("a pool's configuration error names the field, the value and the range") {
  pool_config config;
  config.name = "p";
  config.executors = 0;
  CHECK(error_of(config) == "basal: pool \"p\": executors is 0; it must be between 1 and 4096");
  config.executors = 5000;
  CHECK(error_of(config) == "basal: pool \"p\": executors is 5000; it must be between 1 and 4096");
  config.executors = 1;
  config.stack_bytes = 100;
  CHECK(error_of(config)
        == "basal: pool \"p\": stack_bytes is 100; it must be between 65536 and 1073741824");
  config.stack_bytes = std::numeric_limits<std::size_t>::max(); // -1, to some
  CHECK(error_of(config).find("between 65536 and 1073741824") != std::string::npos);
  config.stack_bytes = 65536;
  config.quantum = std::chrono::seconds{2};
  CHECK(
    error_of(config)
    == "basal: pool \"p\": quantum is 2000000000 ns; it must be between 1000 and 1000000000 ns");
  config.quantum = std::chrono::microseconds{200};
  config.steal_after = std::chrono::nanoseconds{-1};
  CHECK(error_of(config)
        == "basal: pool \"p\": steal_after is -1 ns; it must be between 0 and 1000000000 ns");
  config.steal_after = std::chrono::nanoseconds{0};
  config.spin = std::chrono::seconds{2};
  CHECK(error_of(config)
        == "basal: pool \"p\": spin is 2000000000 ns; it must be between 0 and 1000000000 ns");
  config.spin = std::chrono::microseconds{12};
  config.look_worth = std::chrono::nanoseconds{-1};
  CHECK(error_of(config)
        == "basal: pool \"p\": look_worth is -1 ns; it must be between 0 and 1000000000 ns");
  config.look_worth = std::chrono::nanoseconds{0};
  config.background_after = std::chrono::hours{2};
  CHECK(error_of(config)
        == "basal: pool \"p\": background_after is 7200000000000 ns; it must be between 0 and "
           "3600000000000 ns");
  config.background_after = std::chrono::nanoseconds{0};
  config.name = "much too long";
  CHECK(error_of(config)
        == "basal: pool \"much too long\": name is \"much too long\"; it must be 1 to 11 "
           "characters long");
  config.name = "fine";
  CHECK(error_of(config).empty());
}

TEST_CASE("the usable CPUs are at least one") {
  CHECK(usable_cpus() >= 1);
}

TEST_CASE("stacks are writable to their last byte and reused") {
  stack_pool stacks{100'000};
  CHECK(stacks.stack_bytes() % 4096 == 0);
  CHECK(stacks.stack_bytes() >= 100'000);
  auto a = stacks.acquire();
  std::memset(a.base, 1, a.bytes);
  auto b = stacks.acquire();
  CHECK(a.base != b.base);
  CHECK(stacks.mapped() == 2);
  stacks.release(a);
  CHECK(stacks.acquire().base == a.base);
  CHECK(stacks.mapped() == 2);
  stacks.release(a);
  stacks.release(b);
}
