// Programs that choose elements of a range:
//
// filter    Of 20,000 and of a million records those that two conditions hold for, some two fifths
//           of them, in their order. oneTBB and std::par write to a vector of all, which they cut.
// extremes  The least and the greatest of 20,000 and of a million numbers: as elements by the
//           standard's algorithms and basal, as values by oneTBB and OpenMP.
// search    The first line of 3,000 and of 100,000 that contains a word: at a tenth of them, in the
//           middle, at four fifths and nowhere. oneTBB and OpenMP note the first one in an atomic
//           number and do not look at those behind it.

#include "bench/posse/loop.hpp"

#include <tbb/parallel_scan.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace basal;

std::uint64_t next_of(std::uint64_t& random) {
  random = random * 6364136223846793005u + 1442695040888963407u;
  return random >> 33;
}

// -- filter -------------------------------------------------------------------

struct record {
  double score;
  int number;
  int kind;

  bool operator==(const record&) const = default;

  bool is_wanted() const {
    return kind != 1 && score > 0.4;
  }
};

using records = std::vector<record>;

records filter_by_tbb(const records& in) {
  using range = tbb::blocked_range<std::size_t>;
  records out(in.size());
  const auto count = tbb::parallel_scan(
    range{0, in.size()}, std::size_t{0},
    [&](const range& r, std::size_t before, bool is_final) {
      for (auto i = r.begin(); i != r.end(); ++i)
        if (in[i].is_wanted()) {
          if (is_final)
            out[before] = in[i];
          ++before;
        }
      return before;
    },
    std::plus<>{});
  out.resize(count);
  return out;
}

records filter_by_openmp(const records& in) {
  std::vector<std::size_t> before(static_cast<std::size_t>(omp_get_max_threads()) + 1);
  records out;
#pragma omp parallel
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const auto begin = in.size() * thread / threads;
    const auto end = in.size() * (thread + 1) / threads;
    std::size_t count = 0;
    for (auto i = begin; i != end; ++i)
      count += in[i].is_wanted() ? 1 : 0;
    before[thread + 1] = count;
#pragma omp barrier
#pragma omp single
    {
      for (std::size_t t = 0; t != threads; ++t)
        before[t + 1] += before[t];
      out.resize(before[threads]);
    }
    auto* to = out.data() + before[thread];
    for (auto i = begin; i != end; ++i)
      if (in[i].is_wanted())
        *to++ = in[i];
  }
  return out;
}

