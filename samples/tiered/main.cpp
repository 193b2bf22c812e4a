#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/priority/background_pool.hpp>

#include <caf/actor_system.hpp>

#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "common/observe.hpp"
#include "common/program.hpp"

#include "cli.hpp"
#include "library.hpp"
#include "service.hpp"

namespace {

using namespace tiered;

// The request of the client that must not wait.
constexpr const char* interactive_name = "interactive";
constexpr const char* interactive_program
  = "fn hypotenuse(a: float, b: float): float = sqrt(a * a + b * b)";
constexpr const char* interactive_call = "hypotenuse(3.0, 4.0)";

// One byte more than a program may have, so that the parser sees it: /dev/zero has no end.
std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(most_source_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  // A folder opens, but does not read.
  if (!file.is_open() || file.bad())
    throw std::runtime_error("cannot read it; is it a file, and may you read it?");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// True if all files are programs; says what is wrong with the others.
bool load(library& programs, const options& o) {
  bool good = true;
  for (const std::string& path : o.files) {
    try {
      programs.add(std::filesystem::path(path).stem().string(), read_file(path));
      const program& p = programs.scripts().back()->source();
      const auto main = p.find("main");
      const bool under_load = o.calls.empty() && !o.calls_from_stdin;
      if (under_load && (!main || !p.functions[*main].parameters.empty()))
        throw std::runtime_error("it has no function main(); add one, or use --call");
    } catch (const source_error& e) {
      std::fprintf(stderr, "%s:%s\n", path.c_str(), e.what());
      good = false;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), e.what());
      good = false;
    }
  }
  return good;
}

int run(const options& o) {
  basal::actor_system_config config;
  config.set("basal.message-executors", o.executors);
  config.set("basal.compute-executors", o.compute);
  // Programs run on the stacks of message executors, twice their own count, and GCC on those of
  // compute executors. Memory is used as far as a stack is.
  config.set("basal.stack-bytes", static_cast<std::size_t>(2 * o.bounds.stack_bytes) + (8 << 20));
  spdlog::set_pattern("%n: %v"); // logger and text, as before there is an actor system
  if (!o.observe.empty())
    config.set("basal.observer", o.observe);
  caf::actor_system system(config);
  const samples::observer observer{system};

  basal::priority::tiering_config tiering;
  tiering.thresholds = o.thresholds;
  tiering.in_caller = o.compile_in_handler;
  library programs(
    basal::priority::background_pool::of(basal::actors::runtime_of(system).compute()),
    std::move(tiering));
  if (!load(programs, o))
    return exit_usage;
  if (!o.calls.empty() || o.calls_from_stdin)
    return answer_calls(system, programs, o);
  programs.add(interactive_name, interactive_program);
  script& interactive = *programs.find(interactive_name);
  return serve_load(system, programs, interactive,
                    parse_request(interactive.source(), interactive_call), o);
}

} // namespace

int main(int argc, char** argv) {
  return samples::run_program("tiered", exit_failed, [&] {
    const command_line line = parse_command_line(argc, argv);
    return line.exits ? line.status : run(line.value);
  });
}
