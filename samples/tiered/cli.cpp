#include "cli.hpp"

#include <basal/executors/config.hpp>

#include <CLI/CLI.hpp>

#include <utility>

#include "common/between.hpp"
#include "common/observe.hpp"
#include "common/program.hpp"

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
  = "Exit status: 0; 1 if a call had no result or results could not be written; 2 for wrong usage\n"
    "or a file that is no program.";

int usage_error(const std::string& message) {
  samples::complain("tiered", message);
  return exit_usage;
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

  using samples::between;
  constexpr std::size_t most_executors = basal::executors::pool_config::max_executors;
  CLI::App app(description, "tiered");
  app.footer(footer);
  app.add_option("FILE", o.files, "Programs; see the README for the language")->required();
  app
    .add_option("-c,--call", calls,
                "A call to answer, as 'fib(20)', or 'PROGRAM:fib(20)' if it is not of the first"
                " file; can be repeated. With '-', one a line from standard input")
    ->allow_extra_args(false);
  app.add_option("-n,--requests", o.requests, "Calls of each main()")
    ->capture_default_str()
    ->check(between(1, 10'000'000));
  app.add_option("--pause", pause_us, "Microseconds between an answer and the next call")
    ->capture_default_str()
    ->check(between(0, 60'000'000));
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
    ->capture_default_str()
    ->check(between(1, 256));
  app.add_option("--calls", o.bounds.calls, "Calls that a call may cause in all")
    ->capture_default_str()
    ->check(between(1, 1'000'000'000'000'000));
  app
    .add_option("--executors", o.executors,
                "Message executors: threads that answer. Default: one for each usable CPU")
    ->type_name("N")
    ->check(between(1, most_executors));
  app
    .add_option("--compute", o.compute,
                "Compute executors: threads that compile. Default: one for each usable CPU")
    ->type_name("N")
    ->check(between(1, most_executors));
  if constexpr (samples::can_observe)
    app.add_flag(std::string("--observe{") + samples::usual_address + "}", o.observe,
                 samples::observe_help);

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
    return exit_with(usage_error(std::string(e.what()) + "; see tiered --help"));
  }

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
