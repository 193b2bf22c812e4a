// The cost of an observer to the program that it shows, and how long it takes to show it.
//
// The program is a ping-pong on one executor (on several its time varies by a quarter) beside
// 100,000 actors that wait for messages. The time with an observer over the time without, in turns
// in one system, since two differ by more than what is measured; the median:
//
// observer_off_overhead        one that does not listen
// observer_unwatched_overhead  one that listens
// observer_watched_overhead    one with a subscriber at 4 Hz
// actor_watch_overhead         none, but actors are counted, which nobody reads
//
// scrape_ms, snapshot_ms       a request, where 200 adaptive handlers have names
// scrape_watched_ms            a scrape, where 200 types of actors are counted
// tick_to_pixel_ms             there, from a sample to the frame that shows it, where a browser is
// page_kb                      the size of the page
// unwatched_wakeups_per_s      of an idle program with an observer that nobody uses

#include "bench/support/bench.hpp"
#include "bench/support/statistics.hpp"
#include "tests/actors/observer/client.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/stats.hpp>
#include <basal/observer/server.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
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

/// Actors that wait for messages, and two that play, on one executor.
class playground {
public:
  explicit playground(int alive) {
    for (int i = 0; i < alive; ++i)
      all_.push_back(system_.spawn(waiter));
    all_.push_back(player_);
  }

  playground(const playground&) = delete;
  playground& operator=(const playground&) = delete;

  ~playground() {
    for (const auto& one : all_)
      caf::anon_send_exit(one, caf::exit_reason::kill);
  }

  caf::actor_system& system() noexcept {
    return system_;
  }

  /// @returns the ms that a game takes, after one of a tenth of its rounds to warm up
  double play(int rounds) {
    finish(rounds / 10);
    const auto start = clock_type::now();
    finish(rounds);
    return std::chrono::duration<double, std::milli>{clock_type::now() - start}.count();
  }

private:
  struct config : quiet_config {
    config() {
      set("basal.message-executors", 1);
    }
  };

  void finish(int rounds) {
    self_->request(player_, caf::infinite, go_atom::value, rounds)
      .receive(
        [&](long played) {
          if (played != rounds)
            throw std::runtime_error("wrong answer: " + std::to_string(played) + " rounds");
        },
        [](const caf::error&) { throw std::runtime_error("no answer"); });
  }

  config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor self_{system_};
  caf::actor player_{system_.spawn(ping, system_.spawn(pong))};
  std::vector<caf::actor> all_;
};

/// Time of a game while there is an `Observer` of its system, over that of one without.
template <class Observer>
double overhead_of(int alive, int rounds, int pairs) {
  playground on{alive};
  const auto observed = [&] {
    const Observer observer{on.system()};
    return on.play(rounds);
  };
  std::vector<double> ratios;
  for (int i = 0; i < pairs; ++i) {
    const bool first = i % 2 == 0;
    const auto with_first = first ? observed() : 0;
    const auto without = on.play(rounds);
    ratios.push_back((first ? with_first : observed()) / without);
  }
  return bench::median(ratios);
}

/// An observer that does not listen.
struct off {
  explicit off(caf::actor_system& system) : server(system) {
  }

  observer::server server;
};

/// An observer with a subscriber at 4 Hz.
class watched {
public:
  explicit watched(caf::actor_system& system)
    : on_(std::make_unique<looked_at>(system)), reader_(*on_) {
  }

  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;

  /// When it is over, actors are not counted any more: they are for an interval and 2 s after the
  /// last event.
  ~watched() {
    on_.reset(); // which ends the stream
    std::this_thread::sleep_for(std::chrono::milliseconds{2'500});
  }

private:
  std::unique_ptr<looked_at> on_;
  viewer reader_;
};

/// Nobody, but actors are counted: for longer than a game takes.
struct counted {
  explicit counted(caf::actor_system& system) {
    actors::watch_actors(system, time);
  }

  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

  ~counted() {
    std::this_thread::sleep_for(time);
  }

  static constexpr std::chrono::milliseconds time{100};
};

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
  return bench::median(ms);
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
  const int rounds = plan.quick() ? 1'000'000 : 4'000'000; // so long that there are some samples
  const int pairs = plan.quick() ? 3 : 11;
  const auto overhead = [&](const char* figure, double (*of)(int, int, int)) {
    plan.measure(figure, [=] { return of(alive, rounds, pairs); });
  };
  overhead("observer_off_overhead", overhead_of<off>);
  overhead("observer_unwatched_overhead", overhead_of<looked_at>);
  overhead("observer_watched_overhead", overhead_of<watched>);
  plan.measure("actor_watch_overhead", [] { return overhead_of<counted>(0, 100'000, 41); });
  plan.measure("scrape_ms", [] { return request_ms("/metrics", "family=\"handler/199\""); });
  plan.measure("scrape_watched_ms", scrape_watched_ms);
  if (has_browser())
    plan.measure("tick_to_pixel_ms", tick_to_pixel_ms);
  plan.measure("snapshot_ms", [] { return request_ms("/api/v1/snapshot", "\"handler/199\""); });
  plan.measure("page_kb", page_kb);
  plan.measure("unwatched_wakeups_per_s", idle_wakeups);
}};

} // namespace
