// How often each byte occurs in 4 MB, by blocks of 16 KiB: values of 1 KiB that
// are cheap to add.

#include "bench/posse/block_sums.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using namespace basal;

using counts = std::array<std::uint32_t, 256>;

constexpr std::size_t block_bytes = 16 << 10;

const bench::suite histogram_suite{[](bench::plan& plan) {
  constexpr std::size_t blocks = 256;
  auto bytes = std::make_shared<std::vector<std::uint8_t>>();
  // Twice as many of the even ones as of the odd ones: a third and two thirds of 2^22.
  bench::program<bool> program{plan, "histogram", std::to_string(blocks * block_bytes), true};
  program.setup([=] {
    bytes->resize(blocks * block_bytes);
    for (std::size_t i = 0; i < bytes->size(); ++i) {
      const auto x = static_cast<std::uint8_t>(i * 2654435761u >> 13);
      (*bytes)[i] = static_cast<std::uint8_t>(i % 4 == 0 ? x & 0xfe : x);
    }
  });
  bench::add_block_sum_cases<counts>(
    program, blocks,
    [=](std::size_t block) {
      counts c{};
      const auto* from = bytes->data() + block * block_bytes;
      for (std::size_t i = 0; i < block_bytes; ++i)
        ++c[from[i]];
      return c;
    },
    [](counts& sum, const counts& more) {
      for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] += more[i];
    },
    [=](const counts& c) {
      // A few bytes counted one by one, and all of them together.
      std::uint64_t all = 0;
      for (auto n : c)
        all += n;
      return all == bytes->size() && c[0] > c[1]
             && c[77] == static_cast<std::uint32_t>(std::count(bytes->begin(), bytes->end(), 77));
    });
}};

} // namespace
