/// A fork of two branches, as basal and each peer would write it. A recursive
/// program is written once, as a function of the fork to use.
#pragma once

#include "bench/posse/program.hpp"

#include <tbb/parallel_invoke.h>

namespace basal::bench {

/// Calls `left(fork)` and `right(fork)`, each with the fork to go on with.
struct serial_fork {
  template <class Left, class Right>
  void operator()(const Left& left, const Right& right) const {
    left(*this);
    right(*this);
  }
};

struct basal_fork {
  posse::member& member;

  template <class Left, class Right>
  void operator()(const Left& left, const Right& right) const {
    member.fork_merge([&](posse::member& m) { left(basal_fork{m}); },
                      [&](posse::member& m) { right(basal_fork{m}); });
  }
};

struct tbb_fork {
  template <class Left, class Right>
  void operator()(const Left& left, const Right& right) const {
    ::tbb::parallel_invoke([&] { left(*this); }, [&] { right(*this); });
  }
};

struct openmp_fork {
  template <class Left, class Right>
  void operator()(const Left& left, const Right& right) const {
#pragma omp task shared(right)
    right(*this);
    left(*this);
#pragma omp taskwait
  }
};

/// Declares the cases of a program that is `run(fork)`, which returns the answer.
template <class Answer, class Run>
void add_fork_cases(program<Answer>& cases, Run run) {
  cases.serial([=] { return run(serial_fork{}); });
  cases.basal([=](posse::runtime& runtime) {
    return runtime.run([&](posse::member& m) { return run(basal_fork{m}); });
  });
  cases.tbb([=] { return run(tbb_fork{}); });
  cases.openmp(
    [=] {
      Answer answer{};
#pragma omp parallel shared(answer)
#pragma omp single
      answer = run(openmp_fork{});
      return answer;
    },
    "openmp_tasks");
}

} // namespace basal::bench
