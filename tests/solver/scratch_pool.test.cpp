#include <basal/solver/detail/scratch_pool.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

using basal::solver::scratch_pool;

TEST_CASE("after the first lease of a size none allocates") {
  scratch_pool pool{1 << 20};
  for (int i = 0; i < 10'000; ++i) {
    auto a = pool.acquire(10'000);
    auto b = pool.acquire(10'000);
    REQUIRE(a);
    REQUIRE(b);
    a->bytes()[0] = std::byte{1};
  }
  CHECK(pool.stats().misses == 2);
  CHECK(pool.stats().hits == 19'998);
  CHECK(pool.stats().bytes == 2 * 16'384);
}

TEST_CASE("a lease has the bytes asked for, aligned for vectors, and shares none of them") {
  scratch_pool pool{1 << 22};
  std::vector<scratch_pool::lease> leases;
  for (std::size_t bytes : {1u, 63u, 64u, 4096u, 4097u, 100'000u, 8192u}) {
    auto lease = pool.acquire(bytes);
    REQUIRE(lease);
    CHECK(lease->bytes().size() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(lease->bytes().data()) % 64 == 0);
    std::memset(lease->bytes().data(), static_cast<int>(leases.size()), bytes);
    leases.push_back(std::move(*lease));
  }
  for (std::size_t i = 0; i < leases.size(); ++i)
    for (auto byte : leases[i].bytes())
      REQUIRE(byte == static_cast<std::byte>(i));
}

TEST_CASE("idle and lent blocks together stay within the limit") {
  scratch_pool pool{64 * 1024};
  std::vector<scratch_pool::lease> lent;
  for (int i = 0; i < 16; ++i) {
    auto lease = pool.acquire(4096);
    REQUIRE(lease);
    lent.push_back(std::move(*lease));
  }
  CHECK(pool.stats().bytes == 64 * 1024);
  CHECK_FALSE(pool.acquire(1));
  CHECK(pool.stats().refused == 1);
  lent.pop_back();
  CHECK(pool.acquire(1));
  SECTION("blocks of other sizes that are idle make room") {
    lent.clear();
    CHECK(pool.stats().bytes == 64 * 1024);
    auto big = pool.acquire(64 * 1024);
    CHECK(big);
    CHECK(pool.stats().bytes == 64 * 1024);
    CHECK_FALSE(pool.acquire(1));
  }
}

TEST_CASE("what can never be lent is refused, and takes nothing") {
  scratch_pool pool{1 << 16};
  auto kept = pool.acquire(100);
  CHECK_FALSE(pool.acquire((1 << 16) + 1));
  CHECK_FALSE(pool.acquire(~std::size_t{0}));
  CHECK(pool.stats().bytes == 4096);
  CHECK(scratch_pool{0}.acquire(0));
  CHECK_FALSE(scratch_pool{0}.acquire(1));
}

TEST_CASE("more blocks than the table has are refused, not lost") {
  scratch_pool pool{std::size_t{1} << 30};
  {
    std::vector<scratch_pool::lease> lent;
    while (auto lease = pool.acquire(1))
      lent.push_back(std::move(*lease));
    CHECK(lent.size() == scratch_pool::max_blocks);
  }
  CHECK(pool.acquire(1 << 20)); // an idle block gives up its place
}

TEST_CASE("threads never hold the same block, and lose none") {
  constexpr std::size_t limit = 6 * 4096 + 8192;
  scratch_pool pool{limit};
  std::atomic<bool> clash{false};
  std::atomic<std::uint64_t> leases{0};
  std::vector<std::thread> threads;
  for (unsigned t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 50'000; ++i) {
        auto lease = pool.acquire(i % 7 == 0 ? 8192 : 64); // two sizes that evict each other
        if (!lease)
          continue;
        auto* word = reinterpret_cast<volatile std::uint64_t*>(lease->bytes().data());
        *word = (std::uint64_t{t} << 32) + i;
        if (*word != (std::uint64_t{t} << 32) + i)
          clash = true;
        leases.fetch_add(1, std::memory_order_relaxed);
      }
    });
  for (auto& t : threads)
    t.join();
  CHECK_FALSE(clash);
  auto stats = pool.stats();
  CHECK(stats.hits + stats.misses == leases);
  CHECK(stats.hits + stats.misses + stats.refused == 200'000);
  CHECK(stats.bytes <= limit);
  // Everything that was lent is there: it can all be given back for one block.
  CHECK(pool.acquire(16'384));
}
