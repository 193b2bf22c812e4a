// Rows of short computations that fork, one after the other, each some 50 us when it runs
// serially: a Fourier transform of 1024 numbers (recursive, with serial leaves of 64), and a merge
// of 500 sorted lists in a tree (with leaves of four lists). So short a computation is divided only
// if it is known at its first fork that this pays, and each is a call of its own: what counts is
// what is remembered from one to the next.

#include "bench/posse/fork.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

namespace {

using namespace basal;

constexpr int row = 64;

// Cases of a row of `data.run(fork)`, whose answer is data.is_right(). Clearing what it writes and
// looking at it is timed, too, in all of them.
template <class Data>
void add_row(bench::plan& plan, const char* name, std::size_t size) {
  bench::program<bool> program{plan, name, std::to_string(size), true};
  auto data = std::make_shared<Data>();
  const auto row_of = [=](auto run) {
    bool right = true;
    for (int i = 0; i < row; ++i) {
      data->clear();
      run(*data);
      right = data->is_right() && right;
    }
    return right;
  };
  program.serial([=] { return row_of([](Data& d) { d.run(bench::serial_fork{}); }); });
  program.basal([=](posse::runtime& runtime) {
    return row_of(
      [&](Data& d) { runtime.run([&](posse::member& m) { d.run(bench::basal_fork{m}); }); });
  });
  program.tbb([=] { return row_of([](Data& d) { d.run(bench::tbb_fork{}); }); });
  program.openmp(
    [=] {
      return row_of([](Data& d) {
#pragma omp parallel
#pragma omp single
        d.run(bench::openmp_fork{});
      });
    },
    "openmp_tasks");
}

// -- Fourier transform --------------------------------------------------------

using complex = std::complex<float>;

class signal {
public:
  static constexpr std::size_t n = 1024;

  signal() {
    for (std::size_t i = 0; i < n / 2; ++i) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(i) / n;
      roots[i] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    }
    // A wave that turns three times: all of its transform is in the element 3.
    for (std::size_t i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * 3 * static_cast<double>(i) / n;
      in[i] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    }
  }

  void clear() {
    out.fill(0);
  }

  template <class Fork>
  void run(Fork fork) {
    transform(fork, in.data(), out.data(), n, 1);
  }

  bool is_right() const {
    for (std::size_t i = 0; i < n; ++i)
      if (std::abs(out[i] - complex{i == 3 ? float{n} : 0.f}) > 0.1f)
        return false;
    return true;
  }

private:
  static constexpr std::size_t leaf = 64;

  // Of the `size` numbers at from[0], from[stride], ...
  template <class Fork>
  void transform(Fork fork, const complex* from, complex* to, std::size_t size,
                 std::size_t stride) {
    if (size == 1) {
      *to = *from;
      return;
    }
    const std::size_t half = size / 2;
    const auto even = [=, this](auto f) { this->transform(f, from, to, half, 2 * stride); };
    const auto odd
      = [=, this](auto f) { this->transform(f, from + stride, to + half, half, 2 * stride); };
    if (size > leaf) {
      fork(even, odd);
    } else {
      even(bench::serial_fork{});
      odd(bench::serial_fork{});
    }
    for (std::size_t i = 0; i < half; ++i) {
      const auto r = roots[i * stride];
      const auto x = to[i];
      const auto y = to[i + half];
      // By hand: operator* looks for numbers that are none.
      const complex turned{r.real() * y.real() - r.imag() * y.imag(),
                           r.real() * y.imag() + r.imag() * y.real()};
      to[i] = x + turned;
      to[i + half] = x - turned;
    }
  }

  std::array<complex, n> in;
  std::array<complex, n> out;
  std::array<complex, n / 2> roots; ///< of one
};

// -- merge of lists -----------------------------------------------------------

class lists {
public:
  static constexpr std::size_t count = 500;

  lists() : merged(count * length), other(count * length) {
    unsigned random = 1;
    for (std::size_t i = 0; i < count * length; ++i)
      numbers.push_back(static_cast<int>((random = random * 1664525u + 1013904223u) >> 1));
    sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < count; ++i)
      std::sort(at(numbers, i), at(numbers, i + 1));
  }

  void clear() {
    std::fill(merged.begin(), merged.end(), -1);
    std::fill(other.begin(), other.end(), -1);
  }

  template <class Fork>
  void run(Fork fork) {
    merge(fork, 0, count, merged, other);
  }

  bool is_right() const {
    return merged == sorted;
  }

private:
  static constexpr std::size_t length = 10;
  static constexpr std::size_t leaf = 4;

  static std::vector<int>::iterator at(std::vector<int>& of, std::size_t list) {
    return of.begin() + static_cast<std::ptrdiff_t>(list * length);
  }

  // The lists [first, last) into `to`; `spare` is overwritten.
  template <class Fork>
  void merge(Fork fork, std::size_t first, std::size_t last, std::vector<int>& to,
             std::vector<int>& spare) {
    if (last - first == 1) {
      std::copy(at(numbers, first), at(numbers, last), at(to, first));
      return;
    }
    const auto middle = first + (last - first) / 2;
    const auto lower = [&, first, middle](auto f) { merge(f, first, middle, spare, to); };
    const auto upper = [&, middle, last](auto f) { merge(f, middle, last, spare, to); };
    if (last - first > leaf) {
      fork(lower, upper);
    } else {
      lower(bench::serial_fork{});
      upper(bench::serial_fork{});
    }
    std::merge(at(spare, first), at(spare, middle), at(spare, middle), at(spare, last),
               at(to, first));
  }

  std::vector<int> numbers; ///< list after list, each sorted
  std::vector<int> sorted;  ///< all of them
  std::vector<int> merged;
  std::vector<int> other;
};

const bench::suite fork_rows_suite{[](bench::plan& plan) {
  add_row<signal>(plan, "fft_row", signal::n);
  add_row<lists>(plan, "merge_row", lists::count);
}};

} // namespace
