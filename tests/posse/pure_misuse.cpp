// Code that must not compile, except without MISUSE. The tests look for the sentence that the
// compiler says.
#include <basal/posse/posse.hpp>

#include <functional>
#include <list>
#include <set>
#include <vector>

#ifndef MISUSE
#  define MISUSE 0
#endif

using basal::posse::member;

namespace {

long well([[maybe_unused]] member& m, int n) {
  return n;
}

struct point {
  int x = 0;
};

[[maybe_unused]] long without_member(int n) {
  return n;
}

#if MISUSE == 0 || MISUSE > 2
constexpr basal::posse::pure<well> function{"well"};
constexpr basal::posse::pure<[](auto& m, int n) { return function(m, n); }> generic{"generic"};
#else
constexpr basal::posse::pure<without_member> function{"without_member"};
#endif

} // namespace

#if MISUSE == 2
long called(member& m) {
  return function(m, 1);
}
#else
long called(basal::posse::runtime& runtime) {
#  if MISUSE == 3
  return runtime
    .run([](member& m) { return m.fork_merge([](int) { return 1; }, [] { return 2; }); })
    .first;
#  elif MISUSE == 4
  return function(1);
#  elif MISUSE == 5
  function.offload(1);
#  elif MISUSE == 6
  basal::posse::task_scope(runtime,
                           [](basal::posse::task_group& tasks) { tasks.spawn([](int) {}); });
  return 0;
#  elif MISUSE == 7
  basal::posse::task_scope(runtime, [](member&) {});
  return 0;
#  elif MISUSE == 8
  basal::posse::for_each_chunk(runtime, 10, [](double* first) { *first = 1; });
  return 0;
#  elif MISUSE == 9
  std::vector<double> numbers(10);
  basal::posse::for_each_chunk(runtime, numbers, [](std::size_t, std::size_t) {});
  return 0;
#  elif MISUSE == 10
  std::vector<double> numbers(10);
  basal::posse::for_each(runtime, numbers, [](double&, std::size_t) {});
  return 0;
#  elif MISUSE == 11
  basal::posse::scratch buffers{[](std::size_t n) { return std::vector<double>(n); }};
  return 0;
#  elif MISUSE == 12
  std::vector<bool> bits(10);
  return static_cast<long>(basal::posse::zip(bits).size());
#  elif MISUSE == 13
  std::vector<int> numbers(10);
  return basal::posse::accumulate(
    runtime, numbers, 0L, [](long& to, int x) { to += x; }, [](long to) { return to; });
#  elif MISUSE == 14
  std::list<double> numbers(10);
  basal::posse::for_each(runtime, numbers, [](double& x) { x = 1; });
  return 0;
#  elif MISUSE == 15
  std::vector<double> numbers(10);
  basal::posse::sort(runtime, numbers.begin(), numbers.end());
  return 0;
#  elif MISUSE == 16
  std::vector<int> numbers(10);
  return basal::posse::accumulate(
    runtime, numbers, 0L, [](long a, long x) { return a + x; },
    [](long& to, long from) { to += from; });
#  elif MISUSE == 17
  std::vector<int> numbers(10);
  return basal::posse::accumulate(
    runtime, numbers, 0L, [](long& to, int x) { to += x; }, std::plus<>{});
#  elif MISUSE == 18
  std::vector<int> numbers(10);
  return basal::posse::accumulate(
    runtime, numbers, 0L, [](basal::posse::member&, long a, int x) { return a + x; },
    [](long& to, long from) { to += from; });
#  elif MISUSE == 19
  std::vector<int> numbers(10);
  return basal::posse::accumulate(
    runtime, numbers, 0L, [](long& to, int x) { to += x; },
    [](const long& a, const long& b) -> const long& { return a < b ? b : a; });
#  elif MISUSE == 20
  std::vector<int> numbers(10);
  return basal::posse::accumulate(runtime, numbers, 0L, [](long& to, int x) { to += x; });
#  elif MISUSE == 21
  std::vector<double> numbers(10);
  basal::posse::sort(runtime, numbers, std::ranges::less{}, [](double x) { return -x; });
  return 0;
#  elif MISUSE == 22
  std::vector<int> a(10);
  std::vector<int> b(10);
  return basal::posse::map(runtime, a, b, std::plus<>{})[0];
#  elif MISUSE == 23
  std::vector<double> numbers(10);
  return basal::posse::reduce(runtime, numbers, 0);
#  elif MISUSE == 24
  std::vector<double> numbers(10);
  return basal::posse::map_reduce(
    runtime, numbers, [](double x) { return x * x; }, 0L);
#  elif MISUSE == 25
  std::vector<int> numbers(10);
  return basal::posse::map_reduce(runtime, numbers, 0, std::plus<>{}, [](int x) { return x; });
#  elif MISUSE == 26
  std::vector<point> points(10);
  return basal::posse::reduce(runtime, points, point{}).x;
#  elif MISUSE == 27
  std::vector<point> points(10);
  return basal::posse::max_element(runtime, points)->x;
#  elif MISUSE == 28
  std::vector<point> points(10);
  basal::posse::sort(runtime, points);
  return 0;
#  elif MISUSE == 29
  std::vector<int> numbers(10);
  basal::posse::exclusive_scan(runtime, numbers, numbers, std::plus<>{}, 0);
  return 0;
#  elif MISUSE == 30
  std::vector<double> numbers(10);
  std::vector<double> sums(10);
  basal::posse::exclusive_scan(runtime, numbers, sums, 0);
  return 0;
#  elif MISUSE == 31
  std::vector<int> numbers(10);
  basal::posse::inclusive_scan(runtime, numbers);
  return 0;
#  elif MISUSE == 32
  std::vector<int> numbers(10);
  return basal::posse::filter(runtime, numbers)[0];
#  elif MISUSE == 33
  std::vector<int> numbers(10);
  std::vector<int> merged(20);
  basal::posse::merge(runtime, numbers, std::list<int>(10), merged);
  return 0;
#  elif MISUSE == 34
  std::vector<int> numbers(10);
  basal::posse::accumulate(runtime, numbers, std::set<int>{},
                           [](std::set<int>& to, int x) { to.insert(x); });
  return 0;
#  elif MISUSE == 35
  return basal::posse::min_element(runtime, 10);
#  elif MISUSE == 36
  std::vector<int> numbers(10);
  basal::posse::map(runtime, numbers, [](int& x) { ++x; });
  return 0;
#  elif MISUSE == 37
  return basal::posse::map_reduce(
    runtime, 10, [](int x) { return 1L << x; }, 0);
#  elif MISUSE == 38
  std::vector<int> keys(10);
  std::vector<double> values(10);
  basal::posse::sort(runtime, basal::posse::zip(keys, values));
  return 0;
#  elif MISUSE == 39
  const std::vector<double> numbers(10);
  basal::posse::stable_sort(runtime, numbers);
  return 0;
#  elif MISUSE == 40
  std::vector<int> numbers(10);
  return static_cast<long>(basal::posse::zip(numbers, std::vector<int>(10)).size());
#  elif MISUSE == 41
  runtime.run([](member& m) { m.fork_merge(std::vector<int (*)(member&)>(3)); });
  return 0;
#  elif MISUSE == 42
  basal::posse::for_each_chunk(runtime, 1, 10, [](int first) { return first; });
  return 0;
#  elif MISUSE == 0
  return function(runtime, 1) + function.offload(runtime, 2) + function.with({})(runtime, 3)
         + generic(runtime, 4);
#  else
  return function(runtime, 1);
#  endif
}
#endif
