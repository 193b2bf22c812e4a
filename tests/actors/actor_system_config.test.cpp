// One piece: options are set in code, in a file, in the environment and on the command line, and
// all of these are held against the same table.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/detail/scheduler.hpp>
#include <basal/actors/exec_main.hpp>
#include <basal/actors/options.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/sec.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <sched.h>
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

// While it lives, this thread may use the CPU that it is on, and no other.
class on_one_cpu {
public:
  on_one_cpu() {
    REQUIRE(sched_getaffinity(0, sizeof before_, &before_) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  }
  ~on_one_cpu() {
    sched_setaffinity(0, sizeof before_, &before_);
  }
  on_one_cpu(const on_one_cpu&) = delete;
  on_one_cpu& operator=(const on_one_cpu&) = delete;

private:
  cpu_set_t before_;
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

TEST_CASE("the defaults start, with as many executors as the process may use CPUs or CAF has "
          "threads") {
  basal::actor_system_config cfg;
  caf::actor_system system{cfg};
  auto* found = scheduler::of(system);
  REQUIRE(found != nullptr);
  // As many as CAF has, which has 4 on smaller machines.
  CHECK(found->messages().size() == std::max<std::size_t>(basal::executors::usable_cpus(), 4));
  CHECK(found->compute().compute().size() == basal::executors::usable_cpus());
  CHECK(found->max_throughput() == std::numeric_limits<std::size_t>::max());
}

TEST_CASE("on one CPU there are four message executors, and one where they are pinned") {
  const on_one_cpu here;
  basal::actor_system_config cfg;
  auto found = basal::actors::read_options(cfg);
  CHECK(found.message_executors == 4);
  CHECK(found.compute.compute_executors == 1);
#ifndef __SANITIZE_THREAD__ // whose own thread keeps its CPUs; hwloc asks for those of all threads
  cfg.set("basal.pinning", std::string{"spread"});
  found = basal::actors::read_options(cfg);
  CHECK(found.message_executors == 1);
#endif
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
  CHECK_THAT(complaint({"--basal.quantum=-5ms"}), ContainsSubstring("basal.quantum is -5ms, must"));
  CHECK_THAT(complaint({"--basal.quantum=1s"}), ContainsSubstring("must be from 50us to 10ms"));
  CHECK_THAT(complaint({"--basal.stack-bytes=1"}),
             ContainsSubstring("basal.stack-bytes is 1, must be"));
  CHECK_THAT(complaint({"--scheduler.max-threads=0"}),
             ContainsSubstring("scheduler.max-threads is 0"));
  CHECK_THAT(complaint({"--scheduler.max-throughput=0"}),
             ContainsSubstring("scheduler.max-throughput is 0, must be from 1"));
}

// Each source names its own quantum; every pair of them is tried, and what CAF has no word for, the
// environment, comes between the file and the command line.
TEST_CASE("of two sources the later one wins: the program's defaults, file, environment, command "
          "line, and what the program sets after parse") {
  enum source { before, file, environment, command_line, after, sources };
  const auto quantum_from = [](unsigned mask) {
    const auto given = [&](source x) { return (mask & (1u << x)) != 0; };
    basal::actor_system_config cfg;
    if (given(before))
      cfg.set("basal.quantum", caf::timespan{(before + 1) * 100us});
    if (given(environment))
      setenv("BASAL_QUANTUM", "300us", 1);
    std::vector<std::string> args;
    if (given(command_line))
      args.emplace_back("--basal.quantum=400us");
    REQUIRE_FALSE(parse(cfg, args, given(file) ? "[basal]\nquantum = 200us\n" : ""));
    if (given(after))
      cfg.set("basal.quantum", caf::timespan{(after + 1) * 100us});
    const auto result = basal::actors::read_options(cfg).compute.quantum;
    unsetenv("BASAL_QUANTUM");
    return result;
  };
  for (int earlier = before; earlier < sources; ++earlier)
    for (int later = earlier; later < sources; ++later)
      CHECK(quantum_from((1u << earlier) | (1u << later)) == (later + 1) * 100us);
  CHECK(quantum_from((1u << sources) - 1) == 500us);
}

TEST_CASE("a configuration that parses nothing takes the environment's word where the program has "
          "none") {
  const environment_variable quantum{"BASAL_QUANTUM", "300us"};
  basal::actor_system_config cfg;
  CHECK(basal::actors::read_options(cfg).compute.quantum == 300us);
  cfg.set("basal.quantum", caf::timespan{500us});
  CHECK(basal::actors::read_options(cfg).compute.quantum == 500us);
}

// A program that had set CAF's name got what the environment said.
TEST_CASE("CAF's name for the number of executors has the same rank as ours, source by source") {
  enum source { before, file, environment, command_line, after, sources };
  // Bit 2 * source: CAF's name says 1 + source; the next bit: ours says 11 + source.
  const auto executors_from = [](unsigned mask) {
    const auto given = [&](int x, int name) { return (mask & (1u << (2 * x + name))) != 0; };
    const auto value = [](int x, int name) { return std::to_string(1 + x + 10 * name); };
    basal::actor_system_config cfg;
    const auto set = [&](int x) {
      for (const int name : {0, 1}) {
        const std::string key = name == 0 ? "scheduler.max-threads" : "basal.message-executors";
        if (given(x, name))
          cfg.set(key, std::size_t(1 + x + 10 * name));
      }
    };
    set(before);
    std::string text;
    std::vector<std::string> args;
    if (given(file, 0))
      text += "[scheduler]\nmax-threads = " + value(file, 0) + "\n";
    if (given(file, 1))
      text += "[basal]\nmessage-executors = " + value(file, 1) + "\n";
    if (given(environment, 1))
      setenv("BASAL_MESSAGE_EXECUTORS", value(environment, 1).c_str(), 1);
    if (given(command_line, 0))
      args.push_back("--scheduler.max-threads=" + value(command_line, 0));
    if (given(command_line, 1))
      args.push_back("--basal.message-executors=" + value(command_line, 1));
    REQUIRE_FALSE(parse(cfg, args, text));
    set(after);
    const auto result = basal::actors::read_options(cfg).message_executors;
    unsetenv("BASAL_MESSAGE_EXECUTORS");
    return result;
  };
  for (int x = 0; x < 2 * sources; ++x)
    for (int y = x; y < 2 * sources; ++y) {
      if (x == 2 * environment || y == 2 * environment)
        continue; // CAF reads no variables
      CAPTURE(x, y);
      CHECK(executors_from((1u << x) | (1u << y)) == std::size_t(1 + y / 2 + 10 * (y % 2)));
    }
}

TEST_CASE("without parse, CAF's name for the number of executors comes before the environment") {
  const environment_variable executors{"BASAL_MESSAGE_EXECUTORS", "5"};
  basal::actor_system_config cfg;
  CHECK(basal::actors::read_options(cfg).message_executors == 5);
  cfg.set("scheduler.max-threads", std::size_t{2});
  CHECK(basal::actors::read_options(cfg).message_executors == 2);
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
    CHECK(complaint({"--basal.message-executors=2"}) == "none");
    CHECK(complaint({"--scheduler.max-threads=2"}) == "none");
  }
  const environment_variable negative{"BASAL_COMPUTE_EXECUTORS", "-1"};
  CHECK_THAT(complaint({}), ContainsSubstring("BASAL_COMPUTE_EXECUTORS is '-1'"));
}

TEST_CASE("pinning takes one of three words, and not more executors than CPUs") {
  CHECK_THAT(complaint({"--basal.pinning=tight"}),
             ContainsSubstring("basal.pinning is 'tight', must be none, spread or compact"));
  CHECK_THAT(complaint({"--basal.pinning=spread", "--basal.message-executors=4000"}),
             ContainsSubstring("basal.message-executors is 4000, must be from 1 to "));
  CHECK_THAT(complaint({"--basal.pinning=spread", "--scheduler.max-threads=4000"}),
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
    CHECK(basal::actors::read_options(reader).compute.quantum == 400us);
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
  CHECK(basal::actors::read_options(cfg).compute.quantum == 1ms);
}

TEST_CASE("the configuration dump shows what basal uses, and nothing of CAF's own schedulers") {
  const environment_variable quantum{"BASAL_QUANTUM", "300us"};
  basal::actor_system_config cfg;
  REQUIRE_FALSE(parse(cfg, {"--basal.message-executors=3"}, "[basal]\nquantum = 400us\n"));
  auto dump = cfg.dump_content();
  CHECK(caf::get<std::size_t>(dump, "basal.message-executors") == 3);
  CHECK(caf::get<std::size_t>(dump, "scheduler.max-threads") == 3);
  CHECK(caf::get<caf::atom_value>(dump, "scheduler.policy") == caf::atom("basal"));
  CHECK(caf::get<std::size_t>(dump, "basal.compute-executors") == basal::executors::usable_cpus());
  CHECK(caf::get<caf::timespan>(dump, "basal.quantum") == 300us);
  CHECK(caf::get<std::string>(dump, "basal.victims") == "run_victim");
  CHECK(caf::get<bool>(dump, "basal.mab-calibrate"));
  CHECK(caf::get_if(&dump, "work-stealing.relaxed-steal-interval") == nullptr);
  CHECK(caf::get_if(&dump, "scheduler.enable-profiling") == nullptr);
}

TEST_CASE("what computations are allowed comes from options, too") {
  basal::actor_system_config cfg;
  REQUIRE_FALSE(parse(
    cfg, {"--basal.victims=suspend_victim", "--basal.steal-by=quantum", "--basal.cabal-limit=2"},
    "[basal]\nmemory-limit = 1000000\n"));
  caf::actor_system system{cfg};
  const auto& config = scheduler::of(system)->compute().config();
  CHECK(config.victims == basal::posse::victim_policy::suspend_victim);
  CHECK(config.steal_by == basal::posse::hysteresis::quantum);
  CHECK(config.cabal_limit == 2);
  CHECK(config.memory_limit == 1000000);
  CHECK_THAT(complaint({"--basal.victims=none"}),
             ContainsSubstring("basal.victims is 'none', must be run_victim or suspend_victim"));
}

TEST_CASE("help and the table of docs/options.md list the options that there are") {
  std::ifstream file{BASAL_OPTIONS_PAGE};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  CHECK_THAT(page, ContainsSubstring(basal::actors::option_table()));
  CHECK_THAT(basal::actors::help_text(), ContainsSubstring("--basal.message-executors=<uint64>")
                                           && ContainsSubstring("--basal.stop-deadline=<timespan>")
                                           && !ContainsSubstring("mab-"));
}

// CAF's functions do not know our ranges; this used to end the program when the system started.
TEST_CASE("a wrong value that was written through the base class is an exception with a sentence, "
          "also beside the middleman") {
  for (const bool parsed : {false, true}) {
    basal::actor_system_config cfg;
    cfg.load<caf::io::middleman>();
    caf::actor_system_config& base = cfg;
    if (parsed)
      CHECK_FALSE(base.parse({"--basal.quantum=1s"}));
    else
      base.set("basal.quantum", caf::timespan{1s});
    CHECK_THROWS_WITH(caf::actor_system{cfg},
                      ContainsSubstring("basal.quantum is 1s, must be from 50us to 10ms"));
    base.set("basal.quantum", caf::timespan{1ms});
    caf::actor_system system{cfg}; // and the next one works
    caf::scoped_actor self{system};
    self->send(self, 7);
    self->receive([](int x) { CHECK(x == 7); });
  }
}

TEST_CASE("scheduler.policy = testing is CAF's deterministic scheduler, without threads of ours") {
  basal::actor_system_config cfg;
  cfg.set("scheduler.policy", caf::atom("testing"));
  CHECK(caf::get<caf::atom_value>(cfg.dump_content(), "scheduler.policy") == caf::atom("testing"));
  caf::actor_system system{cfg};
  CHECK(dynamic_cast<caf::scheduler::test_coordinator*>(&system.scheduler()) != nullptr);
  CHECK(scheduler::of(system) == nullptr);
}

namespace {

std::string seen_by_main;

void program(caf::actor_system& system, const derived_config& cfg) {
  seen_by_main = cfg.greeting + (scheduler::of(system) != nullptr ? " on basal" : " on stock CAF");
}

// The configuration of a program that moves to basal by CAF_MAIN(basal::actors::scheduler) alone.
struct stock_config : caf::actor_system_config {
  std::size_t count = 0;

  stock_config() {
    opt_group{custom_options_, "program"}.add(count, "count", "how often");
  }
};

void stock_program(caf::actor_system& system, const stock_config& cfg) {
  seen_by_main = std::to_string(cfg.count) + " with "
                 + std::to_string(scheduler::of(system)->messages().size());
}

void plain_program(caf::actor_system& system) {
  seen_by_main = std::to_string(scheduler::of(system)->messages().size()) + " executors"
                 + (system.has_middleman() ? ", middleman" : "");
}

// The result of a command line for CAF_MAIN or BASAL_MAIN.
template <class Run>
std::string ran(Run run, std::vector<std::string> args) {
  args.insert(args.begin(), "program");
  std::vector<char*> argv;
  for (auto& each : args)
    argv.push_back(each.data());
  const auto argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  seen_by_main = "nothing";
  return run(argc, argv.data()) == EXIT_SUCCESS ? seen_by_main : "failure";
}

constexpr const char* no_file = "no-such-file.ini";

} // namespace

TEST_CASE("CAF_MAIN runs a program with a configuration that derives from basal's") {
  const auto run
    = [](int argc, char** argv) { return caf::exec_main<>(program, argc, argv, no_file); };
  CHECK(ran(run, {"--program.greeting=hello"}) == "hello on basal");
  CHECK(ran(run, {"--basal.compute-executors=0"}) == "failure");
}

TEST_CASE("CAF_MAIN(basal::actors::scheduler) takes basal's options, and checks them") {
  const auto plain = [](int argc, char** argv) {
    return caf::exec_main<scheduler, caf::io::middleman>(plain_program, argc, argv, no_file);
  };
  CHECK(ran(plain, {"--basal.message-executors=3"}) == "3 executors, middleman");
  CHECK(ran(plain, {"--basal.message-executors=0"}) == "failure");
  const auto other_order = [](int argc, char** argv) {
    return caf::exec_main<caf::io::middleman, scheduler>(plain_program, argc, argv, no_file);
  };
  CHECK(ran(other_order, {"--scheduler.max-threads=2"}) == "2 executors, middleman");
  const auto with_config = [](int argc, char** argv) {
    return caf::exec_main<scheduler>(stock_program, argc, argv, no_file);
  };
  CHECK(ran(with_config, {"--basal.message-executors=3", "--program.count=7"}) == "7 with 3");
  CHECK(ran(with_config, {"--basal.message-executors=0"}) == "failure");
}

TEST_CASE("BASAL_MAIN takes both kinds of main functions") {
  const auto plain = [](int argc, char** argv) {
    return basal::exec_main<caf::io::middleman>(plain_program, argc, argv, no_file);
  };
  CHECK(ran(plain, {"--basal.message-executors=3"}) == "3 executors, middleman");
  CHECK(ran(plain, {"--basal.quantum=1s"}) == "failure");
  const auto derived
    = [](int argc, char** argv) { return basal::exec_main<>(program, argc, argv, no_file); };
  CHECK(ran(derived, {"--program.greeting=hello"}) == "hello on basal");
}
