// The observer's answers.

#include <support/catch.hpp>

#include "fixture.hpp"

#include <basal/actors/adaptive.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/actors/stats.hpp>
#include <basal/priority/background_pool.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <nlohmann/json.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace {

using nlohmann::json;

int doubled(basal::posse::member&, int x) {
  return 2 * x;
}

// A name as an attacker would choose it: it must arrive as it is, and stay text.
inline constexpr basal::posse::pure<doubled> pure_doubled{"<img src=x onerror=alert(1)>\xff"};

caf::behavior doubler(caf::event_based_actor* self) {
  return {[self](int x) { return pure_doubled(self, x); }};
}

void call_once(caf::actor_system& system) {
  caf::scoped_actor self{system};
  self->request(self->spawn(doubler), caf::infinite, 21)
    .receive([](int x) { CHECK(x == 42); }, [](const caf::error&) { CHECK(false); });
}

/// The value of a line of /metrics that begins like this; -1 without one.
double metric(const std::string& text, const std::string& name) {
  const auto at = text.find('\n' + name + ' ');
  return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

json first_event(client::connection& c) {
  const auto text = c.read_until("}\n\n");
  const auto at = text.find("data: ");
  REQUIRE(at != std::string::npos);
  return json::parse(text.substr(at + 6));
}

} // namespace

TEST_CASE("snapshot: all statistics of the system as JSON, by the names of their fields") {
  observed x;
  call_once(x.system);
  const auto answer = x.get("/api/v1/snapshot");
  REQUIRE(answer.status == 200);
  const auto all = json::parse(answer.body);
  CHECK(all["schema"] == 1);
  CHECK(all["process"]["pid"] == getpid());
  CHECK(all["process"]["resident_bytes"] > 1'000'000);
  const auto& stats = all["stats"];
  CHECK(stats["message_executors"].size() == 2);
  CHECK(stats["compute_executors"].size() == 1);
  CHECK(stats["message_executors"][0].contains("times_parked"));
  CHECK(stats["posse"]["verdicts"].contains("not_worth_it"));
  CHECK(stats["posse"]["functions"][0]["calls"] == 1);
  CHECK(stats["posse"]["functions"][0]["name"] == "<img src=x onerror=alert(1)>\xEF\xBF\xBD");
  CHECK(all["words"]["verdicts"]["nobody_idle"]
        == "no compute executor was idle, or no CPU was left for it");
}

TEST_CASE("metrics: Prometheus' text of the same statistics") {
  observed x;
  call_once(x.system);
  const auto answer = x.get("/metrics");
  REQUIRE(answer.status == 200);
  CHECK(answer.head.find("text/plain; version=0.0.4") != std::string::npos);
  CHECK(metric(answer.body, "basal_executors{pool=\"message\"}") == 2);
  CHECK(answer.body.find("basal_function_calls_total{function=\"<img") != std::string::npos);
  CHECK(metric(answer.body, "process_resident_memory_bytes") > 1e6);
  CHECK(metric(answer.body, "basal_actors") >= 0);
  for (const auto* name :
       {"basal_build_info{", "basal_executor_load_ratio{pool=\"compute\",executor=\"0\"}",
        "basal_posse_theft_rejections_total{reason=\"nobody_idle\"}", "basal_timers ",
        "process_cpu_seconds_total ", "# TYPE basal_posse_forks_total counter"}) {
    INFO(name);
    CHECK(answer.body.find(name) != std::string::npos);
  }
}

TEST_CASE("trace: the last seconds of the flight recorder, for Perfetto") {
  observed x;
  call_once(x.system);
  const auto answer = x.get("/api/v1/trace?seconds=60");
  REQUIRE(answer.status == 200);
  CHECK(answer.head.find("attachment; filename=\"basal.pftrace\"") != std::string::npos);
  REQUIRE(!answer.body.empty());
  CHECK(answer.body[0] == '\n');                           // field 1 of a Trace, a packet
  CHECK(answer.body.find("basal.m") != std::string::npos); // a message executor's thread
  CHECK(x.get("/api/v1/trace?seconds=0").status == 400);
  CHECK(x.get("/api/v1/trace?seconds=61").status == 400);
  CHECK(client::get(x.port, "/api/v1/trace").status == 401);
}

TEST_CASE("actors: what their types did while the request waited") {
  observed x;
  CHECK(json::parse(x.get("/api/v1/snapshot").body)["stats"]["actor_types"].empty());
  call_once(x.system); // counted since
  const auto answer = x.get("/api/v1/actors?window=100&sort=messages&limit=5");
  REQUIRE(answer.status == 200);
  const auto all = json::parse(answer.body);
  CHECK(all["window_ms"] >= 100);
  REQUIRE(!all["types"].empty());
  CHECK(all["types"].size() <= 5);
  CHECK(all["types"][0].contains("delays"));
  CHECK(!all["actors"].empty());
  for (const auto* wrong : {"sort=name", "window=99", "window=10001", "limit=0", "limit=513"})
    CHECK(x.get(std::string{"/api/v1/actors?"} + wrong).status == 400);
  CHECK(client::get(x.port, "/api/v1/actors").status == 401);
}

