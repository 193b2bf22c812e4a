#include "http.hpp"

#include <civetweb.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include <basal/executors/report.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace basal::observer {

namespace {

/// Of every answer. Nothing may be loaded by anybody's page from here, or kept.
constexpr std::string_view security_headers = "X-Content-Type-Options: nosniff\r\n"
                                              "Referrer-Policy: no-referrer\r\n"
                                              "Cross-Origin-Resource-Policy: same-origin\r\n"
                                              "Cache-Control: no-store\r\n";
constexpr std::string_view no_page = "Content-Security-Policy: default-src 'none'; "
                                     "frame-ancestors 'none'\r\n";

/// civetweb ignores SIGPIPE for the whole process, and its threads take any signal. This keeps the
/// program's own answer to SIGPIPE (civetweb writes with MSG_NOSIGNAL), and has threads that begin
/// in the meantime take none.
class signals_untouched {
public:
  signals_untouched() {
    sigaction(SIGPIPE, nullptr, &on_pipe_);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask_);
  }

  signals_untouched(const signals_untouched&) = delete;
  signals_untouched& operator=(const signals_untouched&) = delete;

  ~signals_untouched() {
    sigaction(SIGPIPE, &on_pipe_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }

private:
  struct sigaction on_pipe_ {};
  sigset_t mask_{};
};

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Of a time that is over, some is left out: a thread may notice late, never early, but civetweb
/// counts in whole ticks.
constexpr milliseconds most_of_timeout{http_server::timeout_ms - 500};

constinit executors::report_kind slow_requests{
  executors::report_level::warning, "basal.actors",
  "connections to the observer that sent no whole request"};

constinit executors::report_kind slow_readers{executors::report_level::warning, "basal.actors",
                                              "readers that the observer has dropped"};

std::string timeout_text() {
  return std::to_string(http_server::timeout_ms / 1000) + " s";
}

std::uintptr_t now_ms() noexcept {
  const auto now = steady_clock::now().time_since_epoch();
  return static_cast<std::uintptr_t>(std::chrono::duration_cast<milliseconds>(now).count());
}

/// A connection's own data is when it began, in ms, until it has sent something of a request.
int on_begin(const mg_connection*, void** data) {
  *data = reinterpret_cast<void*>(now_ms());
  return 0;
}

void has_sent(const mg_connection* connection) {
  mg_set_user_connection_data(connection, nullptr);
}

void report_slow_request() noexcept {
  try {
    slow_requests("a connection to the observer sent no whole request within " + timeout_text()
                  + " and was ended; while many do, others wait to look (the program itself does "
                    "not): `ss -tp` shows which processes hold them");
  } catch (const std::bad_alloc&) {
    // a line less
  }
}

void on_end(const mg_connection* connection) {
  const auto since = reinterpret_cast<std::uintptr_t>(mg_get_user_connection_data(connection));
  if (since != 0 && now_ms() - since >= static_cast<std::uintptr_t>(most_of_timeout.count()))
    report_slow_request();
}

int on_request(mg_connection* connection) {
  has_sent(connection);
  const auto* handle
    = static_cast<const http_server::handler*>(mg_get_user_data(mg_get_context(connection)));
  exchange x{connection};
  try {
    (*handle)(x);
  } catch (const std::exception&) { // for want of memory, or of more
    mg_send_http_error(connection, 500, "%s", "The observer could not answer.");
  }
  return 200; // any: it is for a log of accesses that is not written
}

/// Answers the requests that civetweb refuses by itself: no HTTP, too long, too slow.
int on_error(mg_connection* connection, int status, const char* why) {
  on_end(connection);
  has_sent(connection);
  exchange{connection}.say(status, "This is no request that the observer reads (" + std::string{why}
                                     + "): it must be HTTP/1.1, come within " + timeout_text()
                                     + ", and have a head of at most "
                                     + std::to_string(http_server::most_request_bytes / 1024)
                                     + " KB.\n");
  return 0;
}

int no_log(const mg_connection*, const char*) {
  return 1;
}

/// Connects, and goes away.
void knock(const address& where) noexcept {
  const bool six = where.host.starts_with('[');
  const int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return;
  if (six) {
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(where.port);
    to.sin6_addr = in6addr_loopback;
    connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  } else {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(where.port);
    inet_pton(AF_INET, where.host.c_str(), &to.sin_addr);
    connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  close(fd);
}

std::string why_not(const address& where, const char* civetweb_says) {
  const auto place = where.host + ':' + std::to_string(where.port);
  return "the observer cannot listen on " + place
         + ": another program does, or the port is not "
           "allowed ("
         + civetweb_says + "). Choose another port, or 0 for any that is free";
}

/// Before civetweb 1.16 the code of an error is left where a pointer says.
template <class Error>
void leave_code(Error& error, unsigned& code) {
  if constexpr (std::is_pointer_v<decltype(error.code)>)
    error.code = &code;
}

} // namespace

std::string_view exchange::method() const noexcept {
  return mg_get_request_info(connection_)->request_method;
}

std::string_view exchange::path() const noexcept {
  return mg_get_request_info(connection_)->local_uri;
}

std::string_view exchange::header(const char* name) const noexcept {
  const char* value = mg_get_header(connection_, name);
  return value != nullptr ? value : std::string_view{};
}

std::string exchange::query(const char* name) const {
  const char* text = mg_get_request_info(connection_)->query_string;
  if (text == nullptr)
    return {};
  const std::string_view all{text};
  std::string value(all.size() + 1, '\0');
  const int length = mg_get_var(all.data(), all.size(), name, value.data(), value.size());
  value.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return value;
}

bool exchange::asks(std::string_view name) const noexcept {
  const char* text = mg_get_request_info(connection_)->query_string;
  return text != nullptr && text == name;
}

bool exchange::write(std::string_view part) {
  const auto start = steady_clock::now();
  if (mg_write(connection_, part.data(), part.size()) == static_cast<int>(part.size()))
    return true;
  if (steady_clock::now() - start >= most_of_timeout)
    slow_readers("a reader of the observer has taken nothing for " + timeout_text()
                 + " and was dropped, so that others find its place; a page connects again by "
                   "itself, and a program that asks for a stream must read it all the time");
  return false;
}

bool exchange::head(int status, std::string_view type, std::string_view more) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + ' '
                     + mg_get_response_code_text(connection_, status) + "\r\nContent-Type: ";
  text += type;
  text += "\r\nConnection: close\r\n";
  text += security_headers;
  if (more.find("Content-Security-Policy") == std::string_view::npos)
    text += no_page;
  text += more;
  text += "\r\n";
  return write(text);
}

