#include "service.hpp"

#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "common/printable.hpp"

#include "clients.hpp"
#include "evaluator.hpp"
#include "messages.hpp"
#include "report.hpp"

namespace tiered {

namespace {

// Between two small answers: 500 a second.
constexpr std::chrono::microseconds interactive_pause{2000};

/// Ends actors and waits for their end, so that what they refer to may end then.
class ending {
public:
  explicit ending(caf::scoped_actor& self) : self_(self) {
  }

  ending(const ending&) = delete;
  ending& operator=(const ending&) = delete;

  ~ending() {
    for (const caf::actor& a : actors_)
      caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
    self_->wait_for(actors_);
  }

  caf::actor add(caf::actor a) {
    actors_.push_back(a);
    return a;
  }

private:
  caf::scoped_actor& self_;
  std::vector<caf::actor> actors_;
};

class caller {
public:
  caller(caf::actor_system& system, const library& programs, const options& o)
    : programs_(programs),
      self_(system),
      actors_(self_),
      evaluator_(actors_.add(system.spawn(evaluator_actor, o.bounds))) {
  }

  void call(const std::string& text) {
    try {
      const auto [of, rest] = split(text);
      const question q{of, parse_request(of->source(), rest)};
      self_->request(evaluator_, caf::infinite, q)
        .receive([&](const answer& a) { print(text, *of, a); },
                 [&](const caf::error& e) { fail(text, caf::to_string(e)); });
    } catch (const std::exception& e) {
      fail(text, e.what());
    }
    std::fflush(stdout);
  }

  bool failed() const noexcept {
    return failed_;
  }

private:
  /// `PROGRAM:CALL`, or a call of the first program.
  std::pair<script*, std::string> split(const std::string& text) const {
    const auto colon = text.find(':');
    if (colon == text.npos)
      return {programs_.scripts().front().get(), text};
    script* of = programs_.find(std::string_view(text).substr(0, colon));
    if (of == nullptr)
      throw std::runtime_error("there is no program named '" + text.substr(0, colon)
                               + "'; programs are named as their files, without the ending");
    return {of, text.substr(colon + 1)};
  }

  void print(const std::string& text, const script& of, const answer& a) {
    if (a.result.error) {
      fail(text, of.name() + ":" + to_string(a.result));
      return;
    }
    std::printf("%s = %s\t[%s, %.3f ms]\n", samples::printable(text).c_str(),
                to_string(a.result).c_str(), tier_name(a.tier),
                std::chrono::duration<double, std::milli>(a.running).count());
  }

  void fail(const std::string& text, const std::string& why) {
    failed_ = true;
    // Both quote what was asked for, which may be no text at all.
    std::printf("%s\n", samples::printable(text + ": error: " + why).c_str());
  }

  const library& programs_;
  bool failed_ = false;
  caf::scoped_actor self_;
  ending actors_;
  caf::actor evaluator_;
};

/// One line on stderr, if somebody watches.
class progress_line {
public:
  void show(std::uint64_t done, std::uint64_t all, const library& programs) {
    if (!watched_)
      return;
    std::uint64_t ready = 0;
    for (const auto& t : programs.stats())
      ready += t.ready;
    std::fprintf(stderr, "\r\033[K%llu of %llu calls, %llu compilations",
                 static_cast<unsigned long long>(done), static_cast<unsigned long long>(all),
                 static_cast<unsigned long long>(ready));
  }

  void clear() {
    if (watched_)
      std::fputs("\r\033[K", stderr);
  }

private:
  bool watched_ = ::isatty(STDERR_FILENO) == 1;
};

/// False at the end of standard input. Throws if a line has no end in sight.
bool next_line(std::string& line) {
  constexpr std::size_t longest = std::size_t{64} << 10;
  line.clear();
  int c = std::getchar();
  for (; c != '\n' && c != EOF; c = std::getchar()) {
    if (line.size() == longest)
      throw std::runtime_error(
        "standard input has a line of more than 64 KiB: write one call a line");
    line += static_cast<char>(c);
  }
  return c != EOF || !line.empty();
}

} // namespace

int answer_calls(caf::actor_system& system, const library& programs, const options& o) {
  caller calls(system, programs, o);
  for (const std::string& text : o.calls)
    calls.call(text);
  std::string line;
  while (o.calls_from_stdin && next_line(line))
    if (line.find_first_not_of(" \t\r") != line.npos)
      calls.call(line);
  return calls.failed() ? exit_failed : exit_ok;
}

int serve_load(caf::actor_system& system, const library& programs, script& interactive,
               const request& ask, const options& o) {
  caf::scoped_actor self(system);
  ending actors(self);
  const auto counted = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto uncounted = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto spawn = [&](question q, std::size_t questions, std::chrono::microseconds pause,
                         const auto& progress) {
    const auto evaluator = actors.add(system.spawn(evaluator_actor, o.bounds));
    return actors.add(system.spawn(client_actor,
                                   client_plan{std::move(q), questions, pause, &programs},
                                   evaluator, caf::actor_cast<caf::actor>(self), progress));
  };
  const caf::actor prober = spawn({&interactive, ask}, 0, interactive_pause, uncounted);
  std::size_t running = 0;
  for (const auto& s : programs.scripts())
    if (s.get() != &interactive) {
      spawn({s.get(), {*s->source().find("main"), {}}}, o.requests, o.pause, counted);
      ++running;
    }

  progress_line progress;
  const std::uint64_t all = running * o.requests;
  std::vector<client_report> reports;
  client_report waited;
  bool prober_runs = true;
  while (running > 0 || prober_runs) {
    self->receive(
      [&](client_report& r) {
        if (r.of == &interactive) {
          waited = std::move(r);
          prober_runs = false;
          return;
        }
        reports.push_back(std::move(r));
        if (--running == 0)
          self->send(prober, finish{});
      },
      caf::after(std::chrono::milliseconds(100)) >>
        [&] { progress.show(counted->load(std::memory_order_relaxed), all, programs); });
  }
  progress.clear();
  std::sort(reports.begin(), reports.end(), [](const client_report& a, const client_report& b) {
    return a.of->name() < b.of->name();
  });
  print_climb(reports);
  print_compilations(programs);
  print_interactive(waited);
  const bool failed = std::any_of(reports.begin(), reports.end(),
                                  [](const client_report& r) { return r.last.error.has_value(); });
  return failed ? exit_failed : exit_ok;
}

} // namespace tiered
