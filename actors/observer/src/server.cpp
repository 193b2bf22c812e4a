#include <basal/observer/server.hpp>

#include "access.hpp"
#include "actor_report.hpp"
#include "http.hpp"
#include "json.hpp"
#include "liveness.hpp"
#include "metrics.hpp"
#include "page.hpp"
#include "sampler.hpp"
#include "trace_download.hpp"
#include "version.hpp"

#include <basal/actors/detail/system_core.hpp>
#include <basal/actors/log.hpp>
#include <basal/actors/options.hpp>

#include <caf/actor_system.hpp>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <condition_variable>
#include <optional>
#include <stdexcept>

namespace basal::observer {

namespace {

using std::chrono::milliseconds;

// Of http_server::threads; the others answer requests.
constexpr int most_subscribers = 4;
constexpr int most_askers = 2;

constexpr milliseconds least_interval{100};
constexpr milliseconds most_interval{60'000};
constexpr milliseconds usual_interval{250};

// Length of a recording. The recorder mostly has less.
constexpr std::chrono::seconds least_trace{1};
constexpr std::chrono::seconds most_trace{60};
constexpr std::chrono::seconds usual_trace{10};

// Of a report on actors: what they do in this time, while whoever asks waits.
constexpr milliseconds least_window{100};
constexpr milliseconds most_window{10'000};
constexpr milliseconds usual_window{1'000};
constexpr std::uint32_t most_reported = 512;
constexpr std::uint32_t usual_reported = 50;

// Actors are counted for so long after a request, so that they always are for somebody who comes
// back each minute, as Prometheus does; and for a subscriber, after the next event.
constexpr milliseconds watch_after_request{120'000};
constexpr milliseconds watch_after_event{2'000};

// A subscriber that has gone is noticed by writing to it.
constexpr milliseconds longest_silence{5'000};

// Scrapes and page loads within this time see the same numbers.
constexpr milliseconds same_moment{50};

/// A whole number in the query, of a duration's unit or of none, in its range.
template <class Number>
std::optional<Number> parse(const std::string& text, Number usual, Number least, Number most) {
  if (text.empty())
    return usual;
  std::uint32_t count = 0;
  const auto* last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, count);
  const Number result{count};
  if (problem != std::errc{} || end != last || result < least || result > most)
    return std::nullopt;
  return result;
}

/// @param whose owner of the token, for the sentence
/// @throws std::invalid_argument
const std::string& checked_token(const std::string& token, const char* whose) {
  const auto plain = [](unsigned char x) { return std::isalnum(x) != 0 || x == '-' || x == '_'; };
  if (token.size() < 32 || !std::all_of(token.begin(), token.end(), plain))
    throw std::invalid_argument("the observer does not listen, since " + std::string{whose}
                                + " could be guessed or does not fit into a URL: it must be 32 "
                                  "letters, digits, - and _, or more of them");
  return token;
}

} // namespace

class server::implementation {
public:
  implementation(caf::actor_system& system, options given)
    : samples_(system), given_(std::move(given)) {
    actors::detail::system_core::of(system, "there is nothing to observe");
    const auto configured = actors::read_options(system.config()).observer;
    const auto& listen = given_.listen.empty() ? configured : given_.listen;
    if (listen.empty())
      return;
    auto& log = actors::logger_of(actors::log_module::actors);
    try {
      const auto where = parse_address(listen);
      token_ = given_.token.empty() ? random_token() : checked_token(given_.token, "its token");
      if (!given_.metrics_token.empty())
        checked_token(given_.metrics_token, "its token for metrics");
      // The handlers of early requests wait for the port, which Host and cookie are checked with.
      const std::lock_guard starting{mutex_};
      http_.emplace(where, [this](exchange& x) { answer(x); });
      port_ = http_->port();
      cookie_ = "basal_observer_" + std::to_string(port_);
      url = "http://" + where.host + ':' + std::to_string(port_) + "/?token=" + token_;
      log.info("observer at {}", url);
    } catch (const std::exception& failed) {
      problem = failed.what();
      log.error("{}", problem);
    }
  }

  ~implementation() {
    {
      const std::lock_guard guard{mutex_};
      stopping_ = true;
    }
    stop_.notify_all();
  }

  void not_ready(std::string why) {
    const std::lock_guard guard{mutex_};
    not_ready_ = std::move(why);
  }

  // Written by the constructor.
  std::string url;
  std::string problem;

private:
  void answer(exchange& x) {
    { const std::lock_guard started{mutex_}; }
    if (!is_our_host(x.header("Host"), port_, given_.hosts))
      x.say(403, "This observer answers for its own host and port only.\n");
    else if (x.method() != "GET" && x.method() != "HEAD")
      x.say(405, "The observer is read only.\n", "Allow: GET, HEAD\r\n");
    else if (x.path() == "/livez")
      reply_livez(x);
    else if (x.path() == "/readyz")
      reply_readyz(x);
    else if (const auto token = x.query("token"); !token.empty())
      admit(x, token);
    else if (may_look(x))
      route(x);
    else
      x.say(401, "Open the address with the token that the program has logged.\n",
            "WWW-Authenticate: Bearer\r\n");
  }

  void route(exchange& x) {
    const auto path = x.path();
    if (path == "/")
      x.reply(200, "text/html; charset=utf-8", page,
              "Content-Security-Policy: " + std::string{page_policy} + "\r\n");
    else if (path == "/api/v1/snapshot")
      x.reply(200, "application/json", samples_.watched(same_moment, watch_after_request)->json());
    else if (path == "/api/v1/events")
      stream(x);
    else if (path == "/api/v1/actors")
      reply_actors(x);
    else if (path == "/api/v1/trace")
      reply_trace(x);
    else if (path == "/api/v1/ask")
      reply_answer(x);
    else if (path == "/metrics")
      reply_metrics(x);
    else if (path == "/version")
      x.reply(200, "application/json",
              text_of({{"schema", 1},
                       {"version", version},
                       {"commit", commit},
                       {"caf", caf_version()},
                       {"compiler", compiler}}));
    else
      x.say(404, "There is nothing at this address.\n");
  }

  /// The address with the token becomes one without it, and a cookie that scripts do not see.
  void admit(exchange& x, const std::string& token) {
    if (!equal_in_constant_time(token, token_)) {
      x.say(401, "This is not the token that the program has logged.\n");
      return;
    }
    x.say(303, "The token is in a cookie now.\n",
          "Location: " + location_of(x.path()) + "\r\nSet-Cookie: " + cookie_ + '=' + token_
            + "; HttpOnly; SameSite=Strict; Path=/\r\n");
  }

  /// A path of ours as it is; a redirection to any other would be one to where an attacker likes.
  static std::string location_of(std::string_view path) {
    for (const auto* known : {"/api/v1/snapshot", "/api/v1/events", "/api/v1/actors", "/api/v1/ask",
                              "/api/v1/trace", "/metrics", "/version"})
      if (path == known)
        return known;
    return "/";
  }

  bool may_look(const exchange& x) const {
    static constexpr std::string_view bearer = "Bearer ";
    auto given = x.header("Authorization");
    if (given.starts_with(bearer)) {
      given.remove_prefix(bearer.size());
      const auto& other = given_.metrics_token;
      if (!other.empty() && x.path() == "/metrics" && equal_in_constant_time(given, other))
        return true;
      return equal_in_constant_time(given, token_);
    }
    return equal_in_constant_time(cookie(x.header("Cookie"), cookie_), token_);
  }

  /// Waits for the window to pass, and keeps a thread for that long, like a subscriber.
  void reply_actors(exchange& x) {
    const auto sort = x.query("sort");
    const auto order = parse_actor_order(sort.empty() ? "busy" : sort);
    const auto window = parse(x.query("window"), usual_window, least_window, most_window);
    const auto limit = parse(x.query("limit"), usual_reported, std::uint32_t{1}, most_reported);
    if (!order || !window || !limit) {
      x.say(400, "Actors are sorted by busy, delay, messages or mailbox; the window is a whole "
                 "number of milliseconds from 100 to 10000, and the limit one from 1 to 512.\n");
      return;
    }
    const place taken{subscribers_, most_subscribers};
    if (!taken.fits) {
      say_full(x);
      return;
    }
    const auto before = samples_.watched(same_moment, *window + watch_after_request);
    {
      std::unique_lock lock{mutex_};
      if (stop_.wait_for(lock, *window, [this] { return stopping_; }))
        return;
    }
    x.reply(200, "application/json",
            actor_report(*before, *samples_.not_older_than(milliseconds{0}), *order, *limit));
  }

  /// The program's answer to a question; without one, the name of the box, empty where there is
  /// none.
  void reply_answer(exchange& x) {
    const auto& box = given_.box;
    const auto question = x.query("text");
    if (question.empty()) {
      x.reply(200, "application/json",
              text_of({{"schema", 1}, {"label", box.answer != nullptr ? box.label : ""}}));
      return;
    }
    if (box.answer == nullptr || question.size() > question_box::most_question_bytes) {
      x.say(box.answer == nullptr ? 404 : 400,
            box.answer == nullptr
              ? "The program answers no questions.\n"
              : "A question has at most " + std::to_string(question_box::most_question_bytes)
                  + " bytes.\n");
      return;
    }
    const place taken{askers_, most_askers};
    if (!taken.fits) {
      x.say(503, "Two questions are being answered, as many as there can be; ask again.\n",
            "Retry-After: 1\r\n");
      return;
    }
    std::string answer;
    try {
      answer = box.answer(question);
    } catch (const std::exception& failed) {
      answer = std::string{"There is no answer: "} + failed.what();
    }
    if (answer.size() > question_box::most_answer_bytes)
      answer.replace(question_box::most_answer_bytes, answer.npos, "\n... and more");
    x.reply(200, "application/json", text_of({{"schema", 1}, {"answer", std::move(answer)}}));
  }

  void reply_metrics(exchange& x) {
    const auto now = samples_.watched(same_moment, watch_after_request);
    x.reply(200, "text/plain; version=0.0.4; charset=utf-8",
            metrics_text(now->stats, now->process));
  }

  void reply_trace(exchange& x) {
    const auto age = parse(x.query("seconds"), usual_trace, least_trace, most_trace);
    if (age)
      x.reply(200, "application/octet-stream", trace_of_last(*age),
              "Content-Disposition: attachment; filename=\"basal.pftrace\"\r\n");
    else
      x.say(400, "A recording is of a whole number of seconds from 1 to 60.\n");
  }

  void reply_livez(exchange& x) {
    liveness::report seen;
    {
      const std::lock_guard guard{mutex_};
      const auto now = samples_.not_older_than(same_moment);
      seen = liveness_.look(now->stats, now->taken);
    }
    reply_health(x, seen.alive, seen.text);
  }

  void reply_readyz(exchange& x) {
    std::string why;
    {
      const std::lock_guard guard{mutex_};
      why = stopping_ ? "stopping" : not_ready_;
    }
    bool good = why.empty();
    std::string text = good ? "[+]program ok\n" : "[-]program " + why + '\n';
    // The limits only, and no numbers: whoever asks needs no token.
    const auto compare = [&](const char* what, std::uint64_t value, std::uint64_t limit) {
      if (limit == 0)
        return;
      const bool within = value <= limit;
      text
        += (within ? "[+]" : "[-]") + std::string{what} + (within ? " ok\n" : " over its limit\n");
      good = good && within;
    };
    if (given_.ready_up_to_queued != 0 || given_.ready_up_to_bytes != 0) {
      const auto now = samples_.not_older_than(same_moment);
      compare("background queue", now->stats.background.queued_now, given_.ready_up_to_queued);
      compare("memory", now->process.resident_bytes, given_.ready_up_to_bytes);
    }
    reply_health(x, good, text);
  }

  static void reply_health(exchange& x, bool good, const std::string& details) {
    const bool verbose = x.asks("verbose") || !good;
    x.say(good ? 200 : 503, (verbose ? details : "") + (good ? "ok\n" : "failed\n"));
  }

  /// Server-sent events: a sample at each interval, until the other side or this one goes.
  void stream(exchange& x) {
    const auto interval = parse(x.query("interval"), usual_interval, least_interval, most_interval);
    if (!interval) {
      x.say(400, "The interval is a whole number of milliseconds from 100 to 60000.\n");
      return;
    }
    if (x.method() == "HEAD") {
      x.reply(200, "text/event-stream", "");
      return;
    }
    const place taken{subscribers_, most_subscribers};
    if (!taken.fits) {
      say_full(x);
      return;
    }
    if (x.begin_stream("text/event-stream") && x.write("retry: 1000\n\n"))
      feed(x, *interval);
  }

  static void say_full(exchange& x) {
    x.say(503, "Four subscribers are being served, as many as there can be.\n",
          "Retry-After: 5\r\n");
  }

  void feed(exchange& x, milliseconds interval) {
    auto next = std::chrono::steady_clock::now();
    for (;;) {
      const auto now = samples_.watched(interval / 2, interval + watch_after_event);
      if (!x.write("id: " + std::to_string(now->number) + "\ndata: " + now->json() + "\n\n"))
        return;
      // Samples that a slow reader has missed are left out, not caught up with.
      next = std::max(next + interval, std::chrono::steady_clock::now());
      while (std::chrono::steady_clock::now() < next) {
        const auto until = std::min(next, std::chrono::steady_clock::now() + longest_silence);
        std::unique_lock lock{mutex_};
        if (stop_.wait_until(lock, until, [this] { return stopping_; }))
          return;
        lock.unlock();
        if (until < next && !x.write(": still here\n\n"))
          return;
      }
    }
  }

  /// One of so many places, if there is one. Relaxed: a number, with nothing published behind it.
  struct place {
    place(std::atomic<int>& count, int most)
      : all(count), fits(count.fetch_add(1, std::memory_order_relaxed) < most) {
    }

    place(const place&) = delete;
    place& operator=(const place&) = delete;

    ~place() {
      all.fetch_sub(1, std::memory_order_relaxed);
    }

    std::atomic<int>& all;
    const bool fits;
  };

  sampler samples_;
  const options given_;

  // Written by the constructor while it holds mutex_, before any handler reads them.
  std::string token_;
  std::string cookie_;
  std::uint16_t port_ = 0;

  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false; // guarded by mutex_
  std::string not_ready_; // guarded by mutex_
  liveness liveness_;     // guarded by mutex_
  std::atomic<int> subscribers_{0};
  std::atomic<int> askers_{0};

  std::optional<http_server> http_; // last: its end waits for handlers, which use the others
};

server::server(caf::actor_system& system, options given)
  : implementation_(std::make_unique<implementation>(system, std::move(given))) {
}

server::~server() = default;

const std::string& server::url() const noexcept {
  return implementation_->url;
}

const std::string& server::problem() const noexcept {
  return implementation_->problem;
}

void server::not_ready(std::string why) {
  implementation_->not_ready(std::move(why));
}

} // namespace basal::observer
