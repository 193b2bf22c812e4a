// Requests that the observer refuses, and the rights that its answers give to a browser.

#include <support/catch.hpp>

#include "fixture.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

namespace {

bool has(const client::response& x, const std::string& line) {
  return (x.head + "\r\n").find(line + "\r\n") != std::string::npos;
}

} // namespace

TEST_CASE("without the token there is nothing to see") {
  observed x;
  for (const std::string path : {"/", "/metrics", "/version", "/api/v1/snapshot", "/api/v1/events",
                                 "/api/v1/ask", "/nothing"}) {
    INFO(path);
    CHECK(client::get(x.port, path).status == 401);
    CHECK(client::get(x.port, path + "?token=0123456789abcdef0123456789abcdef").status == 401);
    CHECK(client::get(x.port, path, "Authorization: Bearer \r\n").status == 401);
    CHECK(
      client::get(x.port, path, "Cookie: basal_observer_" + std::to_string(x.port) + "=\r\n").status
      == 401);
  }
}

TEST_CASE("the token becomes a cookie that scripts and other sites do not have") {
  observed x;
  CHECK(x.token.size() == 32);
  const auto answer = client::get(x.port, "/version?token=" + x.token);
  CHECK(answer.status == 303);
  CHECK(has(answer, "Location: /version"));
  const auto at = answer.head.find("Set-Cookie: ");
  REQUIRE(at != std::string::npos);
  const auto line = answer.head.substr(at + 12, answer.head.find("\r\n", at) - at - 12);
  CHECK(line.ends_with("; HttpOnly; SameSite=Strict; Path=/"));
  const auto cookie = line.substr(0, line.find(';'));
  CHECK(client::get(x.port, "/version", "Cookie: a=b; " + cookie + "\r\n").status == 200);
  CHECK(client::get(x.port, "/version", "Cookie: " + cookie + "0\r\n").status == 401);
}

TEST_CASE("a redirection stays here") {
  observed x;
  const auto answer = client::get(x.port, "//example.org/?token=" + x.token);
  CHECK(answer.status != 200);
  CHECK(answer.head.find("example.org") == std::string::npos);
}

TEST_CASE("each token is another one") {
  observed x;
  observed y;
  CHECK(x.token != y.token);
  CHECK(client::get(y.port, "/version", x.bearer()).status == 401);
}

TEST_CASE("a token of the program's own opens the same, unless it could be guessed") {
  const std::string own = "0123456789-abcdefghij_0123456789";
  observed x{{.token = own}};
  CHECK(x.token == own);
  CHECK(x.get("/version").status == 200);
  for (const auto& wrong : {own.substr(1), own + ' ', own + "\r\nSet-Cookie: a=b"}) {
    const basal::observer::server other{x.system, {.listen = "127.0.0.1:0", .token = wrong}};
    CHECK(other.url().empty());
    CHECK(other.problem().find("could be guessed") != std::string::npos);
  }
}

TEST_CASE("metrics can have a token of their own, which opens nothing else") {
  const std::string own = "0123456789-scrape-only_0123456789";
  observed x{{.metrics_token = own}};
  const auto bearer = "Authorization: Bearer " + own + "\r\n";
  CHECK(client::get(x.port, "/metrics", bearer).status == 200);
  CHECK(client::get(x.port, "/version", bearer).status == 401);
  CHECK(x.get("/metrics").status == 200);
}

TEST_CASE("a token for metrics that could be guessed is refused as any other") {
  observed x;
  for (const std::string wrong : {"scrape", "0123456789 abcdefghij 0123456789"}) {
    const basal::observer::server other{x.system,
                                        {.listen = "127.0.0.1:0", .metrics_token = wrong}};
    CHECK(other.url().empty());
    CHECK(other.problem().find("its token for metrics could be guessed") != std::string::npos);
  }
}

