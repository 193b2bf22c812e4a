/// The blocks [0, n) of something, each turned into a value, and the values
/// added up, as basal and each peer would write it.
#pragma once

#include "bench/posse/loop.hpp"

#include <tbb/parallel_reduce.h>

#include <functional>
#include <numeric>
#include <utility>

namespace basal::bench {

/// Declares the cases of a program: the sum of `value(block)` over all blocks,
/// by `add(sum, value)`, of which `answer(sum)` is what is looked at.
template <class Sum, class Answer, class Value, class Add, class Look>
void add_block_sum_cases(program<Answer>& cases, std::size_t blocks, Value value, Add add,
                         Look look) {
  const auto plus = [=](Sum a, Sum b) {
    add(a, std::move(b));
    return a;
  };
  cases.serial([=] {
    Sum sum{};
    for (std::size_t i = 0; i < blocks; ++i)
      add(sum, value(i));
    return look(sum);
  });
  cases.basal([=](posse::runtime& runtime) {
    return look(posse::accumulate(
      runtime, blocks, Sum{}, [=](Sum& sum, std::size_t i) { add(sum, value(i)); },
      [=](Sum& sum, Sum&& more) { add(sum, std::move(more)); }));
  });
  cases.tbb([=] {
    using range = ::tbb::blocked_range<std::size_t>;
    return look(::tbb::parallel_reduce(
      range{0, blocks}, Sum{},
      [=](const range& r, Sum sum) {
        for (auto i = r.begin(); i != r.end(); ++i)
          add(sum, value(i));
        return sum;
      },
      plus));
  });
  // One sum a thread; libgomp's reduction of a type of one's own does the same.
  const auto merge_into = [=](Sum& total, Sum& mine) {
#pragma omp critical
    add(total, std::move(mine));
  };
  cases.openmp(
    [=] {
      Sum total{};
#pragma omp parallel
      {
        Sum mine{};
#pragma omp for schedule(static) nowait
        for (std::size_t i = 0; i < blocks; ++i)
          add(mine, value(i));
        merge_into(total, mine);
      }
      return look(total);
    },
    "openmp_static");
  cases.openmp(
    [=] {
      Sum total{};
#pragma omp parallel
      {
        Sum mine{};
#pragma omp for schedule(guided) nowait
        for (std::size_t i = 0; i < blocks; ++i)
          add(mine, value(i));
        merge_into(total, mine);
      }
      return look(total);
    },
    "openmp_guided");
  cases.std_par([=] {
    return look(std::transform_reduce(std::execution::par, index_iterator{0},
                                      index_iterator{blocks}, Sum{}, plus, value));
  });
}

} // namespace basal::bench