void add_filter(bench::plan& plan, std::size_t n) {
  const auto in = std::make_shared<records>();
  const auto expected = std::make_shared<records>();
  bench::program<bool> program{plan, "filter", std::to_string(n), true, bench::counted_in::loops};
  program.setup([=] {
    std::uint64_t random = 11;
    in->clear();
    for (std::size_t i = 0; i < n; ++i) {
      const auto score = static_cast<double>(next_of(random) % 1'000'003) / 1e6;
      in->push_back({score, static_cast<int>(i), static_cast<int>(next_of(random) % 3)});
    }
    expected->clear();
    std::ranges::copy_if(*in, std::back_inserter(*expected), &record::is_wanted);
  });
  const auto times = std::max<std::size_t>(1, 200'000 / n);
  const auto add = [=](auto filter) {
    return [=](auto&&... runtime) {
      bool is_right = true;
      for (std::size_t i = 0; i != times; ++i) {
        const records found = filter(*in, runtime...);
        is_right = is_right && found.size() == expected->size();
        // To look at all of them would take as long as to find them.
        for (std::size_t k = 0; is_right && k < found.size(); k += 1 + k % 64)
          is_right = found[k] == (*expected)[k];
      }
      return is_right;
    };
  };
  program.serial(add([](const records& from) {
    records out;
    for (const auto& r : from)
      if (r.is_wanted())
        out.push_back(r);
    return out;
  }));
  program.basal(add([](const records& from, posse::runtime& runtime) {
    return posse::filter(runtime, from, [](const record& r) { return r.is_wanted(); });
  }));
  program.tbb(add(filter_by_tbb));
  program.std_par(add([](const records& from) {
    records out(from.size());
    const auto end = std::copy_if(std::execution::par_unseq, from.begin(), from.end(), out.begin(),
                                  [](const record& r) { return r.is_wanted(); });
    out.erase(end, out.end());
    return out;
  }));
  program.openmp(add(filter_by_openmp));
}

// -- extremes -----------------------------------------------------------------

using numbers = std::vector<double>;
using extremes = std::pair<double, double>;

extremes wider(const extremes& a, const extremes& b) {
  return {std::min(a.first, b.first), std::max(a.second, b.second)};
}

void add_extremes(bench::plan& plan, std::size_t n) {
  const auto in = std::make_shared<numbers>();
  const auto expected = std::make_shared<extremes>();
  bench::program<bool> program{plan, "extremes", std::to_string(n), true, bench::counted_in::loops};
  program.setup([=] {
    std::uint64_t random = 13;
    in->clear();
    for (std::size_t i = 0; i < n; ++i)
      in->push_back(static_cast<double>(next_of(random)));
    const auto [least, greatest] = std::ranges::minmax(*in);
    *expected = {least, greatest};
  });
  const auto times = std::max<std::size_t>(1, 1'000'000 / n);
  const auto add = [=](auto find) {
    return [=](auto&&... runtime) {
      bool is_right = true;
      for (std::size_t i = 0; i != times; ++i) {
        is_right = is_right && find(*in, runtime...) == *expected;
        asm volatile("" ::: "memory");
      }
      return is_right;
    };
  };
  program.serial(add([](const numbers& of) {
    const auto [least, greatest] = std::ranges::minmax_element(of);
    return extremes{*least, *greatest};
  }));
  program.basal(add([](const numbers& of, posse::runtime& runtime) {
    const auto [least, greatest] = posse::minmax_element(runtime, of);
    return extremes{*least, *greatest};
  }));
  program.tbb(add([](const numbers& of) {
    using range = tbb::blocked_range<const double*>;
    return tbb::parallel_reduce(
      range{of.data(), of.data() + of.size()}, extremes{of[0], of[0]},
      [](const range& r, extremes found) {
        double least = found.first;
        double greatest = found.second;
      // A pair would be compared by one instruction after the other.
#pragma omp simd reduction(min : least) reduction(max : greatest)
        for (const double* at = r.begin(); at < r.end(); ++at) {
          least = std::min(least, *at);
          greatest = std::max(greatest, *at);
        }
        return extremes{least, greatest};
      },
      wider);
  }));
  program.std_par(add([](const numbers& of) {
    const auto [least, greatest]
      = std::minmax_element(std::execution::par_unseq, of.begin(), of.end());
    return extremes{*least, *greatest};
  }));
  program.openmp(add([](const numbers& of) {
                   double least = of[0];
                   double greatest = of[0];
                   const double* from = of.data();
                   const auto count = of.size();
#pragma omp parallel for simd reduction(min : least) reduction(max : greatest) schedule(static)
                   for (std::size_t i = 0; i < count; ++i) {
                     least = std::min(least, from[i]);
                     greatest = std::max(greatest, from[i]);
                   }
                   return extremes{least, greatest};
                 }),
                 "openmp_static");
}

// -- search -------------------------------------------------------------------

struct text {
  std::vector<std::string> lines;
  std::string wanted;

  bool is_at(std::size_t line) const {
    return lines[line].find(wanted) != std::string::npos;
  }
};

/// The first line so far that contains it.
class first_line {
public:
  explicit first_line(std::size_t end) : at_(end) {
  }

  bool is_before(std::size_t line) const {
    return at_.load(std::memory_order_relaxed) < line;
  }

  void found(std::size_t line) {
    auto at = at_.load(std::memory_order_relaxed);
    while (line < at && !at_.compare_exchange_weak(at, line, std::memory_order_relaxed)) {
    }
  }

  std::size_t get() const {
    return at_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::size_t> at_;
};

void add_search(bench::plan& plan, std::size_t n) {
  const auto in = std::make_shared<text>();
  bench::program<bool> program{plan, "search", std::to_string(n), true, bench::counted_in::loops};
  const std::size_t places[] = {n / 10, n / 2, n * 4 / 5, n};
  program.setup([=] {
    std::uint64_t random = 17;
    in->lines.assign(n, {});
    for (auto& line : in->lines)
      for (auto length = 20 + next_of(random) % 60; length != 0; --length)
        line += static_cast<char>('a' + next_of(random) % 16);
    for (const auto place : places)
      if (place != n)
        in->lines[place] += "word" + std::to_string(place);
  });
  const auto times = std::max<std::size_t>(1, 100'000 / n);
  const auto add = [=](auto find) {
    return [=](auto&&... runtime) {
      bool is_right = true;
      for (std::size_t i = 0; i != times; ++i)
        for (const auto place : places) {
          in->wanted = "word" + std::to_string(place);
          is_right = find(*in, runtime...) == place && is_right;
        }
      return is_right;
    };
  };
  program.serial(add([](const text& of) {
    std::size_t line = 0;
    while (line != of.lines.size() && !of.is_at(line))
      ++line;
    return line;
  }));
  program.basal(add([](const text& of, posse::runtime& runtime) {
    return posse::find_if(runtime, of.lines.size(),
                          [&](std::size_t line) { return of.is_at(line); });
  }));
  program.tbb(add([](const text& of) {
    using range = tbb::blocked_range<std::size_t>;
    first_line first{of.lines.size()};
    tbb::parallel_for(range{0, of.lines.size()}, [&](const range& r) {
      for (auto i = r.begin(); i != r.end() && !first.is_before(i); ++i)
        if (of.is_at(i)) {
          first.found(i);
          return;
        }
    });
    return first.get();
  }));
  program.std_par(add([](const text& of) {
    const auto found = std::find_if(
      std::execution::par, of.lines.begin(), of.lines.end(),
      [&](const std::string& line) { return line.find(of.wanted) != std::string::npos; });
    return static_cast<std::size_t>(found - of.lines.begin());
  }));
  program.openmp(add([](const text& of) {
    first_line first{of.lines.size()};
    const auto count = of.lines.size();
#pragma omp parallel for schedule(dynamic, 64)
    for (std::size_t i = 0; i < count; ++i)
      if (!first.is_before(i) && of.is_at(i))
        first.found(i);
    return first.get();
  }));
}

const bench::suite selections_suite{[](bench::plan& plan) {
  for (std::size_t n : {20'000, 1'000'000})
    if (!plan.quick() || n == 20'000) {
      add_filter(plan, n);
      add_extremes(plan, n);
    }
  for (std::size_t n : {3'000, 100'000})
    if (!plan.quick() || n == 3'000)
      add_search(plan, n);
}};

} // namespace
