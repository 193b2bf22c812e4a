#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/options.hpp>
#include <basal/actors/scheduler.hpp>

#include <caf/actor_system.hpp>
#include <caf/exec_main.hpp>
#include <caf/sec.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using basal::actors::scheduler;

namespace {

// A program's own configuration, as CAF's users write it.
struct derived_config : basal::actor_system_config {
  std::string greeting = "none";
  std::size_t count = 0;

  derived_config() {
    opt_group{custom_options_, "program"}
      .add(greeting, "greeting", "what to say")
      .add(count, "count", "how often");
  }
};

// Set while it lives.
class environment_variable {
public:
  environment_variable(const char* name, const char* value) : name_(name) {
    setenv(name, value, 1);
  }
  ~environment_variable() {
    unsetenv(name_);
  }

private:
  const char* name_;
};

caf::error parse(basal::actor_system_config& cfg, std::vector<std::string> args,
                 const std::string& file = "") {
  std::istringstream ini{file};
  return cfg.parse(std::move(args), ini);
}

std::string complaint(std::vector<std::string> args, const std::string& file = "") {
  basal::actor_system_config cfg;
  return cfg.render(parse(cfg, std::move(args), file));
}

} // namespace

TEST_CASE("the command line chooses the executors") {
  basal::actor_system_config cfg;
  REQUIRE_FALSE(
    parse(cfg, {"--basal.message-executors=3", "--basal.compute-executors=1", "--basal.quantum=1ms",
                "--basal.stack-bytes=131072", "--scheduler.max-throughput=5"}));
  caf::actor_system system{cfg};
  auto* found = scheduler::of(system);
  REQUIRE(found != nullptr);
  CHECK(found->messages().size() == 3);
  CHECK(found->num_workers() == 3);
  CHECK(found->max_throughput() == 5);
  CHECK(found->compute().compute().size() == 1);
  CHECK(found->compute().config().quantum == 1ms);
  CHECK(found->messages().config().stack_bytes == 131072);
}

TEST_CASE("the file does, too, and the command line wins") {
  basal::actor_system_config cfg;
  REQUIRE_FALSE(parse(cfg, {"--basal.message-executors=2"},
                      "[basal]\nmessage-executors = 4\ncompute-executors = 3\nquantum = 500us\n"));
  caf::actor_system system{cfg};
  auto* found = scheduler::of(system);
  REQUIRE(found != nullptr);
  CHECK(found->messages().size() == 2);
  CHECK(found->compute().compute().size() == 3);
  CHECK(found->compute().config().quantum == 500us);
}

TEST_CASE("scheduler.max-threads stands for message-executors that are not given") {
  basal::actor_system_config cfg;
  REQUIRE_FALSE(parse(cfg, {"--scheduler.max-threads=3"}));
  caf::actor_system system{cfg};
  CHECK(scheduler::of(system)->messages().size() == 3);
}

TEST_CASE("the defaults start and use the CPUs that the process may use") {
  basal::actor_system_config cfg;
  caf::actor_system system{cfg};
  auto* found = scheduler::of(system);
  REQUIRE(found != nullptr);
  CHECK(found->messages().size() == basal::executors::usable_cpus());
  CHECK(found->max_throughput() == std::numeric_limits<std::size_t>::max());
}

TEST_CASE("a derived configuration keeps its own options") {
  derived_config cfg;
  REQUIRE_FALSE(parse(cfg, {"--program.count=7", "--basal.message-executors=1"},
                      "[program]\ngreeting = \"hello\"\n"));
  CHECK(cfg.greeting == "hello");
  CHECK(cfg.count == 7);
  caf::actor_system system{cfg};
  CHECK(scheduler::of(system)->messages().size() == 1);
}