TEST_CASE("actors are not counted for requests that do not show them") {
  observed x;
  x.get("/livez");
  x.get("/version");
  x.get("/");
  call_once(x.system);
  CHECK(basal::actors::stats_of(x.system).actor_types.empty());
}

TEST_CASE("health: known without a token, and says no more than that") {
  observed x;
  CHECK(client::get(x.port, "/livez").body == "ok\n");
  CHECK(client::get(x.port, "/readyz").status == 200);
  CHECK(client::get(x.port, "/livez?verbose").body
        == "[+]message executors ok\n[+]compute executors ok\nok\n");
  x.server.not_ready("the index is being read");
  const auto answer = client::get(x.port, "/readyz");
  CHECK(answer.status == 503);
  CHECK(answer.body == "[-]program the index is being read\nfailed\n");
  CHECK(client::get(x.port, "/livez").status == 200);
  x.server.not_ready("");
  CHECK(client::get(x.port, "/readyz").status == 200);
}

TEST_CASE("health: not ready beyond the limits that the program has given") {
  const auto ready = [](const observed& x) { return client::get(x.port, "/readyz?verbose"); };
  {
    observed x{{.ready_up_to_queued = 1, .ready_up_to_bytes = std::uint64_t{1} << 60}};
    auto& background
      = basal::priority::background_pool::of(basal::actors::runtime_of(x.system).compute());
    std::atomic<bool> begun{false}, end{false};
    auto busy = background.submit([&] {
      begun = true;
      begun.notify_one();
      end.wait(false);
    });
    begun.wait(false);
    background.post({}, [] {});
    CHECK(ready(x).body == "[+]program ok\n[+]background queue ok\n[+]memory ok\nok\n");
    background.post({}, [] {});
    while (ready(x).status == 200) // a sample may be 50 ms old
      std::this_thread::yield();
    CHECK(ready(x).body
          == "[+]program ok\n[-]background queue over its limit\n[+]memory ok\nfailed\n");
    end = true;
    end.notify_one();
    busy.get();
    while (ready(x).status == 503)
      std::this_thread::yield();
  }
  const observed small{{.ready_up_to_bytes = 1}};
  CHECK(ready(small).status == 503);
  CHECK(ready(small).body == "[+]program ok\n[-]memory over its limit\nfailed\n");
}

TEST_CASE("version: what it was built from") {
  observed x;
  const auto all = json::parse(x.get("/version").body);
  CHECK(all["caf"].get<std::string>().starts_with("0."));
  CHECK(!all["version"].get<std::string>().empty());
  const auto commit = all["commit"].get<std::string>();
  INFO(commit);
  CHECK((
    commit == "unknown"
    || (commit.size() == 12 && commit.find_first_not_of("0123456789abcdef") == std::string::npos)));
  CHECK(x.get("/metrics").body.find("commit=\"" + commit + '"') != std::string::npos);
}

TEST_CASE("events: a sample at each interval") {
  observed x;
  client::connection c{x.port};
  REQUIRE(c.send(client::request(x.port, "/api/v1/events?interval=100", x.bearer())));
  const auto first = first_event(c);
  const auto second = first_event(c);
  CHECK(second["tick"] > first["tick"]);
  CHECK(second["time_ms"] >= first["time_ms"]);
  CHECK(x.get("/api/v1/events?interval=99").status == 400);
  CHECK(x.get("/api/v1/events?interval=60001").status == 400);
  CHECK(x.get("/api/v1/events?interval=1s").status == 400);
}

TEST_CASE("events: the fifth subscriber is told to come back, and comes in when one has gone") {
  observed x;
  std::vector<client::connection> subscribers;
  for (int i = 0; i < 4; ++i) {
    subscribers.emplace_back(x.port);
    REQUIRE(
      subscribers.back().send(client::request(x.port, "/api/v1/events?interval=100", x.bearer())));
    first_event(subscribers.back());
  }
  const auto refused = x.get("/api/v1/events");
  CHECK(refused.status == 503);
  CHECK(refused.head.find("Retry-After: 5") != std::string::npos);
  CHECK(x.get("/metrics").status == 200); // others are served
  subscribers.pop_back();
  std::string head;
  while (head.find("text/event-stream") == std::string::npos) { // until a write has failed
    client::connection c{x.port};
    c.send(client::request(x.port, "/api/v1/events?interval=100", x.bearer()));
    head = c.read_until("\r\n\r\n");
  }
}

