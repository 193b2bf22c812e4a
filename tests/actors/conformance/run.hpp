#pragma once

#include "scenarios.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <cstdlib>
#include <iostream>

namespace conformance {

/// A program's own configuration on top of `Config`, with an option of its own.
template <class Config>
struct config : Config {
  int rounds = 1;

  config() {
    typename Config::opt_group{this->custom_options_, "conformance"}.template add<int>(
      rounds, "rounds", "how often every scenario runs");
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
  {
    caf::actor_system system{cfg};
    for (int round = 0; round < cfg.rounds; ++round)
      for (auto scenario :
           {behaviours, typed, requests, lifecycle, timing, threads, channels, crowds, printing})
        scenario(system, out);
  }
  out.print(std::cout);
  return EXIT_SUCCESS;
}

} // namespace conformance