void exchange::reply(int status, std::string_view type, std::string_view body,
                     std::string_view more) {
  std::string lines{more};
  lines += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  const auto* info = mg_get_request_info(connection_);
  const bool wants_body
    = info->request_method == nullptr || std::string_view{info->request_method} != "HEAD";
  if (head(status, type, lines) && wants_body)
    write(body);
}

void exchange::say(int status, std::string_view sentence, std::string_view more) {
  reply(status, "text/plain; charset=utf-8", sentence, more);
}

bool exchange::begin_stream(std::string_view type) {
  return head(200, type, {});
}

http_server::http_server(const address& where, handler handle)
  : handle_(std::move(handle)), where_(where) {
  const auto place = where.host + ':' + std::to_string(where.port);
  const auto thread_count = std::to_string(threads);
  const auto timeout = std::to_string(timeout_ms);
  const auto request_bytes = std::to_string(most_request_bytes);
  std::array<const char*, 17> settings{"listening_ports",
                                       place.c_str(),
                                       "num_threads",
                                       thread_count.c_str(),
                                       "request_timeout_ms",
                                       timeout.c_str(),
                                       "max_request_size",
                                       request_bytes.c_str(),
                                       "enable_directory_listing",
                                       "no",
                                       "access_control_allow_origin",
                                       "",
                                       "access_control_allow_methods",
                                       "",
                                       "access_control_allow_headers",
                                       "",
                                       nullptr};
  mg_callbacks callbacks{};
  callbacks.begin_request = on_request;
  callbacks.http_error = on_error;
  callbacks.init_connection = on_begin;
  callbacks.connection_close = on_end;
  callbacks.log_message = no_log;
  // No log_access: with one civetweb formats a time for each request, which is not thread-safe.
  std::array<char, 200> said{};
  unsigned code = 0;
  mg_init_data begin{&callbacks, &handle_, settings.data()};
  mg_error_data error{};
  error.text = said.data();
  error.text_buffer_size = said.size();
  leave_code(error, code);
  const signals_untouched guard;
  context_ = mg_start2(&begin, &error);
  if (context_ == nullptr)
    throw std::runtime_error(why_not(where, said.data()));
  mg_server_port port{};
  if (mg_get_server_ports(context_, 1, &port) == 1)
    port_ = static_cast<std::uint16_t>(port.port);
}

http_server::~http_server() {
  // civetweb's thread that accepts connections looks every 2 s whether it is to stop, or when
  // somebody connects.
  std::atomic<bool> stopped{false};
  std::jthread knocker{[&, where = address{where_.host, port_}] {
    while (!stopped.load(std::memory_order_relaxed)) {
      knock(where);
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
  }};
  mg_stop(context_);
  stopped.store(true, std::memory_order_relaxed); // nothing is published behind it
}

} // namespace basal::observer
