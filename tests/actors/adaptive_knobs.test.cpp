#include "actors/adaptive_fixture.hpp"

#include <basal/actors/adaptive_map.hpp>
#include <basal/actors/offload.hpp>
#include <basal/actors/options.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/actors/stats.hpp>

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deep_to_string.hpp>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using basal::mab::event;
using namespace adaptive_tests;
using basal::actors::adaptive;
using caf::behavior;
using caf::event_based_actor;

namespace {

basal::actors::knob_options read_knob_options(const caf::actor_system_config& cfg) {
  return basal::actors::read_options(cfg).adaptive;
}

/// The complaint of parse() about a command line; empty if there is none.
std::string refusal_of(std::vector<std::string> args) {
  basal::actor_system_config cfg;
  std::istringstream no_file;
  const auto problem = cfg.parse(std::move(args), no_file);
  return problem ? caf::to_string(problem) : "";
}

} // namespace

TEST_CASE("knobs come from the command line and the file, under their names with dashes") {
  basal::actor_system_config cfg;
  std::istringstream file{
    "[basal]\nmab-t-block-hard-us = 300.0\nmab-chosen-by = \"ucb1\"\n"
    "mab-restart-on-shift = false\nmab-enable-strikes = false\nmab-calibrate = false\n"};
  REQUIRE_FALSE(cfg.parse({"--basal.mab-k-starve=0.25", "--basal.mab-hint-exploration-count=7",

                           "--basal.mab-model=separate_arms"},
                          file));
  const auto read = read_knob_options(cfg);
  CHECK(read.knobs.k_starve == 0.25);
  CHECK(read.knobs.t_block_hard_us == 300);
  CHECK(read.knobs.hint_exploration_count == 7);
  CHECK_FALSE(read.knobs.enable_strikes);
  CHECK_FALSE(read.knobs.restart_on_shift);
  CHECK(read.knobs.chosen_by == basal::mab::policy::ucb1);
  CHECK(read.knobs.model == basal::mab::cost_model::separate_arms);
  CHECK_FALSE(read.calibrate);
}

TEST_CASE("a whole number stands for a real one, in a file and in the program") {
  basal::actor_system_config cfg;
  std::istringstream file{"[basal]\nmab-t-strike-us = 500\n"};
  REQUIRE_FALSE(cfg.parse({}, file));
  CHECK(read_knob_options(cfg).knobs.t_strike_us == 500);
  cfg.set("basal.mab-k-starve", 1);
  CHECK(read_knob_options(cfg).knobs.k_starve == 1);
}

TEST_CASE("knobs come from the environment, too: after the file and before the program") {
  setenv("BASAL_MAB_P_LOW", "0.75", 1);
  basal::actor_system_config cfg;
  std::istringstream file{"[basal]\nmab-p-low = 0.25\n"};
  REQUIRE_FALSE(cfg.parse({}, file));
  CHECK(read_knob_options(cfg).knobs.p_low == 0.75);
  cfg.set("basal.mab-p-low", 0.5);
  CHECK(read_knob_options(cfg).knobs.p_low == 0.5);
  setenv("BASAL_MAB_P_LOW", "nan", 1);
  CHECK_THAT(refusal_of({}), ContainsSubstring("BASAL_MAB_P_LOW is 'nan' in the environment"));
  unsetenv("BASAL_MAB_P_LOW");
}

TEST_CASE("every knob has an option, and its default is the knob's") {
  const basal::mab::knobs defaults;
  for (const auto& info : basal::mab::knob_table()) {
    auto name = std::string{info.name};
    for (auto& c : name)
      c = c == '_' ? '-' : c;
    basal::actor_system_config cfg;
    CHECK(read_knob_options(cfg).knobs.*info.value == defaults.*info.value);
    // A value that is in range wherever the default is.
    const double other = defaults.*info.value * 0.99;
    std::istringstream no_file;
    REQUIRE_FALSE(cfg.parse({"--basal.mab-" + name + "=" + std::to_string(other)}, no_file));
    CHECK(read_knob_options(cfg).knobs.*info.value == Approx(other).epsilon(1e-4));
  }
}

TEST_CASE("knobs out of their range are refused before the system starts, with name and range") {
  CHECK_THAT(refusal_of({"--basal.mab-decay=1.5"}),
             ContainsSubstring("decay is 1.5") && ContainsSubstring("above 0 and below 1"));
  CHECK_THAT(refusal_of({"--basal.mab-t-strike-us=-1"}), ContainsSubstring("t_strike_us is -1"));
  CHECK_THAT(refusal_of({"--basal.mab-p-low=4"}),
             ContainsSubstring("p_low is 4") && ContainsSubstring("at most p_high, which is 3"));
  CHECK_THAT(refusal_of({"--basal.mab-hint-exploration-count=100000"}),
             ContainsSubstring("hint_exploration_count is 100000"));
  CHECK_THAT(refusal_of({"--basal.mab-chosen-by=dice"}), ContainsSubstring("basal.mab-chosen-by")
                                                           && ContainsSubstring("'dice'")
                                                           && ContainsSubstring("thompson, ucb1"));
  basal::actor_system_config cfg;
  CHECK_THROWS_WITH(cfg.set("basal.mab-k-starve", -0.5), ContainsSubstring("k_starve is -0.5"));
  CHECK(refusal_of({"--basal.mab-p-low=1"}).empty());
}