TEST_CASE("a value out of its range is refused with its name and the range") {
  CHECK_THAT(complaint({"--basal.message-executors=0"}),
             ContainsSubstring("basal.message-executors is 0, must be from 1 to 4096 executors"));
  CHECK_THAT(complaint({"--basal.compute-executors=5000"}),
             ContainsSubstring("basal.compute-executors is 5000, must be from 1 to 4096"));
  CHECK_THAT(complaint({}, "[basal]\nquantum = 20us\n"),
             ContainsSubstring("basal.quantum is 20us, must be from 50us to 10ms"));
  CHECK_THAT(complaint({"--basal.quantum=1s"}), ContainsSubstring("must be from 50us to 10ms"));
  CHECK_THAT(complaint({"--basal.stack-bytes=1"}),
             ContainsSubstring("basal.stack-bytes is 1, must be"));
  CHECK_THAT(complaint({"--scheduler.max-threads=0"}),
             ContainsSubstring("scheduler.max-threads is 0"));
  CHECK_THAT(complaint({"--scheduler.max-throughput=0"}),
             ContainsSubstring("scheduler.max-throughput is 0, must be from 1"));
}

TEST_CASE("the environment comes after the file, and before the program and the command line") {
  const auto quantum_of
    = [](basal::actor_system_config& cfg) { return basal::actors::read_options(cfg).quantum; };
  const environment_variable quantum{"BASAL_QUANTUM", "300us"};
  const std::string file = "[basal]\nquantum = 400us\nstack-bytes = 131072\n";
  {
    basal::actor_system_config cfg;
    CHECK(quantum_of(cfg) == 300us); // also of one that parses nothing
    REQUIRE_FALSE(parse(cfg, {}, file));
    CHECK(quantum_of(cfg) == 300us);
    CHECK(basal::actors::read_options(cfg).stack_bytes == 131072);
  }
  basal::actor_system_config cfg;
  cfg.set("basal.quantum", caf::timespan{500us});
  CHECK(quantum_of(cfg) == 500us);
  REQUIRE_FALSE(parse(cfg, {}, file));
  CHECK(quantum_of(cfg) == 500us);
  REQUIRE_FALSE(parse(cfg, {"--basal.quantum=600us"}, file));
  CHECK(quantum_of(cfg) == 600us);
}

TEST_CASE("what the environment says is checked, with the variable's name") {
  {
    const environment_variable wrong{"BASAL_STACK_BYTES", "7"};
    CHECK_THAT(complaint({}), ContainsSubstring("BASAL_STACK_BYTES is 7, must be from 65536"));
    CHECK(complaint({"--basal.stack-bytes=131072"}) == "none");
  }
  {
    const environment_variable wrong{"BASAL_MESSAGE_EXECUTORS", "many"};
    CHECK_THAT(complaint({}), ContainsSubstring("BASAL_MESSAGE_EXECUTORS is 'many'"));
  }
  const environment_variable negative{"BASAL_COMPUTE_EXECUTORS", "-1"};
  CHECK_THAT(complaint({}), ContainsSubstring("BASAL_COMPUTE_EXECUTORS is '-1'"));
}

TEST_CASE("pinning takes one of three words, and not more executors than CPUs") {
  CHECK_THAT(complaint({"--basal.pinning=tight"}),
             ContainsSubstring("basal.pinning is 'tight', must be none, spread or compact"));
  CHECK_THAT(complaint({"--basal.pinning=spread", "--basal.message-executors=4000"}),
             ContainsSubstring("basal.message-executors is 4000, must be from 1 to "));
  basal::actor_system_config cfg;
  REQUIRE_FALSE(parse(cfg, {"--basal.pinning=spread"}));
  caf::actor_system system{cfg};
  CHECK(scheduler::of(system)->messages().config().pin == basal::executors::pinning::spread);
}

TEST_CASE("a value of the wrong type is refused by CAF's parser") {
  CHECK(complaint({"--basal.message-executors=many"}) != "none");
  CHECK(complaint({"--basal.message-executors=-1"}) != "none");
  CHECK(complaint({"--basal.no-such-option=1"}) != "none");
}

