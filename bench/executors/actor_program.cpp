// Runs one actor program in a process of its own, since peak memory belongs to a process:
//
//     actor_program PROGRAM basal|caf_stealing|caf_sharing WORKERS [SIZE [RUNS]]
//
// WORKERS is the number of threads that run actors; 0 leaves the number, too, to the scheduler's
// defaults. All else always is. CAF is Debian's build. Prints for each of RUNS runs, after one of
// the quick size to warm up:
//
//     WALL_NS CPU_NS PEAK_KB
//
// wall time, CPU time of the whole process in that time, and the process's peak of resident memory
// so far. RUNS 0 has one run and no warm-up, for sizes that take long. Exits with 1 on a wrong
// answer. Without arguments: lists the programs and their sizes.

#include "programs/program.hpp"

#include <basal/actors/actor_system_config.hpp>

#include <caf/actor_system.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace {

using namespace basal;

std::int64_t number(const char* name, std::string_view text, std::int64_t least,
                    std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw std::invalid_argument(std::string{name} + " is a number from " + std::to_string(least)
                                + " to " + std::to_string(most) + ", not '" + std::string{text}
                                + '\'');
  return value;
}

std::unique_ptr<caf::actor_system_config> configuration(const std::string& scheduler,
                                                        std::size_t workers) {
  if (scheduler == "basal") {
    auto made = std::make_unique<actor_system_config>();
    if (workers > 0)
      made->set("basal.message-executors", workers);
    return made;
  }
  auto made = std::make_unique<caf::actor_system_config>();
  if (scheduler == "caf_stealing")
    made->set("scheduler.policy", caf::atom("stealing"));
  else if (scheduler == "caf_sharing")
    made->set("scheduler.policy", caf::atom("sharing"));
  else
    throw std::runtime_error("no scheduler '" + scheduler + "'");
  if (workers > 0)
    made->set("scheduler.max-threads", workers);
  return made;
}

const bench::program& named(const std::string& name) {
  for (const auto* one : bench::all_programs())
    if (name == one->name)
      return *one;
  throw std::runtime_error("no program '" + name + "'");
}

std::int64_t cpu_ns() {
  timespec used{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
    throw std::runtime_error("the process has no clock of its CPU time");
  return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

// Not getrusage()'s: that counts what the process had before it became this program.
long peak_kb() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    if (long value = 0; word == "VmHWM:" && status >> value)
      return value;
  }
  throw std::runtime_error("/proc/self/status has no VmHWM");
}

void run_once(caf::actor_system& system, const bench::program& what, std::int64_t size,
              bool print) {
  using clock = std::chrono::steady_clock;
  const auto expected = what.expected(size);
  const auto cpu = cpu_ns();
  const auto start = clock::now();
  const auto answer = what.run(system, size);
  const auto wall = std::chrono::nanoseconds{clock::now() - start};
  const auto used = cpu_ns() - cpu;
  if (answer != expected)
    throw std::runtime_error("wrong answer: " + std::to_string(answer) + ", not "
                             + std::to_string(expected));
  if (print)
    std::printf("%lld %lld %ld\n", static_cast<long long>(wall.count()),
                static_cast<long long>(used), peak_kb());
}

void run(std::span<char*> arguments) {
  const auto& what = named(arguments[0]);
  const auto config = configuration(
    arguments[1], static_cast<std::size_t>(number("WORKERS", arguments[2], 0, 4096)));
  const auto size
    = arguments.size() > 3 ? number("SIZE", arguments[3], 1, 1'000'000'000) : what.size;
  const auto runs = arguments.size() > 4 ? number("RUNS", arguments[4], 0, 1'000'000) : 1;
  caf::actor_system system{*config};
  if (runs > 0)
    run_once(system, what, std::min<std::int64_t>(size, what.quick_size), false);
  for (std::int64_t i = 0; i < std::max<std::int64_t>(1, runs); ++i)
    run_once(system, what, size, true);
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 6) {
    std::fprintf(stderr, "usage: %s PROGRAM basal|caf_stealing|caf_sharing WORKERS [SIZE [RUNS]]\n",
                 argv[0]);
    for (const auto* one : bench::all_programs())
      std::fprintf(stderr, "  %s %lld\n", one->name, static_cast<long long>(one->size));
    return 2;
  }
  try {
    run({argv + 1, static_cast<std::size_t>(argc - 1)});
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s %s: %s\n", argv[0], argv[1], e.what());
    return 1;
  }
}
