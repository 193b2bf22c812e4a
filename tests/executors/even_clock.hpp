#pragma once

#include <basal/executors/config.hpp>

#include <cstdint>

namespace basal::test {

/// Gives a pool's executor a clock by which all looks are equally far apart, whoever else has the
/// CPU or asks for the time meanwhile: each thread has its own.
inline void use_even_clock(executors::pool_config& config) {
  config.simulate.ticks = []() noexcept -> std::uint64_t {
    thread_local std::uint64_t time = 1;
    return time += 1000; // some 0.4 us
  };
}

} // namespace basal::test
