// More than loops: a table that several executors fill, buffers, several ranges at once, running
// sums, and tasks of which nobody knows how many there will be.
#include <basal/posse/posse.hpp>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace posse = basal::posse;

// accumulate: whoever runs a part begins with an empty table, and join puts two of them together,
// in the order of the range.
using counts = std::map<std::string, int>;

counts count_words(posse::member& m, const std::vector<std::string>& words) {
  return posse::accumulate(
    m, words, counts{}, [](counts& into, const std::string& word) { ++into[word]; },
    [](counts& into, counts&& behind) {
      for (const auto& [word, n] : behind)
        into[word] += n;
    });
}
inline constexpr posse::pure<count_words> word_counts{"word_counts"};

// task_scope: tasks, and tasks that they spawn into groups of their own. It ends when all have.
struct folder {
  long bytes;
  std::vector<folder> inside;
};

void add_up(posse::task_group& tasks, const folder& x, std::atomic<long>& sum) {
  sum.fetch_add(x.bytes, std::memory_order_relaxed);
  for (const auto& each : x.inside)
    tasks.spawn([&](posse::task_group& own) { add_up(own, each, sum); });
}

long size_of(posse::member& m, const folder& root) {
  std::atomic<long> sum{0};
  posse::task_scope(m, [&](posse::task_group& tasks) { add_up(tasks, root, sum); });
  return sum;
}
inline constexpr posse::pure<size_of> folder_size{"folder_size"};

int main() {
  posse::runtime runtime;

  for (const auto& [word, n] :
       word_counts(runtime, std::vector<std::string>{"a", "rose", "is", "a"}))
    std::cout << word << ' ' << n << '\n';
  std::cout << folder_size(runtime, folder{1, {{2, {}}, {3, {{4, {}}}}}}) << " bytes\n";

  // Several loops in one computation: run. Its function has a member, on which the loops run.
  std::vector<int> x(1000);
  std::vector<int> y(1000, 2);
  std::vector<int> sums(1000);
  const int last = runtime.run([&](posse::member& m) {
    std::iota(x.begin(), x.end(), 1);

    // zip: elements of several ranges, by reference.
    posse::for_each(m, posse::zip(x, y), [](int& a, const int& b) { a *= b; });

    // scratch: a buffer is made once for each executor that needs one.
    posse::scratch buffers{[] { return std::vector<int>(100); }};
    posse::for_each(m, 10, [&](posse::member& k, int block) {
      auto buffer = buffers.borrow(k);
      std::copy_n(x.begin() + block * 100, 100, buffer->begin());
      std::reverse_copy(buffer->begin(), buffer->end(), x.begin() + block * 100);
    });

    // inclusive_scan: element i becomes the sum of all up to it.
    posse::inclusive_scan(m, x, sums);
    return sums.back();
  });
  std::cout << last << '\n';
}
