// Cost of an observer to the program that it shows: a ping-pong on one executor (on several its
// time varies by a quarter) beside 100,000 actors that wait for messages, without an observer, with
// one that does not listen, with one that listens, and with one that has a subscriber at 4 Hz. Then
// the time of a scrape where 200 adaptive handlers have names, and of one where 200 types of actors
// are watched, the time from a sample to the frame that shows it where there is a browser, the size
// of the page, and how often an idle program wakes up for an observer that nobody uses.

#include "bench/support/bench.hpp"
#include "tests/actors/observer/client.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/stats.hpp>
#include <basal/observer/server.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace basal;

namespace {

using clock_type = std::chrono::steady_clock;
using go_atom = caf::atom_constant<caf::atom("go")>;

struct quiet_config : actor_system_config {
  quiet_config() {
    set("basal.log-level", "warn");
  }
};

/// An observer on a free port, and a client of it.
class looked_at {
public:
  explicit looked_at(caf::actor_system& system) : server_(system, {.listen = "127.0.0.1:0"}) {
    const auto& url = server_.url();
    const auto colon = url.rfind(':');
    const auto mark = url.find("/?token=");
    if (mark == std::string::npos)
      throw std::runtime_error("the observer does not listen: " + server_.problem());
    port_ = static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1, mark - colon - 1)));
    bearer_ = "Authorization: Bearer " + url.substr(mark + 8) + "\r\n";
  }

  const std::string& url() const noexcept {
    return server_.url();
  }

  client::response get(const std::string& path) const {
    return client::get(port_, path, bearer_);
  }

  client::connection subscribe() const {
    client::connection result{port_};
    result.send(client::request(port_, "/api/v1/events?interval=250", bearer_));
    if (result.read_until("\n\n").find("200 OK") == std::string::npos)
      throw std::runtime_error("no stream of events");
    return result;
  }

private:
  observer::server server_;
  std::uint16_t port_ = 0;
  std::string bearer_;
};

/// Reads a stream until its server ends, as a page does.
class viewer {
public:
  explicit viewer(const looked_at& at)
    : thread_([stream = at.subscribe(), this]() mutable { read_ = stream.read_all().size(); }) {
  }

  viewer(const viewer&) = delete;
  viewer& operator=(const viewer&) = delete;

  ~viewer() {
    thread_.join();
  }

private:
  std::size_t read_ = 0;
  std::thread thread_;
};

caf::behavior waiter(caf::event_based_actor*) {
  return {[](go_atom) {}};
}

caf::behavior pong(caf::event_based_actor*) {
  return {[](int n) { return n - 1; }};
}

/// Plays for as many rounds as it is told, then answers how many there were.
caf::behavior ping(caf::event_based_actor* self, const caf::actor& other) {
  struct game {
    caf::response_promise done;
    long rounds = 0;
  };
  auto now = std::make_shared<game>();
  return {
    [=](go_atom, int rounds) {
      now->done = self->make_response_promise();
      now->rounds = 0;
      self->send(other, rounds);
    },
    [=](int n) {
      ++now->rounds;
      if (n > 0)
        self->send(other, n);
      else
        now->done.deliver(now->rounds);
    },
  };
}

enum class observed_by { nobody, off, unwatched, watched };

void ping_pong(benchmark::State& state, int alive, int rounds, observed_by kind) {
  quiet_config config;
  config.set("basal.message-executors", 1);
  caf::actor_system system{config};
  std::optional<viewer> reader; // ends after the observer
  std::optional<observer::server> off;
  std::optional<looked_at> on;
  if (kind == observed_by::off)
    off.emplace(system);
  if (kind == observed_by::unwatched || kind == observed_by::watched)
    on.emplace(system);
  if (kind == observed_by::watched)
    reader.emplace(*on);
  std::vector<caf::actor> all;
  for (int i = 0; i < alive; ++i)
    all.push_back(system.spawn(waiter));
  caf::scoped_actor self{system};
  const auto player = system.spawn(ping, system.spawn(pong));
  bench::check(state, long{rounds}, [&] {
    long result = 0;
    self->request(player, caf::infinite, go_atom::value, rounds)
      .receive([&](long n) { result = n; }, [](const caf::error&) {});
    return result;
  });
  on.reset();
  all.push_back(player);
  for (const auto& one : all)
    caf::anon_send_exit(one, caf::exit_reason::kill);
}

