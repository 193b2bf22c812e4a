#include <basal/actors/actor_system_config.hpp>

#include <basal/actors/knob_options.hpp>
#include <basal/actors/options.hpp>
#include <basal/actors/scheduler.hpp>
#include <basal/actors/stats.hpp>

#include <caf/sec.hpp>
#include <caf/timespan.hpp>

#include <stdexcept>
#include <utility>

namespace basal {

namespace {

// `problem` is what CAF's parser found.
caf::error checked(caf::error problem, const actor_system_config& cfg) {
  if (problem || cfg.cli_helptext_printed)
    return problem;
  try {
    actors::read_options(cfg);
  } catch (const std::invalid_argument& invalid) {
    return caf::make_error(caf::sec::invalid_argument, std::string{invalid.what()});
  }
  return caf::none;
}

} // namespace

actor_system_config::actor_system_config() {
  load<actors::scheduler>();
  add_message_type<executors::executor_stats>("basal::executors::executor_stats");
  add_message_type<posse::posse_stats>("basal::posse::posse_stats");
  add_message_type<actors::system_stats>("basal::actors::system_stats");
  opt_group{custom_options_, "basal"}
    .add<std::size_t>("message-executors", "number of executors that run actors")
    .add<std::size_t>("compute-executors", "number of executors for pure functions")
    .add<caf::timespan>("quantum", "time slice of computations, 50us to 10ms")
    .add<std::size_t>("stack-bytes", "usable bytes of each fiber's stack");
  actors::add_knob_options(custom_options_);
}

caf::error actor_system_config::parse(string_list args, std::istream& ini) {
  return checked(super::parse(std::move(args), ini), *this);
}

caf::error actor_system_config::parse(string_list args, const char* ini_file_cstr) {
  return checked(super::parse(std::move(args), ini_file_cstr), *this);
}

caf::error actor_system_config::parse(int argc, char** argv, std::istream& ini) {
  return checked(super::parse(argc, argv, ini), *this);
}

caf::error actor_system_config::parse(int argc, char** argv, const char* ini_file_cstr) {
  return checked(super::parse(argc, argv, ini_file_cstr), *this);
}

void actor_system_config::check() const {
  actors::read_options(*this);
}

caf::settings actor_system_config::dump_content() const {
  auto result = super::dump_content();
  try {
    const auto options = actors::read_options(*this);
    auto& group = result["basal"].as_dictionary();
    caf::put_missing(group, "message-executors", options.message_executors);
    caf::put_missing(group, "compute-executors", options.compute_executors);
    caf::put_missing(group, "quantum", caf::timespan{options.quantum});
    caf::put_missing(group, "stack-bytes", options.stack_bytes);
    actors::put_missing_knobs(options.knobs, group);
  } catch (const std::invalid_argument&) {
    // Shown as it was given; parse() tells what is wrong with it.
  }
  return result;
}

} // namespace basal