TEST_CASE("a name that another site has led here is refused, also with the cookie") {
  observed x{{.hosts = {"tunnel.example:8080"}}};
  const auto with_host = [&](const std::string& host) {
    return client::raw(x.port, "GET /version HTTP/1.1\r\n" + host + x.bearer() + "\r\n").status;
  };
  const auto port = ':' + std::to_string(x.port);
  CHECK(with_host("Host: localhost" + port + "\r\n") == 200);
  CHECK(with_host("Host: LocalHost" + port + "\r\n") == 200);
  CHECK(with_host("Host: 127.0.0.1" + port + "\r\n") == 200);
  CHECK(with_host("Host: [::1]" + port + "\r\n") == 200);
  CHECK(with_host("Host: tunnel.example:8080\r\n") == 200);
  for (const std::string& host :
       {"evil.example" + port, "localhost.evil.example" + port, "127.0.0.1.evil.example" + port,
        std::string{"localhost"}, std::string{"localhost:1"}, "localhost" + port + "0",
        "evil@localhost" + port, std::string{}}) {
    INFO(host);
    CHECK(with_host("Host: " + host + "\r\n") == 403);
  }
  CHECK(with_host("") >= 400);
  CHECK(client::raw(x.port, "GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 403);
}

TEST_CASE("no other method, and no other site's scripts") {
  observed x;
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    INFO(method);
    const auto answer
      = client::get(x.port, "/version", x.bearer() + "Origin: http://evil.example\r\n", method);
    CHECK(answer.status == 405);
    CHECK(has(answer, "Allow: GET, HEAD"));
    CHECK(answer.head.find("Access-Control") == std::string::npos);
  }
  const auto head = client::get(x.port, "/version", x.bearer(), "HEAD");
  CHECK(head.status == 200);
  CHECK(head.body.empty());
}

TEST_CASE("every answer tells the browser to load nothing, keep nothing and guess nothing") {
  observed x;
  for (const std::string path : {"/version", "/metrics", "/livez", "/nothing"}) {
    INFO(path);
    const auto answer = x.get(path);
    CHECK(has(answer, "X-Content-Type-Options: nosniff"));
    CHECK(has(answer, "Cache-Control: no-store"));
    CHECK(answer.head.find("Content-Security-Policy: default-src 'none'") != std::string::npos);
    CHECK(answer.head.find("frame-ancestors 'none'") != std::string::npos);
    CHECK(answer.head.find("Access-Control") == std::string::npos);
  }
}

TEST_CASE("the page may run its own script and style, talk to its own server, and nothing else") {
  observed x;
  const auto answer = x.get("/");
  REQUIRE(answer.status == 200);
  CHECK(answer.body.size() < 150 * 1024);
  CHECK(has(answer, "Content-Type: text/html; charset=utf-8"));
  CHECK(answer.head.find("default-src 'none'; script-src 'sha256-") != std::string::npos);
  CHECK(answer.head.find("connect-src 'self'") != std::string::npos);
  CHECK(answer.head.find("unsafe") == std::string::npos);
  for (const auto* outside :
       {"http://", "https://", "innerHTML", "eval(", "style=\"", "onclick="}) {
    INFO(outside);
    CHECK(answer.body.find(outside) == std::string::npos);
  }
}

TEST_CASE("a program without a box answers no questions, and one with a box who has the token") {
  observed none;
  CHECK(none.get("/api/v1/ask").body == "{\"schema\":1,\"label\":\"\"}");
  CHECK(none.get("/api/v1/ask?text=why").status == 404);

  observed x{{.box = {"Echo", [](const std::string& text) {
                        if (text == "throw")
                          throw std::runtime_error("<nothing> is known");
                        return text == "long" ? std::string(200'000, 'x') : text;
                      }}}};
  CHECK(client::get(x.port, "/api/v1/ask?text=why", "").status == 401);
  CHECK(x.get("/api/v1/ask").body == "{\"schema\":1,\"label\":\"Echo\"}");
  const auto answer = x.get("/api/v1/ask?text=%3Cb%3E%22+%ff");
  CHECK(answer.status == 200);
  CHECK(has(answer, "Content-Type: application/json"));
  CHECK(answer.body == "{\"schema\":1,\"answer\":\"<b>\\\" \xef\xbf\xbd\"}");
  CHECK(x.get("/api/v1/ask?text=throw").body.find("There is no answer: <nothing> is known")
        != std::string::npos);
  CHECK(x.get("/api/v1/ask?text=" + std::string(1000, 'q')).status == 200);
  const auto refused = x.get("/api/v1/ask?text=" + std::string(1001, 'q'));
  CHECK(refused.status == 400);
  CHECK(refused.body == "A question has at most 1000 bytes.\n");
  const auto cut = x.get("/api/v1/ask?text=long").body;
  CHECK(cut.size() < 65'700);
  CHECK(cut.ends_with("x\\n... and more\"}"));
}

TEST_CASE("two questions at a time, and the observer stays with who looks") {
  std::atomic<int> asked{0};
  std::atomic<bool> release{false};
  observed x{{.box = {"Slow", [&](const std::string&) {
                        asked.fetch_add(1);
                        release.wait(false);
                        return std::string{"done"};
                      }}}};
  std::vector<client::connection> slow;
  for (int i = 0; i < 2; ++i) {
    slow.emplace_back(x.port);
    slow.back().send(client::request(x.port, "/api/v1/ask?text=" + std::to_string(i), x.bearer()));
  }
  while (asked.load() < 2)
    std::this_thread::yield();
  const auto third = x.get("/api/v1/ask?text=third");
  CHECK(third.status == 503);
  CHECK(has(third, "Retry-After: 1"));
  CHECK(x.get("/version").status == 200);
  release = true;
  release.notify_all();
  for (auto& one : slow)
    CHECK(one.read_all().find("\"answer\":\"done\"") != std::string::npos);
  CHECK(x.get("/api/v1/ask?text=again").status == 200);
}

TEST_CASE("no file is served, however it is asked for") {
  observed x;
  for (const std::string path :
       {"/../../../../etc/passwd", "/..%2f..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
        "/..\\..\\etc\\passwd", "/api/v1/../../../../etc/passwd", "//etc/passwd", "/etc/passwd",
        "/./x", "/proc/self/environ", "/CMakeLists.txt"}) {
    INFO(path);
    const auto answer = x.get(path);
    CHECK(answer.status >= 400);
    CHECK(answer.status < 500);
    CHECK(answer.body.find("root:") == std::string::npos);
  }
}

TEST_CASE("a head of more than 16 KB is not read to its end") {
  observed x;
  std::string bomb;
  for (int i = 0; i < 2000; ++i)
    bomb += "X-" + std::to_string(i) + ": " + std::string(50, 'x') + "\r\n";
  CHECK(client::get(x.port, "/version", x.bearer() + bomb).status != 200);
  CHECK(client::get(x.port, "/" + std::string(100'000, 'x'), x.bearer()).status != 200);
  CHECK(x.get("/version").status == 200);
}

TEST_CASE("what is no HTTP is refused") {
  observed x;
  for (const std::string& text :
       {std::string{"\r\n\r\n"}, std::string{"GET\r\n\r\n"}, std::string{"\0\0\0\0\r\n\r\n", 8},
        std::string{"GET / HTTP/9.9\r\n\r\n"}, std::string{"\x16\x03\x01\x02\x00\r\n\r\n", 9}}) {
    const auto answer = client::raw(x.port, text);
    CHECK((answer.status == 0 || answer.status >= 400));
  }
  CHECK(x.get("/version").status == 200);
}

TEST_CASE("a request that does not come to its end is answered with a sentence") {
  observed x;
  client::response answer;
  while (answer.status == 0) // a server without a CPU for 5 s ends it before it has read anything
    answer = client::raw(x.port, "GET /version HTTP/1.1\r\nHost: ");
  CHECK(answer.status == 400);
  CHECK(answer.body.find("come within 5 s, and have a head of at most 16 KB") != std::string::npos);
}

TEST_CASE("10,000 slow connections: the log says so, the program goes on, and others are served"
          " when they have gone") {
  observed x;
  const captured_reports reports;
  // As many as this process may have, beside what it needs itself.
  rlimit files{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &files) == 0);
  const auto before = files;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const auto count = std::min<rlim_t>(10'000, files.rlim_cur - 200);
  {
    std::vector<client::eager_connection> slow;
    slow.reserve(count);
    for (rlim_t i = 0; i < count; ++i) {
      slow.emplace_back(x.port);
      if (i % 2 == 0) // the others do not even begin
        slow.back().send("GET /version HTTP/1.1\r\nHost: ");
    }
    caf::scoped_actor self{x.system};
    const auto adder = x.system.spawn(
      [](caf::event_based_actor*) -> caf::behavior { return {[](int n) { return n + 1; }}; });
    int rounds = 0;
    while (!reports.have("sent no whole request within 5 s and was ended"))
      self->request(adder, caf::infinite, rounds)
        .receive([&](int n) { rounds = n; }, [](const caf::error&) { CHECK(false); });
    CHECK(rounds > 0);
    CHECK(reports.have("`ss -tp` shows which processes hold them"));
    caf::anon_send_exit(adder, caf::exit_reason::kill);
  }
  // The kernel drops who comes while its queue is full, and tries again ever more rarely.
  std::string answer;
  while (!answer.starts_with("HTTP/1.1 200")) {
    client::connection c{x.port, 0, 1};
    c.send(client::request(x.port, "/version", x.bearer()));
    answer = c.read_all();
  }
  setrlimit(RLIMIT_NOFILE, &before);
}