/// Time of a ping-pong while its actors are counted, over that while they are not: the median of
/// pairs in one system, since two systems differ by more.
double counted_overhead() {
  constexpr int pairs = 101;
  constexpr int rounds = 20'000;
  quiet_config config;
  config.set("basal.message-executors", 1);
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const auto player = system.spawn(ping, system.spawn(pong));
  const auto ms = [&] {
    const auto start = clock_type::now();
    self->request(player, caf::infinite, go_atom::value, rounds)
      .receive([](long) {}, [](const caf::error&) { throw std::runtime_error("no answer"); });
    return std::chrono::duration<double, std::milli>{clock_type::now() - start}.count();
  };
  std::vector<double> ratios;
  for (int i = 0; i < pairs; ++i) {
    const auto before = ms();
    actors::watch_actors(system, std::chrono::milliseconds{30});
    ratios.push_back(ms() / before);
    std::this_thread::sleep_for(std::chrono::milliseconds{40}); // until it is over
  }
  caf::anon_send_exit(player, caf::exit_reason::kill);
  if (actors::stats_of(system).actor_types.empty())
    throw std::runtime_error("nothing was counted");
  std::nth_element(ratios.begin(), ratios.begin() + pairs / 2, ratios.end());
  return ratios[pairs / 2];
}

caf::behavior named(caf::event_based_actor* self, int number) {
  return {actors::adaptive(self, [](int n) { return n + 1; },
                           {.name = "handler/" + std::to_string(number)})};
}

double median_ms(int times, const std::function<void()>& work) {
  std::vector<double> ms;
  for (int i = 0; i < times; ++i) {
    const auto start = clock_type::now();
    work();
    ms.push_back(std::chrono::duration<double, std::milli>{clock_type::now() - start}.count());
    std::this_thread::sleep_for(std::chrono::milliseconds{60}); // or the sample would be the same
  }
  std::nth_element(ms.begin(), ms.begin() + times / 2, ms.end());
  return ms[static_cast<std::size_t>(times / 2)];
}

/// The time of a request, of a system in which 200 handlers have a name.
double request_ms(const std::string& path, const std::string& must_hold) {
  quiet_config config;
  caf::actor_system system{config};
  const looked_at on{system};
  caf::scoped_actor self{system};
  std::vector<caf::actor> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back(system.spawn(named, i));
    self->request(all.back(), caf::infinite, i)
      .receive([](int) {}, [](const caf::error&) { throw std::runtime_error("no answer"); });
  }
  const auto result = median_ms(21, [&] {
    if (on.get(path).body.find(must_hold) == std::string::npos)
      throw std::runtime_error(path + " does not hold " + must_hold);
  });
  for (const auto& one : all)
    caf::anon_send_exit(one, caf::exit_reason::kill);
  return result;
}

/// Actors of a type of their own.
template <int Number>
class kind final : public caf::event_based_actor {
public:
  using event_based_actor::event_based_actor;

  const char* name() const override {
    static const auto text = "kind/" + std::to_string(Number);
    return text.c_str();
  }

  caf::behavior make_behavior() override {
    return {[](int n) { return n + 1; }};
  }
};

template <int... Numbers>
std::vector<caf::actor> one_of_each(caf::actor_system& system,
                                    std::integer_sequence<int, Numbers...>) {
  return {system.spawn<kind<Numbers>>()...};
}