// CAF 0.17.6 drops such settings of a file without a word.
TEST_CASE("a setting of the wrong type in a file is refused with name, value, source and what is "
          "expected") {
  const auto in_file = [](const std::string& line) { return complaint({}, "[basal]\n" + line); };
  CHECK_THAT(in_file("message-executors = \"two\""),
             ContainsSubstring("basal.message-executors is ") && ContainsSubstring("two")
               && ContainsSubstring("in the configuration file, must be a whole number"));
  CHECK_THAT(in_file("message-executors = -3"),
             ContainsSubstring("basal.message-executors is -3 in the configuration file"));
  CHECK_THAT(in_file("quantum = 5"), ContainsSubstring("basal.quantum is 5 in the configuration ")
                                       && ContainsSubstring("with its unit, such as 200us"));
  CHECK_THAT(in_file("pinning = 3"), ContainsSubstring("basal.pinning is 3 in the"));
  CHECK_THAT(in_file("mab-calibrate = 3"),
             ContainsSubstring("basal.mab-calibrate is 3 in the configuration file, must be true"));
  CHECK_THAT(in_file("mab-k-starve = \"x\""), ContainsSubstring("must be a number"));
  CHECK_THAT(in_file("mab-k-starve = -1"), ContainsSubstring("k_starve is -1"));
  CHECK_THAT(complaint({}, "[scheduler]\nmax-threads = \"all\"\n"),
             ContainsSubstring("scheduler.max-threads is "));
  CHECK_THAT(complaint({}, "basal = 3\n"), ContainsSubstring("basal is 3 in the configuration file"
                                                             ", must be a group of options"));
}

TEST_CASE("an option that basal does not have is refused") {
  const std::string sentence = "there is no option basal.message-executor, which is set";
  CHECK_THAT(complaint({}, "[basal]\nmessage-executor = 2\n"),
             ContainsSubstring(sentence + " in the configuration file"));
  CHECK_THAT(complaint({"--basal.message-executor=2"}),
             ContainsSubstring(sentence + " on the command line"));
  CHECK_THAT(complaint({}, "[basal.mab]\nk-starve = 0.2\n"),
             ContainsSubstring("there is no option basal.mab"));
  basal::actor_system_config cfg;
  CHECK_THROWS_WITH(cfg.set("basal.message-executor", 2),
                    ContainsSubstring(sentence + " in set()"));
}

TEST_CASE("a program may have options of its own in the group basal") {
  struct own_config : basal::actor_system_config {
    std::size_t size = 0;
    own_config() {
      opt_group{custom_options_, "basal"}.add(size, "own-size", "of the program");
    }
  } cfg;
  REQUIRE_FALSE(parse(cfg, {}, "[basal]\nown-size = 3\n"));
  CHECK(cfg.size == 3);
  REQUIRE_FALSE(parse(cfg, {"--basal.own-size=4"}));
  CHECK(cfg.size == 4);
  cfg.set("basal.own-size", std::size_t{5});
  CHECK(cfg.size == 5);
}

TEST_CASE("wrong types on the command line and in the environment say what is expected") {
  CHECK_THAT(complaint({"--basal.message-executors=many"}),
             ContainsSubstring("basal.message-executors is 'many' on the command line, must be a "
                               "whole number"));
  const environment_variable no_unit{"BASAL_QUANTUM", "5"};
  CHECK_THAT(complaint({}), ContainsSubstring("BASAL_QUANTUM is '5' in the environment, must be a "
                                              "duration with its unit, such as 200us"));
}

TEST_CASE("a duration that overflows is refused wherever it comes from") {
  // CAF wraps it: this one to something in range.
  const std::string wrapping = "1000000000h";
  const auto sentence = [&](const std::string& place) {
    return ContainsSubstring("basal.stop-deadline is " + place + ", must be a duration");
  };
  CHECK_THAT(complaint({"--basal.stop-deadline=" + wrapping}),
             sentence("'" + wrapping + "' on the command line"));
  CHECK_THAT(complaint({}, "[other]\nstop-deadline = 1s\n[basal]\nstop-deadline=" + wrapping),
             sentence(wrapping + " in the configuration file"));
  CHECK_THAT(complaint({}, "[basal]\nstop-deadline = 99999999999h ; for ever\n"),
             sentence("99999999999h in the configuration file"));
  CHECK(complaint({}, "[basal]\nstop-deadline = 10h\n") == "none");
  const environment_variable variable{"BASAL_STOP_DEADLINE", wrapping.c_str()};
  CHECK_THAT(complaint({}), ContainsSubstring("BASAL_STOP_DEADLINE is '" + wrapping + "'"));
}

