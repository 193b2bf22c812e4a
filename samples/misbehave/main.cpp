// Misbehaves until basal warns of it, behaves until the warning is cleared, and says when that was:
//
//     misbehave KIND [SECONDS]     KIND: one of those that misbehave lists without an argument
//
// Fails if it is not warned within SECONDS (60), or the warning stays. With BASAL_OBSERVER it can
// be watched.

#include <basal/actors/stats.hpp>

#include <caf/actor_system.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "common/observe.hpp"
#include "common/program.hpp"

#include "misbehaviour.hpp"

namespace {

using namespace basal::actors;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr auto between_looks = 250ms;

std::optional<warning_kind> kind_of(std::string_view name) {
  for (std::size_t i = 0; i < warning_kinds; ++i)
    if (const auto kind = static_cast<warning_kind>(i); describe(kind).name == name)
      return kind;
  return std::nullopt;
}

void print_usage() {
  std::fputs("usage: misbehave KIND [SECONDS]\n", stderr);
  for (std::size_t i = 0; i < warning_kinds; ++i) {
    const auto text = describe(static_cast<warning_kind>(i));
    std::fprintf(stderr, "  %-18s %s\n", text.name, text.meaning);
  }
}

/// std::this_thread's sleep goes on after a signal with what was left before it. A collection stops
/// threads by signals: beside one after the other such a sleep of 250 ms took 6 s.
void sleep_between_looks() {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock{mutex};
  never.wait_until(lock, clock_type::now() + between_looks, [] { return false; });
}

/// Asks for warnings until there is the expected one, or no longer. Others are told of and change
/// nothing: a machine whose CPUs are wanted by others makes long handlers of short ones.
class watch {
public:
  watch(caf::actor_system& system, warning_kind expected, std::chrono::seconds patience)
    : system_(system), expected_(describe(expected).name), patience_(patience) {
  }

  bool until(bool raised) {
    const auto begin = clock_type::now();
    while (clock_type::now() - begin < patience_) {
      const auto now = stats_of(system_).warnings;
      const auto at = std::find_if(now.begin(), now.end(),
                                   [this](const auto& w) { return w.kind == expected_; });
      for (const auto& w : now)
        if (w.kind != expected_ && others_.insert(w.kind).second)
          samples::complain("misbehave", "is warned of something else: " + w.kind + ": " + w.cause);
      if ((at != now.end()) == raised) {
        const std::chrono::duration<double> took = clock_type::now() - begin;
        std::printf("%s after %.1f s\n", raised ? "raised" : "cleared", took.count());
        if (raised)
          std::printf("%s\n%s\n", at->cause.c_str(), at->remedy.c_str());
        return true;
      }
      sleep_between_looks();
    }
    samples::complain("misbehave", expected_ + (raised ? " is not raised" : " is not cleared")
                                     + " within " + std::to_string(patience_.count()) + " s");
    return false;
  }

private:
  caf::actor_system& system_;
  const std::string expected_;
  const std::chrono::seconds patience_;
  std::set<std::string> others_; // told of
};

bool run(warning_kind kind, const misbehave::misbehaviour& what, std::chrono::seconds patience) {
  basal::actor_system_config config;
  config.set("basal.message-executors", 2);
  config.set("basal.compute-executors", 2);
  if (what.prepare != nullptr)
    what.prepare(config);
  static std::atomic<bool> stop{false}; // outlives threads that look at it
  caf::actor_system system{config};
  const samples::observer observer{system};
  watch warnings{system, kind, patience};
  std::ignore = stats_of(system); // from here on, changes are judged
  what.begin(system, stop);
  const bool raised = warnings.until(true);
  stop.store(true, std::memory_order_relaxed);
  stop.notify_all();
  return raised && warnings.until(false);
}

} // namespace

int main(int argc, char** argv) {
  samples::fill_standard_descriptors();
  const auto kind = argc == 2 || argc == 3 ? kind_of(argv[1]) : std::nullopt;
  if (!kind) {
    print_usage();
    return EXIT_FAILURE;
  }
  const auto what = misbehave::of(*kind);
  if (what.begin == nullptr) {
    samples::complain("misbehave", "this build cannot do that: it has no collected heap");
    return EXIT_FAILURE;
  }
  const std::chrono::seconds patience{argc == 3 ? std::max(1, std::atoi(argv[2])) : 60};
  return run(*kind, what, patience) && samples::results_are_out("misbehave") ? EXIT_SUCCESS
                                                                             : EXIT_FAILURE;
}