TEST_CASE("events: a subscriber that stops reading is dropped with a sentence, and others go on") {
  observed x;
  const captured_reports reports;
  // Long names make long events, which soon fill the sockets.
  caf::scoped_actor self{x.system};
  std::vector<caf::actor> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(x.system.spawn([i](caf::event_based_actor* adapts) -> caf::behavior {
      return {basal::actors::adaptive(adapts, [](int n) { return n; },
                                      {.name = std::to_string(i) + std::string(4000, 'x')})};
    }));
    self->request(all.back(), caf::infinite, i)
      .receive([](int) {}, [](const caf::error&) { CHECK(false); });
  }
  client::connection reader{x.port};
  REQUIRE(reader.send(client::request(x.port, "/api/v1/events?interval=100", x.bearer())));
  first_event(reader);
  std::vector<client::connection> stopped;
  for (int i = 0; i < 3; ++i) {
    stopped.emplace_back(x.port, 4096);
    REQUIRE(
      stopped.back().send(client::request(x.port, "/api/v1/events?interval=100", x.bearer())));
    CHECK(stopped.back().read_until("\r\n\r\n").find("text/event-stream") != std::string::npos);
  }
  while (!reports.have("a reader of the observer has taken nothing for 5 s and was dropped"))
    CHECK(!reader.read_until("}\n\n").empty());
  CHECK(reports.have("must read it all the time"));
  // Its place is free.
  std::string head;
  while (head.find("text/event-stream") == std::string::npos) {
    client::connection c{x.port};
    c.send(client::request(x.port, "/api/v1/events?interval=100", x.bearer()));
    head = c.read_until("\r\n\r\n");
  }
  stopped.clear();
  for (const auto& one : all)
    caf::anon_send_exit(one, caf::exit_reason::kill);
}

TEST_CASE("a server that ends does not wait for its subscribers") {
  std::optional<observed> x{std::in_place};
  client::connection c{x->port};
  REQUIRE(c.send(client::request(x->port, "/api/v1/events?interval=60000", x->bearer())));
  first_event(c);
  x.reset(); // would take a minute, and so the test's time
  CHECK(c.read_all().empty());
}

TEST_CASE("it answers while every executor is blocked in a handler") {
  std::atomic<bool> go{false}; // an actor may read it last
  std::atomic<int> blocked{0};
  observed x;
  for (int i = 0; i < 2; ++i)
    x.system.spawn([&](caf::event_based_actor*) {
      blocked.fetch_add(1, std::memory_order_relaxed);
      while (!go.load(std::memory_order_relaxed))
        std::this_thread::yield();
    });
  while (blocked.load(std::memory_order_relaxed) < 2)
    std::this_thread::yield();
  CHECK(x.get("/api/v1/snapshot").status == 200);
  CHECK(x.get("/metrics").status == 200);
  CHECK(client::get(x.port, "/livez").status == 200); // not for 30 s yet
  go.store(true, std::memory_order_relaxed);
}

TEST_CASE("a port in use: the sentence names it, and the program goes on") {
  observed x;
  const basal::observer::server second{x.system, {.listen = "127.0.0.1:" + std::to_string(x.port)}};
  CHECK(second.url().empty());
  CHECK(second.problem().find("127.0.0.1:" + std::to_string(x.port)) != std::string::npos);
  CHECK(second.problem().find("Choose another port") != std::string::npos);
  call_once(x.system);
}

TEST_CASE("an address that the network reaches is refused, with the remedy") {
  observed x;
  for (const auto* address : {"0.0.0.0:0", "192.168.1.2:7420", "[::]:0", "example.org:80", ":0"}) {
    const basal::observer::server other{x.system, {.listen = address}};
    INFO(address);
    CHECK(other.url().empty());
    CHECK(other.problem().find("ssh -L") != std::string::npos);
  }
  const basal::observer::server other{x.system, {.listen = "127.0.0.1:70000"}};
  CHECK(other.problem().find("not a number from 0 to 65535") != std::string::npos);
}

TEST_CASE("off unless the option or the program says where to listen") {
  observed::config cfg;
  {
    caf::actor_system system{cfg};
    const basal::observer::server off{system};
    CHECK(off.url().empty());
    CHECK(off.problem().empty());
  }
  cfg.set("basal.observer", "127.0.0.1:0");
  caf::actor_system system{cfg};
  const basal::observer::server on{system};
  CHECK(on.url().starts_with("http://127.0.0.1:"));
}

TEST_CASE("a system that does not run on basal has nothing to observe") {
  caf::actor_system_config cfg;
  cfg.set("scheduler.max-threads", 1);
  caf::actor_system system{cfg};
  CHECK_THROWS_WITH(basal::observer::server(system),
                    Catch::Matchers::StartsWith("there is nothing to observe"));
}
