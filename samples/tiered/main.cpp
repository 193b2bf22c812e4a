#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/priority/background_pool.hpp>

#include <caf/actor_system.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli.hpp"
#include "library.hpp"
#include "service.hpp"

namespace {

using namespace tiered;

// What the client that must not wait asks for.
constexpr const char* interactive_name = "interactive";
constexpr const char* interactive_program
  = "fn hypotenuse(a: float, b: float): float = sqrt(a * a + b * b)";
constexpr const char* interactive_call = "hypotenuse(3.0, 4.0)";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // A folder opens, but does not read.
  if (!file || std::filesystem::is_directory(path))
    throw std::runtime_error("cannot read it; is it a file, and may you read it?");
  return {std::istreambuf_iterator<char>(file), {}};
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
  caf::actor_system system(config);

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
  const command_line line = parse_command_line(argc, argv);
  if (line.exits)
    return line.status;
  try {
    return run(line.value);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tiered: %s\n", e.what());
    return exit_failed;
  }
}