TEST_CASE("a value of the wrong type that the program sets is refused") {
  basal::actor_system_config cfg;
  CHECK_THROWS_WITH(cfg.set("basal.message-executors", "two"),
                    ContainsSubstring("basal.message-executors is ")
                      && ContainsSubstring(" in set(), must be a whole number"));
  CHECK(parse(cfg, {}) == caf::sec::invalid_argument);
  CHECK_THROWS_WITH(basal::actor_system_config{}.set("basal.quantum", 5),
                    ContainsSubstring("basal.quantum is 5 in set(), must be a duration"));
  CHECK_THROWS_WITH(basal::actor_system_config{}.set("scheduler.max-threads", "two"),
                    ContainsSubstring("scheduler.max-threads is "));
}

TEST_CASE("a named configuration file is read, and must exist") {
  basal::actor_system_config cfg;
  CHECK(cfg.parse({"--config-file=/no/such/file"}) == caf::sec::cannot_open_file);
  basal::actor_system_config without;
  CHECK_FALSE(without.parse({}, "/no/such/file"));
  const auto name = "actor_system_config.test." + std::to_string(getpid()) + ".ini";
  std::ofstream{name} << "[basal]\nquantum = 400us\n";
  for (const auto& path : {name, '"' + name + '"'}) {
    basal::actor_system_config reader;
    CHECK_FALSE(reader.parse({"--config-file=" + path}));
    CHECK(basal::actors::read_options(reader).quantum == 400us);
  }
  std::remove(name.c_str());
}

TEST_CASE("a value out of its range that the program sets is refused as well") {
  basal::actor_system_config cfg;
  CHECK_THROWS_WITH(cfg.set("basal.message-executors", std::size_t{0}),
                    ContainsSubstring("basal.message-executors is 0"));
  CHECK_THROWS_AS(basal::actors::read_options(cfg), std::invalid_argument);
  CHECK(parse(cfg, {}) == caf::sec::invalid_argument);
  cfg.set("basal.message-executors", std::size_t{2}).set("basal.quantum", caf::timespan{1ms});
  CHECK(basal::actors::read_options(cfg).message_executors == 2);
  CHECK(basal::actors::read_options(cfg).quantum == 1ms);
}

TEST_CASE("the configuration dump shows what basal uses") {
  basal::actor_system_config cfg;
  REQUIRE_FALSE(parse(cfg, {"--basal.message-executors=3"}));
  auto dump = cfg.dump_content();
  CHECK(caf::get<std::size_t>(dump, "basal.message-executors") == 3);
  CHECK(caf::get<std::size_t>(dump, "basal.compute-executors") == basal::executors::usable_cpus());
  CHECK(caf::get<caf::timespan>(dump, "basal.quantum") == 200us);
}

namespace {

std::string seen_by_main;

void program(caf::actor_system& system, const derived_config& cfg) {
  seen_by_main = cfg.greeting + (scheduler::of(system) != nullptr ? " on basal" : " on stock CAF");
}

} // namespace

TEST_CASE("CAF_MAIN's exec_main runs a program with a derived configuration") {
  std::string name = "program";
  std::string option = "--program.greeting=hello";
  char* argv[] = {name.data(), option.data(), nullptr};
  CHECK(caf::exec_main<>(program, 2, argv, "no-such-file.ini") == EXIT_SUCCESS);
  CHECK(seen_by_main == "hello on basal");
  std::string wrong = "--basal.compute-executors=0";
  argv[1] = wrong.data();
  CHECK(caf::exec_main<>(program, 2, argv, "no-such-file.ini") == EXIT_FAILURE);
}
