/// One parallel loop, and one parallel reduction, as basal and each peer would write them. A
/// program that is made of such loops is written once, as a function of the loop to use.
#pragma once

#include "bench/posse/program.hpp"

#include <basal/posse/algorithm.hpp>

#include <omp.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/partitioner.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <execution>
#include <iterator>
#include <numeric>
#include <ranges>
#include <vector>

namespace basal::bench {

/// The numbers themselves as a sequence. An iterator of std::views::iota is only
/// an input iterator to C++17's algorithms: libstdc++ runs these serially then.
class index_iterator {
public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const std::size_t*;
  using reference = std::size_t;

  index_iterator() = default;
  explicit index_iterator(std::size_t at) : at_(at) {
  }

  std::size_t operator*() const {
    return at_;
  }
  std::size_t operator[](difference_type n) const {
    return at_ + static_cast<std::size_t>(n);
  }
  index_iterator& operator++() {
    ++at_;
    return *this;
  }
  index_iterator operator++(int) {
    return index_iterator{at_++};
  }
  index_iterator& operator--() {
    --at_;
    return *this;
  }
  index_iterator operator--(int) {
    return index_iterator{at_--};
  }
  index_iterator& operator+=(difference_type n) {
    at_ += static_cast<std::size_t>(n);
    return *this;
  }
  index_iterator& operator-=(difference_type n) {
    at_ -= static_cast<std::size_t>(n);
    return *this;
  }
  friend index_iterator operator+(index_iterator it, difference_type n) {
    return it += n;
  }
  friend index_iterator operator+(difference_type n, index_iterator it) {
    return it += n;
  }
  friend index_iterator operator-(index_iterator it, difference_type n) {
    return it -= n;
  }
  friend difference_type operator-(index_iterator a, index_iterator b) {
    return static_cast<difference_type>(a.at_ - b.at_);
  }
  friend auto operator<=>(const index_iterator&, const index_iterator&) = default;

private:
  std::size_t at_ = 0;
};

/// Calls `body(i)` for every i in [0, n): as the parameter of a program. reduce() combines what
/// `value(i)` returns by `op`, of which `zero` is the identity; the numbers are of n's type.
struct serial_loop {
  template <class Body>
  void operator()(std::size_t n, const Body& body) const {
    for (std::size_t i = 0; i < n; ++i)
      body(i);
  }

  template <class Number, class T, class Value, class Op>
  T reduce(Number n, T zero, const Value& value, const Op& op) const {
    for (Number i = 0; i < n; ++i)
      zero = op(zero, value(i));
    return zero;
  }
};

struct basal_loop {
  posse::runtime& runtime;

  template <class Body>
  void operator()(std::size_t n, const Body& body) const {
    posse::for_each(runtime, std::views::iota(std::size_t{0}, n), body);
  }

  template <class Number, class T, class Value, class Op>
  T reduce(Number n, T zero, const Value& value, const Op& op) const {
    return posse::map_reduce(runtime, n, value, zero, op);
  }
};

template <class Partitioner>
struct tbb_loop {
  template <class Body>
  void operator()(std::size_t n, const Body& body) const {
    using range = ::tbb::blocked_range<std::size_t>;
    ::tbb::parallel_for(
      range{0, n},
      [&](const range& r) {
        for (auto i = r.begin(); i != r.end(); ++i)
          body(i);
      },
      Partitioner{});
  }

  template <class Number, class T, class Value, class Op>
  T reduce(Number n, T zero, const Value& value, const Op& op) const {
    using range = ::tbb::blocked_range<Number>;
    return ::tbb::parallel_reduce(
      range{0, n}, zero,
      [&](const range& r, T sum) {
        for (auto i = r.begin(); i != r.end(); ++i)
          sum = op(sum, value(i));
        return sum;
      },
      op, Partitioner{});
  }
};

// A schedule stands in a pragma, which no parameter of a template reaches: one loop for each.

struct openmp_static_loop {
  template <class Body>
  void operator()(std::size_t n, const Body& body) const {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i)
      body(i);
  }

