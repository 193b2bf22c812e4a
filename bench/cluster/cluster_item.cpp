// The processes that items run in.
//   cluster_item serve ADDRESS FILE    a worker with one executor, until SIGTERM; makes the file
//                                      when it is ready
//   cluster_item items STEPS NUMBER... computes these and prints NUMBER RESULT lines: what GNU
//                                      parallel runs

#include <basal/cluster/cluster.hpp>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string_view>

#include "items.hpp"

using namespace basal;

int main(int count, char** arguments) {
  const std::string_view command{count > 3 ? arguments[1] : ""};
  if (command == "serve") {
    const cluster::termination_signals signals;
    cluster::registry functions;
    functions.add(bench::pure_chain);
    cluster::serve(functions, {.connection = {.address = arguments[2]},
                               .executors = 1,
                               .on_ready = [&] { std::ofstream{arguments[3]}; },
                               .stop = signals.token()});
    return 0;
  }
  if (command == "items") {
    const auto steps = std::strtoull(arguments[2], nullptr, 10);
    for (int i = 3; i < count; ++i) {
      const auto number = std::strtoull(arguments[i], nullptr, 10);
      std::printf("%llu %" PRIu64 "\n", number, bench::walk({.number = number, .steps = steps}));
    }
    return 0;
  }
  std::fputs("usage: cluster_item serve ADDRESS FILE | items STEPS NUMBER...\n", stderr);
  return 2;
}
