// Samples of latencies and what is read from them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace basal::mab::bench {

using std::chrono::nanoseconds;

/// Sorts when it is asked. Not thread-safe.
class samples {
public:
  void add(nanoseconds x) {
    all_.push_back(x);
    sorted_ = false;
  }

  std::size_t size() const {
    return all_.size();
  }

  /// In us. @throws std::runtime_error if there are none
  double percentile_us(std::size_t percent) {
    if (all_.empty())
      throw std::runtime_error("nothing was sampled");
    if (!sorted_)
      std::sort(all_.begin(), all_.end());
    sorted_ = true;
    const auto index = std::min(all_.size() - 1, all_.size() * percent / 100);
    return std::chrono::duration<double, std::micro>{all_[index]}.count();
  }

  void print(const std::string& name) {
    std::cout << std::left << std::setw(32) << name << std::right << std::fixed
              << std::setprecision(1) << "p50 " << std::setw(8) << percentile_us(50) << " us   p95 "
              << std::setw(8) << percentile_us(95) << " us   of " << size() << '\n';
  }

private:
  std::vector<nanoseconds> all_;
  bool sorted_ = false;
};

} // namespace basal::mab::bench
