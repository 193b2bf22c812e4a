#pragma once

#include "scenarios.hpp"

#include <caf/actor_profiler.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <atomic>
#include <cstdlib>
#include <iostream>

namespace conformance {

/// Counts what CAF tells a profiler: nothing, where CAF was built without it, as Debian's is.
struct counting_profiler : caf::actor_profiler {
  std::atomic<int> calls{0};

  void add_actor(const caf::local_actor&, const caf::local_actor*) override {
    ++calls;
  }
  void remove_actor(const caf::local_actor&) override {
    ++calls;
  }
  void before_processing(const caf::local_actor&, const caf::mailbox_element&) override {
    ++calls;
  }
  void after_processing(const caf::local_actor&, caf::invoke_message_result) override {
    ++calls;
  }
  void before_sending(const caf::local_actor&, caf::mailbox_element&) override {
    ++calls;
  }
  void before_sending_scheduled(const caf::local_actor&, caf::actor_clock::time_point,
                                caf::mailbox_element&) override {
    ++calls;
  }
};

/// A program's own configuration on top of `Config`, with options of its own.
template <class Config>
struct config : Config {
  int rounds = 1;
  int blocked = 3;

  config() {
    typename Config::opt_group{this->custom_options_, "conformance"}.template add<int>(
      rounds, "rounds", "how often every scenario runs");
    typename Config::opt_group{this->custom_options_, "conformance"}.template add<int>(
      blocked, "blocked", "how many handlers block their threads at once");
  }
};

/// Everything that the two programs share: they differ in `Config` alone.
template <class Config>
int run(int argc, char** argv) {
  config<Config> cfg;
  if (auto err = cfg.parse(argc, argv)) {
    std::cerr << cfg.render(err) << "\n";
    return EXIT_FAILURE;
  }
  if (cfg.cli_helptext_printed)
    return EXIT_SUCCESS;
  transcript out;
  counting_profiler profiler;
  cfg.profiler = &profiler;
  {
    caf::actor_system system{cfg};
    for (int round = 0; round < cfg.rounds; ++round)
      for (auto scenario : {behaviours, typed, requests, lifecycle, timing, threads, channels,
                            crowds, printing, streams})
        scenario(system, out);
    blocked_handlers(system, out, cfg.blocked);
  }
  out.begin("profiler").line(profiler.calls > 0 ? "was called" : "was not called");
  out.print(std::cout);
  return EXIT_SUCCESS;
}

} // namespace conformance