/// A system in which 200 types of actors are counted on each executor, while `measure` runs.
template <class Measure>
double beside_200_types(Measure measure) {
  quiet_config config;
  caf::actor_system system{config};
  const looked_at on{system};
  caf::scoped_actor self{system};
  const auto all = one_of_each(system, std::make_integer_sequence<int, 200>{});
  const auto has_all = [](const std::string& text) {
    for (int i = 0; i < 200; ++i)
      if (text.find("basal_actor_processing_seconds_bucket{type=\"kind/" + std::to_string(i) + '"')
          == std::string::npos)
        return false;
    return true;
  };
  while (!has_all(on.get("/metrics").body))
    for (int round = 0; round < 100; ++round) {
      for (const auto& one : all)
        self->send(one, round);
      for (std::size_t i = 0; i < all.size(); ++i)
        self->receive([](int) {});
    }
  const double result = measure(on);
  if (!has_all(on.get("/metrics").body))
    throw std::runtime_error("a type of actors is missing");
  for (const auto& one : all)
    caf::anon_send_exit(one, caf::exit_reason::kill);
  return result;
}

double scrape_watched_ms() {
  return beside_200_types(
    [](const looked_at& on) { return median_ms(21, [&] { on.get("/metrics"); }); });
}

/// The time from a sample to the frame that shows it, in a browser.
double tick_to_pixel_ms() {
  return beside_200_types([](const looked_at& on) {
    const auto command = "python3 -B " TICK_TO_PIXEL " '" + on.url() + "'";
    const std::unique_ptr<FILE, int (*)(FILE*)> script{popen(command.c_str(), "r"), pclose};
    double result = 0;
    if (script == nullptr || std::fscanf(script.get(), "%lf", &result) != 1)
      throw std::runtime_error("the browser shows no page");
    return result;
  });
}

bool has_browser() {
  return std::getenv("BASAL_CHROMIUM") != nullptr
         || std::system("command -v chromium >/dev/null") == 0;
}

double page_kb() {
  quiet_config config;
  caf::actor_system system{config};
  const auto page = looked_at{system}.get("/");
  if (page.status != 200)
    throw std::runtime_error("there is no page");
  return static_cast<double>(page.body.size()) / 1024;
}

/// Voluntary context switches of all threads but this one's since the start of the process.
long switches() {
  long sum = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream status{task.path() / "status"};
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("voluntary_ctxt_switches:\t"))
        sum += std::stol(line.substr(line.find('\t') + 1));
  }
  return sum;
}

/// A second, of a program that has nothing to do, with an observer that nobody looks at.
double idle_wakeups() {
  quiet_config config;
  caf::actor_system system{config};
  const looked_at on{system};
  std::this_thread::sleep_for(std::chrono::seconds{1});
  const auto before = switches();
  std::this_thread::sleep_for(std::chrono::seconds{10});
  return static_cast<double>(switches() - before - 1) / 10; // 1: this thread slept
}

const bench::suite observer_suite{[](bench::plan& plan) {
  const int alive = plan.quick() ? 10'000 : 100'000;
  const int rounds = plan.quick() ? 20'000 : 100'000;
  const auto name
    = [&](const char* kind) { return bench::case_name("ping_pong_beside_actors", alive, kind, 1); };
  const auto add = [&](const char* text, observed_by kind) {
    plan.add(name(text), [=](benchmark::State& state) { ping_pong(state, alive, rounds, kind); },
             {.baseline = name("nobody")});
  };
  add("nobody", observed_by::nobody);
  add("off", observed_by::off);
  add("unwatched", observed_by::unwatched);
  add("watched", observed_by::watched);
  plan.figure("observer_off_overhead", bench::ratio(name("off"), name("nobody")));
  plan.figure("observer_unwatched_overhead", bench::ratio(name("unwatched"), name("nobody")));
  plan.figure("observer_watched_overhead", bench::ratio(name("watched"), name("nobody")));
  plan.measure("actor_watch_overhead", counted_overhead);
  plan.measure("scrape_ms", [] { return request_ms("/metrics", "family=\"handler/199\""); });
  plan.measure("scrape_watched_ms", scrape_watched_ms);
  if (has_browser())
    plan.measure("tick_to_pixel_ms", tick_to_pixel_ms);
  plan.measure("snapshot_ms", [] { return request_ms("/api/v1/snapshot", "\"handler/199\""); });
  plan.measure("page_kb", page_kb);
  plan.measure("unwatched_wakeups_per_s", idle_wakeups);
}};

} // namespace