  template <class Number, class T, class Value, class Op>
  T reduce(Number n, T zero, const Value& value, const Op& op) const {
    T total = zero;
#pragma omp parallel
    {
      T mine = zero;
#pragma omp for schedule(static) nowait
      for (Number i = 0; i < n; ++i)
        mine = op(mine, value(i));
#pragma omp critical
      total = op(total, mine);
    }
    return total;
  }
};

struct openmp_guided_loop {
  template <class Body>
  void operator()(std::size_t n, const Body& body) const {
#pragma omp parallel for schedule(guided)
    for (std::size_t i = 0; i < n; ++i)
      body(i);
  }

  template <class Number, class T, class Value, class Op>
  T reduce(Number n, T zero, const Value& value, const Op& op) const {
    T total = zero;
#pragma omp parallel
    {
      T mine = zero;
#pragma omp for schedule(guided) nowait
      for (Number i = 0; i < n; ++i)
        mine = op(mine, value(i));
#pragma omp critical
      total = op(total, mine);
    }
    return total;
  }
};

struct openmp_dynamic_loop {
  template <class Body>
  void operator()(std::size_t n, const Body& body) const {
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < n; ++i)
      body(i);
  }

  template <class Number, class T, class Value, class Op>
  T reduce(Number n, T zero, const Value& value, const Op& op) const {
    T total = zero;
#pragma omp parallel
    {
      T mine = zero;
#pragma omp for schedule(dynamic) nowait
      for (Number i = 0; i < n; ++i)
        mine = op(mine, value(i));
#pragma omp critical
      total = op(total, mine);
    }
    return total;
  }
};

struct openmp_tasks_loop {
  template <class Body>
  void operator()(std::size_t n, const Body& body) const {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop
    for (std::size_t i = 0; i < n; ++i)
      body(i);
  }

  /// A taskloop reduces by operators that OpenMP knows alone: so a task for each part.
  template <class Number, class T, class Value, class Op>
  T reduce(Number n, T zero, const Value& value, const Op& op) const {
    const auto size = static_cast<std::size_t>(n);
    const auto parts = std::min(size, 4 * static_cast<std::size_t>(omp_get_max_threads()));
    std::vector<T> sums(parts, zero);
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (std::size_t part = 0; part < parts; ++part) {
      T mine = zero;
      const auto end = static_cast<Number>(size * (part + 1) / parts);
      for (auto i = static_cast<Number>(size * part / parts); i < end; ++i)
        mine = op(mine, value(i));
      sums[part] = mine;
    }
    return std::accumulate(sums.begin(), sums.end(), zero, op);
  }
};

struct std_par_loop {
  template <class Body>
  void operator()(std::size_t n, const Body& body) const {
    std::for_each(std::execution::par_unseq, index_iterator{0}, index_iterator{n}, body);
  }

  template <class Number, class T, class Value, class Op>
  T reduce(Number n, T zero, const Value& value, const Op& op) const {
    return std::transform_reduce(std::execution::par_unseq, index_iterator{0},
                                 index_iterator{static_cast<std::size_t>(n)}, zero, op,
                                 [&](std::size_t i) { return value(static_cast<Number>(i)); });
  }
};

enum class elements { alike, uneven };

/// Declares the cases of a program that is `run(loop)`, which returns the answer.
/// OpenMP's tasks and its dynamic schedule take part where its other loops would have to
/// know the elements: of cheap ones they take up to ten times as long.
template <class Answer, class Run>
void add_loop_cases(program<Answer>& cases, elements kind, Run run) {
  cases.serial([=] { return run(serial_loop{}); });
  cases.basal([=](posse::runtime& runtime) { return run(basal_loop{runtime}); });
  cases.tbb([=] { return run(tbb_loop<::tbb::auto_partitioner>{}); });
  cases.tbb([=] { return run(tbb_loop<::tbb::static_partitioner>{}); }, "tbb_static");
  cases.openmp([=] { return run(openmp_static_loop{}); }, "openmp_static");
  cases.openmp([=] { return run(openmp_guided_loop{}); }, "openmp_guided");
  if (kind == elements::uneven) {
    cases.openmp([=] { return run(openmp_dynamic_loop{}); }, "openmp_dynamic");
    cases.openmp([=] { return run(openmp_tasks_loop{}); }, "openmp_tasks");
  }
  cases.std_par([=] { return run(std_par_loop{}); });
}

} // namespace basal::bench
