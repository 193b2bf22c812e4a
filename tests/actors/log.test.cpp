#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/log.hpp>
#include <basal/executors/report.hpp>

#include <caf/actor_ostream.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"
#include "support/in_child.hpp"

// Loggers belong to the process, so each test has one of its own.

namespace {

using namespace basal::actors;
using basal::executors::report;
using basal::executors::report_level;

/// A configuration of few executors.
struct small : basal::actor_system_config {
  small() {
    set("basal.message-executors", std::size_t{1});
    set("basal.compute-executors", std::size_t{1});
  }
};

/// Fails the child's test.
void expect(bool good, const char* what) {
  if (!good) {
    std::fprintf(stderr, "expected: %s\n", what);
    std::abort();
  }
}

/// Standard error of a child that ran `f`; empty if the child did not end well.
template <class F>
std::string said_by(F f) {
  const auto [said, signal] = basal::test::in_child(f);
  CAPTURE(said);
  CHECK(signal == 0);
  return said;
}

} // namespace

TEST_CASE("each module's reports go to the logger that spdlog finds under its name") {
  const auto said = said_by([] {
    small cfg;
    caf::actor_system system{cfg};
    for (const auto* name : log_names)
      expect(spdlog::get(name) != nullptr, name);
    expect(&logger_of(log_module::posse) == spdlog::get("basal.posse").get(), "one logger");
    spdlog::get("basal.posse")->set_pattern("<%n|%l|%v>");
    report(report_level::debug, "basal.posse", "nothing");
    report(report_level::warning, "basal.posse", "look out");
    report(report_level::info, "program", "hello");
  });
  CHECK_THAT(said, ContainsSubstring("<basal.posse|warning|look out>\n"));
  CHECK_THAT(said, ContainsSubstring("[program] [info] hello\n"));
  CHECK_THAT(said, !ContainsSubstring("nothing"));
}

TEST_CASE("a logger that the program has registered is taken, with its sinks and its level") {
  const auto said = said_by([] {
    std::ostringstream text;
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(text);
    auto own = std::make_shared<spdlog::logger>("basal.solver", sink);
    own->set_level(spdlog::level::err);
    spdlog::register_logger(own);
    small cfg;
    caf::actor_system system{cfg};
    report(report_level::warning, "basal.solver", "not this");
    report(report_level::error, "basal.solver", "but this");
    expect(text.str().ends_with("but this\n"), "the sink has it");
    expect(text.str().find("not this") == std::string::npos, "the level is the program's");
  });
  CHECK(said.empty());
}

TEST_CASE("a sink of reports that the program has set stays") {
  const auto said = said_by([] {
    basal::executors::set_report_sink([](auto, auto, std::string_view text) noexcept {
      expect(text == "mine", "the text");
      std::fputs("heard", stderr);
    });
    small cfg;
    caf::actor_system system{cfg};
    report(report_level::info, "basal.posse", "mine");
  });
  CHECK(said == "heard");
}

TEST_CASE("levels come from the module's option, from basal.log-level, from SPDLOG_LEVEL") {
  const auto level = [](log_module of) { return logger_of(of).level(); };
  SECTION("from SPDLOG_LEVEL") {
    said_by([=] {
      setenv("SPDLOG_LEVEL", "error,basal.posse=debug,basal.mab=loud", 1);
      small cfg;
      caf::actor_system system{cfg};
      expect(level(log_module::actors) == spdlog::level::err, "of all");
      expect(level(log_module::posse) == spdlog::level::debug, "of one");
      expect(level(log_module::mab) == spdlog::level::err, "a wrong one is ignored");
    });
  }
  SECTION("from options, which win") {
    said_by([=] {
      setenv("SPDLOG_LEVEL", "error", 1);
      setenv("BASAL_LOG_SOLVER", "off", 1);
      small cfg;
      cfg.set("basal.log-level", "warn");
      cfg.set("basal.log-posse", "trace");
      caf::actor_system system{cfg};
      expect(level(log_module::actors) == spdlog::level::warn, "of all");
      expect(level(log_module::posse) == spdlog::level::trace, "of one");
      expect(level(log_module::solver) == spdlog::level::off, "from the environment");
    });
  }
  SECTION("else it is info") {
    said_by([=] {
      unsetenv("SPDLOG_LEVEL");
      small cfg;
      caf::actor_system system{cfg};
      expect(level(log_module::actors) == spdlog::level::info, "of all");
    });
  }
}

TEST_CASE("a level that there is not is refused with a sentence") {
  basal::actor_system_config cfg;
  CHECK_THROWS_WITH(
    cfg.set("basal.log-posse", "loud"),
    "basal.log-posse is 'loud', must be unset, trace, debug, info, warn, error, critical or off");
}

#ifndef __SANITIZE_THREAD__ // lines come in CAF's messages, whose order it does not see
TEST_CASE("with basal.log-aout, what actors print is logged line by line, and what CAF reports") {
  const auto said = said_by([] {
    unsetenv("SPDLOG_LEVEL");
    spdlog::set_pattern("<%n|%l|%v>");
    small cfg;
    cfg.set("basal.log-aout", true);
    caf::actor_system system{cfg};
    auto printer = system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      return {[=](int n) {
        for (int i = 0; i < n; ++i)
          caf::aout(self) << "line " << i << "\n";
        caf::aout(self) << "two\nat once" << std::endl;
        throw std::runtime_error("out of paper");
      }};
    });
    caf::scoped_actor self{system};
    self->send(printer, 3);
    self->wait_for(printer);
  });
  CHECK_THAT(said, ContainsSubstring("<aout|info|line 0>\n<aout|info|line 1>\n<aout|info|line 2>\n"
                                     "<aout|info|two>\n<aout|info|at once>\n"));
  CHECK_THAT(said, ContainsSubstring("<basal.actors|warning|unhandled exception: "));
  CHECK_THAT(said, ContainsSubstring("out of paper"));
}
#endif

TEST_CASE("handlers that keep their executor are logged at debug, one line for a storm") {
  const auto said = said_by([] {
    spdlog::set_pattern("<%n|%l|%v>");
    small cfg;
    cfg.set("basal.log-level", "debug");
    caf::actor_system system{cfg};
    caf::scoped_actor self{system};
    auto slow = system.spawn([](caf::event_based_actor*) -> caf::behavior {
      return {[](int) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{5};
        while (std::chrono::steady_clock::now() < end) {
        }
        return 0;
      }};
    });
    for (int i = 0; i < 3; ++i)
      self->request(slow, caf::infinite, i).receive([](int) {}, [](caf::error&) {});
  });
  CHECK_THAT(said, ContainsSubstring("<basal.actors|debug|the actor system starts: 1 message "));
  CHECK_THAT(said, ContainsSubstring("<basal.actors|debug|a handler of "));
  CHECK_THAT(said, ContainsSubstring(" kept its executor for "));
  CHECK_THAT(said, ContainsSubstring(" more reports of handlers that kept their executor>"));
}
