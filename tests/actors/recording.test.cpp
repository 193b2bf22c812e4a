// Actors' turns in a flight recording.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/detail/scheduler.hpp>
#include <basal/executors/recorder.hpp>
#include <basal/executors/trace.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <unistd.h>

#include "support/catch.hpp"
#include "support/perfetto.hpp"

namespace {

using add_atom = caf::atom_constant<caf::atom("add")>;

class adder final : public caf::event_based_actor {
public:
  using event_based_actor::event_based_actor;

  caf::behavior make_behavior() override {
    return {
      [](add_atom, std::int32_t a, std::int32_t b) {
        stay_a_while();
        return a + b;
      },
      [](const std::string& text) {
        stay_a_while();
        return static_cast<std::int32_t>(text.size());
      },
    };
  }

private:
  /// Long enough for the next turn to be asked for its message.
  static void stay_a_while() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds{100};
    while (std::chrono::steady_clock::now() < end) {
      // busy
    }
  }
};

basal::test::perfetto_reader recorded() {
  const auto path
    = std::filesystem::temp_directory_path() / ("basal-turns-" + std::to_string(getpid()) + ".raw");
  basal::executors::recorder::write(path.string());
  std::ifstream in{path, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  std::filesystem::remove(path);
  return basal::test::perfetto_reader{
    basal::executors::to_perfetto(std::as_bytes(std::span{bytes})).bytes};
}

} // namespace

TEST_CASE("turns have the type of the actor and of the message that began them") {
  basal::actor_system_config config;
  caf::actor_system system{config};
  {
    caf::scoped_actor self{system};
    const auto partner = self->spawn<adder>();
    const auto ask = [&](const auto&... what) {
      std::int32_t result = 0;
      self->request(partner, caf::infinite, what...)
        .receive([&](std::int32_t answer) { result = answer; }, [](const caf::error&) {});
      std::this_thread::sleep_for(std::chrono::milliseconds{1}); // the turn ends
      return result;
    };
    for (std::int32_t i = 0; i < 10; ++i) {
      CHECK(ask(add_atom::value, i, i) == 2 * i);
      CHECK(ask(std::string(i, 'x')) == i);
    }
    self->send_exit(partner, caf::exit_reason::user_shutdown);
  }
  const auto read = recorded();
  CHECK(read.nesting_problem() == "");
  const std::string type = "(anonymous namespace)::adder";
  // A request that comes before the turn's end belongs to that turn.
  CHECK(read.count("basal.msg", 1, type + " <- ('add', i32, i32)") >= 1);
  CHECK(read.count("basal.msg", 1, type + " <- str") >= 1);
}

TEST_CASE("a system that is told so keeps no recording") {
  basal::actor_system_config config;
  config.set("basal.recorder", false);
  caf::actor_system system{config};
  auto& scheduler = *basal::actors::scheduler::of(system);
  CHECK(scheduler.messages().at(0).flight() == nullptr);
  CHECK(scheduler.compute().compute().at(0).flight() == nullptr);
}
