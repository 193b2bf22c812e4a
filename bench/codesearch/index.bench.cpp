// Indexing a large source tree with a warm page cache, from the start of the process to its end:
// codesearch with 1 and with 2 compute executors, and cindex.
//
// cindex (Debian's package codesearch) is the nearest peer that indexes for code search: one
// thread, trigrams instead of words, and it writes its index to a file, here one in the page cache.
// Peers left out: ctags and global index definitions only; Lucene and its like need a parser for
// words and lines, so they would measure our code.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/support/bench.hpp"
#include "tests/codesearch/run_program.hpp"

using namespace basal;
using codesearch::test::program_result;

namespace {

const std::string tree = "/usr/include";

// Output that all runs must share: the answers, and the summary without the times.
std::string answers_of(const program_result& r) {
  std::string result;
  for (std::string line : codesearch::test::lines_of(r.out)) {
    if (line.starts_with("summary seconds ") || line.starts_with("summary mb_per_s ")) {
      continue;
    }
    if (line.starts_with("query ")) {
      line.erase(line.rfind(','));
    }
    result += line + "\n";
  }
  return result;
}

program_result index_tree(int compute_executors) {
  return codesearch::test::run({BASAL_CODESEARCH, tree, "--compute",
                                std::to_string(compute_executors), "--query", "mutex lock",
                                "--query", "socket bind", "--query", "epoll*", "--top", "100"});
}

void run_codesearch(benchmark::State& state, int compute_executors) {
  // One answer for both cases, from the first run of all.
  static std::string expected;
  for (auto _ : state) {
    const program_result r = index_tree(compute_executors);
    if (r.status != 0) {
      state.SkipWithError(("codesearch failed: " + r.err).c_str());
      return;
    }
    const std::string answers = answers_of(r);
    if (expected.empty()) {
      expected = answers;
    }
    if (answers != expected || codesearch::test::summary(r, "files") < 100) {
      state.SkipWithError("the answers differ between runs");
      return;
    }
    state.counters["MB"] = static_cast<double>(codesearch::test::summary(r, "bytes")) / 1e6;
  }
}

void run_cindex(benchmark::State& state) {
  const std::string index
    = (std::filesystem::temp_directory_path() / ("cindex-" + std::to_string(::getpid()))).string();
  for (auto _ : state) {
    const program_result r
      = codesearch::test::run({"env", "CSEARCHINDEX=" + index, "cindex", tree});
    state.PauseTiming();
    std::error_code ignored;
    const bool wrote = std::filesystem::file_size(index, ignored) > 0 && !ignored;
    std::filesystem::remove(index, ignored);
    state.ResumeTiming();
    if (r.status != 0 || !wrote) {
      state.SkipWithError("cindex failed; is it there? (Debian: apt install codesearch)");
      return;
    }
  }
}

const bench::suite index_suite{[](bench::plan& plan) {
  const std::string one = bench::case_name("index", "usr_include", "basal", 1);
  const std::string two = bench::case_name("index", "usr_include", "basal", 2);
  const std::string peer = bench::case_name("index", "usr_include", "cindex", 1);
  plan.add(one, [](benchmark::State& state) { run_codesearch(state, 1); }, {.baseline = one});
  plan.add(two, [](benchmark::State& state) { run_codesearch(state, 2); }, {.baseline = one});
  plan.add(peer, run_cindex, {.baseline = one});
  plan.figure("codesearch_speedup_2", bench::ratio(one, two));
  plan.figure("codesearch_vs_cindex", bench::ratio(peer, two));
}};

} // namespace
