// Thefts in a flight recording.

#include <basal/executors/recorder.hpp>
#include <basal/executors/trace.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"
#include "support/perfetto.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <unistd.h>

using namespace basal;

namespace {

long fib(posse::member& m, int n) {
  if (n < 2)
    return n;
  const auto [a, b]
    = m.fork_merge([=](auto& k) { return fib(k, n - 1); }, [=](auto& k) { return fib(k, n - 2); });
  return a + b;
}

inline constexpr posse::pure<fib> pure_fib{"recorded_fib"};

test::perfetto_reader recorded() {
  const auto path = std::filesystem::temp_directory_path()
                    / ("basal-thefts-" + std::to_string(getpid()) + ".raw");
  executors::recorder::write(path.string());
  std::ifstream in{path, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  std::filesystem::remove(path);
  return test::perfetto_reader{executors::to_perfetto(std::as_bytes(std::span{bytes})).bytes};
}

bool is_theft(const std::string& name) {
  return name.starts_with("theft from ");
}

} // namespace

TEST_CASE("each theft is one flow, from the victim to one delegate") {
  posse::runtime_config config;
  config.compute_executors = 3;
  posse::runtime runtime{config};
  std::uint64_t thefts = 0;
  for (int i = 0; i < 1000 && thefts < 5; ++i) {
    CHECK(pure_fib(runtime, 24) == 46368);
    thefts = runtime.stats().thefts;
  }
  const auto read = recorded();
  CHECK(read.nesting_problem() == "");
  std::uint64_t seen = 0;
  for (const auto& [flow, through] : read.flows()) {
    if (through.empty() || !is_theft(through.front()))
      continue;
    ++seen;
    CHECK(through.front() == "theft from recorded_fib");
    CHECK(std::count_if(through.begin(), through.end(), is_theft) == 1);
    CHECK(std::count(through.begin(), through.end(), "recorded_fib") <= 1);
    CHECK(through.size() <= 3);
  }
  CHECK(seen == runtime.stats().thefts);
}

TEST_CASE("forks record nothing") {
  posse::runtime_config config;
  config.compute_executors = 1;
  posse::runtime runtime{config};
  auto written = [&] { return runtime.compute().at(0).flight()->ring().written(); };
  runtime.run([&](posse::member& m) {
    fib(m, 10); // its first look at the clock is behind it
    const auto before = written();
    fib(m, 12);
    CHECK(written() - before <= 10); // of 232 forks; a quantum may end, or overrun
    return 0;
  });
}
