#pragma once

// The web server underneath: one file knows civetweb.

#include "access.hpp"

#include <functional>
#include <string>
#include <string_view>

struct mg_connection;
struct mg_context;

namespace basal::observer {

/// One request, and the way to answer it. Lives as long as the handler's call.
class exchange {
public:
  explicit exchange(mg_connection* connection) noexcept : connection_(connection) {
  }

  std::string_view method() const noexcept;
  std::string_view path() const noexcept;                   ///< decoded, without dot segments
  std::string_view header(const char* name) const noexcept; ///< empty if it is not there
  std::string query(const char* name) const;                ///< decoded; empty if it is not there
  bool asks(std::string_view name) const noexcept;          ///< this is the whole query: "?verbose"

  /// The whole answer. @param more lines of the head, each with its \r\n
  void reply(int status, std::string_view type, std::string_view body, std::string_view more = {});

  /// A sentence as text/plain, as the whole answer.
  void say(int status, std::string_view sentence, std::string_view more = {});

  /// The head of an answer without an end.
  bool begin_stream(std::string_view type);

  /// @returns false if the other side has not taken it within http_server::timeout_ms, or is gone
  bool write(std::string_view part);

private:
  bool head(int status, std::string_view type, std::string_view more);

  mg_connection* connection_;
};

/// Listens and calls a handler for each request, on its own threads.
class http_server {
public:
  static constexpr int threads = 8;                ///< requests and streams at a time
  static constexpr int timeout_ms = 5000;          ///< for a request to arrive, for a write to go
  static constexpr int most_request_bytes = 16384; ///< line and head

  using handler = std::function<void(exchange&)>;

  /// Listens from here on.
  /// @param handle called by several threads; what it throws is answered with status 500
  /// @throws std::runtime_error with a sentence that names cause and remedy
  http_server(const address& where, handler handle);

  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// Waits for all handlers.
  ~http_server();

  /// The port that it has got.
  std::uint16_t port() const noexcept {
    return port_;
  }

private:
  handler handle_;
  address where_;
  std::uint16_t port_ = 0;
  mg_context* context_;
};

} // namespace basal::observer
