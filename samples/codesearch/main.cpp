#include <basal/actors/actor_system_config.hpp>

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "common/observe.hpp"
#include "common/program.hpp"

#include "cli.hpp"
#include "context.hpp"
#include "index.hpp"
#include "run_stats.hpp"
#include "searcher.hpp"
#include "session.hpp"
#include "terminal.hpp"

namespace {

using namespace codesearch;

// Reading is cheap beside indexing, and readers block their executor: one executor stays free for
// the index and for queries where there is more than one. More readers than this only help disks
// with many requests in flight.
constexpr std::size_t most_readers = 4;

// Jobs at a time, each of them parallel in itself. One would leave the compute executors without
// work between two jobs; the second one fills the gap.
constexpr std::size_t workers = 2;

// An actor that fails, as any can when memory runs out, takes those it is linked to with it; nobody
// would answer the main thread then.
void watch(const caf::actor& a, const context_ptr& run) {
  a->attach_functor([run](const caf::error& reason) {
    if (reason && reason != caf::exit_reason::user_shutdown) {
      run->events.post(indexing_failed{"an actor failed (" + caf::to_string(reason)
                                       + "), most likely for want of memory; index fewer files at "
                                         "a time"});
    }
  });
}

/// Ends the two actors, however the main loop ends: the actor system waits for them.
class ending {
public:
  ending(context_ptr run, caf::actor owner, caf::actor answers)
    : run_(std::move(run)), owner_(std::move(owner)), answers_(std::move(answers)) {
  }

  ending(const ending&) = delete;
  ending& operator=(const ending&) = delete;

  ~ending() {
    // At the prompt one may leave before the index is complete.
    run_->stop.store(true, std::memory_order_relaxed);
    caf::anon_send_exit(answers_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(owner_, caf::exit_reason::user_shutdown);
  }

private:
  context_ptr run_;
  caf::actor owner_;
  caf::actor answers_;
};

int run(const options& opts) {
  stop_signals signals;
  basal::actor_system_config config;
  config.set("basal.message-executors", opts.executors);
  config.set("basal.compute-executors", opts.compute);
  spdlog::set_pattern("%n: %v"); // logger and text, as before there is an actor system
  if (!opts.observe.empty()) {
    config.set("basal.observer", opts.observe);
  }
  caf::actor_system system(config);

  auto shared = std::make_shared<context>();
  shared->roots = opts.roots;
  shared->readers = std::clamp<std::size_t>(opts.executors - 1, 1, most_readers);
  shared->workers = workers;
  const caf::actor owner = system.spawn(index_actor, shared);
  const caf::actor answers = system.spawn(searcher_actor, shared, owner);
  watch(owner, shared);
  watch(answers, shared);
  const ending actors(shared, owner, answers);

  samples::observer_options shown;
  shown.box.label = "Search the index";
  shown.box.answer = [&](const std::string& text) { return ask(answers, text, opts.top); };
  const samples::observer observer{system, shown};

  session main_loop(opts, shared, answers);
  const int status = main_loop.loop(signals);
  print_stats(system, opts.stats);
  return status;
}

} // namespace

int main(int argc, char** argv) {
  return samples::run_program("codesearch", exit_incomplete, [&] {
    const command_line line = parse_command_line(argc, argv);
    return line.exits ? line.status : run(line.value);
  });
}
