// Every algorithm, each in all its forms. The first argument says where: a member of the
// computation that this is part of, as here, a runtime, or an actor's self. Functions of an element
// may take a member before it, on which they can fork: [](posse::member& k, int x) { ... }.
#include <basal/posse/posse.hpp>

#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace posse = basal::posse;
using ints = std::vector<int>;

ints calls(posse::member& m) {
  ints v{3, 1, 4, 1, 5, 9}; // a range
  const int n = 6;          // stands for the numbers 0 to 5
  ints out(v.size());
  const auto odd = [](int x) { return x % 2 == 1; };
  const auto is_odd = [&](int i) { return v[i] % 2 == 1; };
  const auto lesser = [](int a, int b) { return a < b; };
  const auto is_lesser = [&](int i, int j) { return v[i] < v[j]; };
  ints results; // the numbers below, for this page alone
  const auto show = [&](int x) { results.push_back(x); };

  // Loops: nothing is returned.
  posse::for_each(m, v, [](int& x) { x += 1; });
  posse::for_each(m, n, [&](int i) { v[i] -= 1; });
  posse::for_each(m, 0, n, [&](int i) { out[i] = v[i]; });
  posse::for_each(m, posse::zip(v, out), [](int x, int& y) { y = 2 * x; });
  // Loops of one's own over parts of whatever length.
  posse::for_each_chunk(m, v, [](int* first, int* last) {
    for (; first != last; ++first)
      *first *= 2;
  });
  posse::for_each_chunk(m, v.size(), [&](std::size_t first, std::size_t last) {
    for (; first != last; ++first)
      v[first] /= 2;
  });
  posse::for_each_chunk(m, 0, n, [&](int first, int last) {
    for (; first != last; ++first)
      out[first] = v[first];
  });

  // One result for each element (std::transform).
  const ints squares = posse::map(m, v, [](int x) { return x * x; });
  const ints twice = posse::map(m, n, [&](int i) { return 2 * v[i]; });
  posse::map_into(m, v, out, [](int x) { return x + 1; });
  show(squares[1] + twice[1] + out[1]);

  // One result for all: sums; of results; with another operation; with a value to begin with.
  show(posse::reduce(m, v, 0));
  show(posse::reduce(m, v, 1, std::multiplies<>{}));
  show(posse::map_reduce(
    m, v, [](int x) { return x * x; }, 0));
  show(posse::map_reduce(
    m, n, [&](int i) { return v[i]; }, 0, [](int a, int b) { return a ^ b; }));
  // One result that elements are added to, as a table: empty, add, join.
  const auto add = [](ints& into, int x) { into.push_back(x); };
  const auto join
    = [](ints& into, ints&& behind) { into.insert(into.end(), behind.begin(), behind.end()); };
  show(posse::accumulate(m, v, ints{}, add, join)[5]);
  show(posse::accumulate(m, n, ints{}, add, join)[5]);

  // Running sums, into a range.
  posse::inclusive_scan(m, v, out);
  posse::inclusive_scan(m, v, out, std::plus<>{});
  posse::inclusive_scan(m, v, out, std::plus<>{}, 100);
  show(out[1]);
  posse::exclusive_scan(m, v, out, 0);
  posse::exclusive_scan(m, v, out, 1, std::multiplies<>{});
  show(out[2]);

  // Searches: an iterator, or a number, or the end if there is none.
  show(*posse::find_if(m, v, [](int x) { return x > 3; }));
  show(posse::find_if(m, n, [&](int i) { return v[i] > 3; }));
  show(*posse::min_element(m, v));
  show(*posse::max_element(m, v, lesser));
  show(posse::min_element(m, n, is_lesser));
  show(posse::max_element(m, n, is_lesser));
  const auto [least, greatest] = posse::minmax_element(m, v);
  const auto [where_least, where_greatest] = posse::minmax_element(m, n, is_lesser);
  show(*least + *greatest + where_least + where_greatest);
  // Questions.
  show(posse::any_of(m, v, odd) && !posse::all_of(m, v, odd) && !posse::none_of(m, v, odd));
  show(posse::any_of(m, n, is_odd) && !posse::all_of(m, n, is_odd)
       && !posse::none_of(m, n, is_odd));
  show(static_cast<int>(posse::count_if(m, v, odd) + posse::count_if(m, n, is_odd)));

  // Those elements, or numbers, that pass.
  show(posse::filter(m, v, odd)[3]);
  show(posse::filter(m, n, is_odd)[3]);
  const auto [yes, no] = posse::partition(m, v, odd);
  const auto [numbers, others] = posse::partition(m, n, is_odd);
  show(yes[0] + no[0] + numbers[0] + others[0]);

  // Order.
  posse::sort(m, v);
  posse::sort(m, v, std::greater<>{});
  posse::stable_sort(m, v);
  posse::stable_sort(m, v, lesser);
  ints both(2 * v.size());
  posse::merge(m, v, v, both);
  posse::merge(m, v, v, both, lesser);
  show(both[11]);

  // Calls: two, with or without a member, more, or as many as there are.
  const auto [one, two] = m.fork_merge([] { return 1; }, [](posse::member&) { return 2; });
  const auto [a, b, c] = m.fork_merge([] { return 3; }, [] { return 4; }, [] { return 5; });
  show(one + two + a + b + c);
  posse::fork_merge_n(m, 3, [&](std::size_t branch) { out[branch] = 1; }); // of a member alone
  posse::task_scope(m, [&](posse::task_group& tasks) {
    tasks.spawn([&] { out[3] = 1; });
    tasks.spawn([&](posse::task_group& own) { own.spawn([&] { out[4] = 1; }); });
  });
  show(posse::reduce(m, out, 0));
  return results;
}
inline constexpr posse::pure<calls> all_calls{"all_calls"};

int main() {
  posse::runtime runtime;
  for (const int x : all_calls(runtime))
    std::cout << x << ' ';
  std::cout << '\n';
}
