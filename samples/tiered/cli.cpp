#include "cli.hpp"

#include <basal/executors/config.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <utility>

namespace tiered {

namespace {

constexpr const char* description
  = "Serves programs of a small language while it compiles them: what is called often climbs from\n"
    "a tree walk to bytecode, optimised bytecode and native code, in the background.\n"
    "\n"
    "With --call it answers these calls. Without it, it calls main() of each program many times,\n"
    "from one client a program, beside a client that waits for small answers; then it prints how\n"
    "the latency fell, and how long the small answers took while something was compiled.";

constexpr const char* footer
  = "Exit status: 0; 1 if a call had no result; 2 for wrong usage or a file that is no program.";

int usage_error(const std::string& message) {
  std::fprintf(stderr, "tiered: %s\n", message.c_str());
  return exit_usage;
}

// What is wrong with the number of an option, or nothing.
template <class T>
std::string check_range(const char* option, T value, T least, T most, const char* unit) {
  if (value >= least && value <= most)
    return {};
  return std::string(option) + " " + std::to_string(value) + " is not possible: it is a number of "
         + unit + " from " + std::to_string(least) + " to " + std::to_string(most);
}

} // namespace

command_line parse_command_line(int argc, char** argv) {
  command_line result;
  options& o = result.value;
  o.executors = basal::executors::usable_cpus();
  o.compute = basal::executors::usable_cpus();
  o.requests = 3000;
  o.thresholds = {2, 100, 500};
  std::vector<std::string> calls;
  std::int64_t stack_mib = o.bounds.stack_bytes >> 20;
  std::int64_t pause_us = 1000;

  CLI::App app(description, "tiered");
  app.footer(footer);
  app.add_option("FILE", o.files, "Programs; see the README for the language")->required();
  app
    .add_option("-c,--call", calls,
                "A call to answer, as 'fib(20)', or 'PROGRAM:fib(20)' if it is not of the first"
                " file; can be repeated. With '-', one a line from standard input")
    ->allow_extra_args(false);
  app.add_option("-n,--requests", o.requests, "Calls of each main()")->capture_default_str();
  app.add_option("--pause", pause_us, "Microseconds between an answer and the next call")
    ->capture_default_str();
  app
    .add_option("--thresholds", o.thresholds,
                "Calls of a function from which tiers 1, 2 and 3 are compiled")
    ->expected(3)
    ->capture_default_str();
  app.add_flag("--compile-in-handler", o.compile_in_handler,
               "Compile where the call is answered instead of in the background, to compare");
  app
    .add_option("--stack", stack_mib,
                "MiB of stack that a call may use, in the language's own count")
    ->capture_default_str();
  app.add_option("--calls", o.bounds.calls, "Calls that a call may cause in all")
    ->capture_default_str();
  app
    .add_option("--executors", o.executors,
                "Message executors: threads that answer. Default: one for each usable CPU")
    ->type_name("N");
  app
    .add_option("--compute", o.compute,
                "Compute executors: threads that compile. Default: one for each usable CPU")
    ->type_name("N");

  const auto exit_with = [&](int status) {
    result.exits = true;
    result.status = status;
    return result;
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) { // --help
    return exit_with(app.exit(e));
  } catch (const CLI::ParseError& e) {
    return exit_with(usage_error(std::string(e.what()) + "\nsee tiered --help"));
  }

  constexpr std::size_t most_executors = basal::executors::pool_config::max_executors;
  constexpr std::int64_t most_calls = 1'000'000'000'000'000;
  for (const std::string& error : {
         check_range<std::size_t>("--executors", o.executors, 1, most_executors, "threads"),
         check_range<std::size_t>("--compute", o.compute, 1, most_executors, "threads"),
         check_range<std::size_t>("--requests", o.requests, 1, 10'000'000, "calls"),
         check_range<std::int64_t>("--pause", pause_us, 0, 60'000'000, "microseconds"),
         check_range<std::int64_t>("--stack", stack_mib, 1, 256, "MiB"),
         check_range<std::int64_t>("--calls", o.bounds.calls, 1, most_calls, "calls"),
       })
    if (!error.empty())
      return exit_with(usage_error(error));
  for (std::size_t i = 0; i < o.thresholds.size(); ++i)
    if (o.thresholds[i] <= (i == 0 ? 0 : o.thresholds[i - 1]))
      return exit_with(usage_error("--thresholds: the first is at least 1, and each one above "
                                   "those before"));
  o.bounds.stack_bytes = stack_mib << 20;
  o.pause = std::chrono::microseconds(pause_us);
  for (std::string& text : calls) {
    if (text == "-")
      o.calls_from_stdin = true;
    else
      o.calls.push_back(std::move(text));
  }
  return result;
}

} // namespace tiered