TEST_CASE("who asks for the configuration sees the knobs") {
  basal::actor_system_config cfg;
  cfg.set("basal.mab-k-starve", 0.25);
  const auto text = caf::deep_to_string(cfg.dump_content());
  CHECK_THAT(text, ContainsSubstring("mab-k-starve") && ContainsSubstring("0.25")
                     && ContainsSubstring("mab-chosen-by") && ContainsSubstring("thompson"));
}

TEST_CASE("what an offload costs is measured once, for all that ask at the same time") {
  fixture f;
  // Handlers ask, whose fibers are suspended meanwhile, and plain threads.
  constexpr int askers = 6;
  caf::scoped_actor self{f.system};
  for (int i = 0; i < askers; ++i)
    f.system.spawn([asker = caf::actor{self}](caf::event_based_actor* actor) {
      actor->send(asker, basal::actors::knobs_of(actor->system()).offload_overhead_us);
    });
  std::vector<double> seen(askers);
  std::vector<std::thread> threads;
  for (auto& one : seen)
    threads.emplace_back([&] { one = basal::actors::knobs_of(f.system).offload_overhead_us; });
  for (auto& t : threads)
    t.join();
  for (int i = 0; i < askers; ++i)
    self->receive([&](double us) { seen.push_back(us); });
  CHECK(seen.front() > 0);
  CHECK(seen.front() != basal::mab::knobs{}.offload_overhead_us);
  CHECK(std::all_of(seen.begin(), seen.end(), [&](double us) { return us == seen.front(); }));
}

TEST_CASE("what an offload costs is not measured if the system is told") {
  basal::actor_system_config cfg;
  cfg.set("basal.mab-calibrate", false);
  cfg.set("basal.mab-offload-overhead-us", 17.5);
  caf::actor_system system{cfg};
  CHECK(basal::actors::knobs_of(system).offload_overhead_us == 17.5);
}

TEST_CASE("what the system decides by, handlers without knobs of their own decide by") {
  basal::actor_system_config cfg;
  cfg.set("basal.mab-chosen-by", "always_offload");
  cfg.set("basal.message-executors", std::size_t{1});
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  auto* messages = &basal::actors::scheduler::of(system)->messages();
  auto worker = system.spawn([messages](event_based_actor* me) -> behavior {
    return {adaptive(me, [messages](int) { return here() != messages; })};
  });
  self->request(worker, patience, 1)
    .receive([](bool elsewhere) { CHECK(elsewhere); },
             [&](caf::error& e) { FAIL(system.render(e)); });
}

TEST_CASE_METHOD(fixture, "the function time includes what the handler has had done elsewhere") {
  using get_atom = caf::get_atom;
  auto worker = system.spawn([](event_based_actor* me) -> behavior {
    auto handler = adaptive(
      me,
      [me](int) {
        burn(std::chrono::milliseconds{2});
        basal::actors::offload(me, [] { burn(std::chrono::milliseconds{3}); });
        basal::actors::adaptive_map(
          me, std::vector<int>{1, 2}, [](int) { burn(std::chrono::milliseconds{1}); },
          always_offload);
      },
      always_inline);
    return {handler, [handler](get_atom) {
              return std::exp(handler.chooser().believed().inline_belief().mean());
            }};
  });
  self->send(worker, 1);
  const auto us = ask<double>(worker, get_atom::value);
  CHECK(us >= 7000);
}

TEST_CASE_METHOD(fixture,
                 "statistics of choosers are read while the system runs, and can be sent") {
  auto worker = system.spawn([](event_based_actor* me) -> behavior {
    return {adaptive(me,
                     [](int x) {
                       burn(std::chrono::milliseconds{1});
                       return x;
                     },
                     {.name = "shop/order"})};
  });
  for (int i = 0; i < 8; ++i)
    CHECK(ask<int>(worker, i) == i);
  auto all = basal::actors::stats_of(system);
  REQUIRE(all.choosers.size() == 1);
  const auto& x = all.choosers.front();
  CHECK(x.name == "shop/order");
  CHECK(x.counts[event::inline_decision] + x.counts[event::offload_decision] == 8);
  CHECK(x.function_time.observations == 8);
  CHECK(x.function_time.typical_ns >= 1'000'000);
  CHECK(x.offload_overhead.observations == x.counts[event::offload_decision]);
  const auto sum = basal::actors::total(all.choosers);
  CHECK(sum.counts[event::finished] == x.counts[event::finished]);
  CHECK_THAT(caf::deep_to_string(all),
             ContainsSubstring("choosers = [chooser_stats(name = \"shop/order\", "
                               "inline_decisions = "));
  std::vector<char> bytes;
  caf::binary_serializer out{nullptr, bytes};
  REQUIRE_FALSE(out(all));
  basal::actors::system_stats copy;
  caf::binary_deserializer in{nullptr, bytes};
  REQUIRE_FALSE(in(copy));
  CHECK(caf::deep_to_string(copy) == caf::deep_to_string(all));
}
