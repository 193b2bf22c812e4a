#pragma once

// Bytes to a port of this machine, and what comes back.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace client {

/// A connection to 127.0.0.1; reads give up after 20 s.
class connection {
public:
  /// @param receive_bytes that the kernel keeps for who does not read; 0: its own choice
  /// @param seconds after which it gives up to connect, or to send
  explicit connection(std::uint16_t port, int receive_bytes = 0, int seconds = 20)
    : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval to_send{seconds, 0};
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &to_send, sizeof to_send);
    if (receive_bytes != 0)
      setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }

  connection(connection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {
  }

  ~connection() {
    if (fd_ >= 0)
      close(fd_);
  }

  bool connected() const noexcept {
    return connected_;
  }

  bool send(std::string_view text) const {
    return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }

  /// All that comes until `end` is in it, or nothing more comes.
  std::string read_until(std::string_view end) {
    std::string result;
    char part[65536];
    for (std::size_t from = 0; result.find(end, from) == std::string::npos;) {
      from = result.size() - std::min(result.size(), end.size()); // no byte is searched twice
      const auto got = recv(fd_, part, sizeof part, 0);
      if (got <= 0)
        break;
      result.append(part, static_cast<std::size_t>(got));
    }
    return result;
  }

  std::string read_all() {
    return read_until(std::string_view{"\0 never \0", 9});
  }

private:
  int fd_;
  bool connected_;
};

/// A connection that nobody waits for: the other side may never take it.
class eager_connection {
public:
  explicit eager_connection(std::uint16_t port)
    : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }

  eager_connection(eager_connection&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {
  }

  ~eager_connection() {
    if (fd_ >= 0)
      close(fd_);
  }

  void send(std::string_view text) const {
    std::ignore = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
  }

private:
  int fd_;
};

struct response {
  int status = 0; ///< 0: the other side closed without an answer
  std::string head;
  std::string body;
};

inline response parse(const std::string& text) {
  response result;
  if (text.size() > 12)
    result.status = std::stoi(text.substr(9, 3));
  const auto blank = text.find("\r\n\r\n");
  result.head = text.substr(0, blank);
  if (blank != std::string::npos)
    result.body = text.substr(blank + 4);
  return result;
}

/// @param more lines of the head, each with its \r\n
inline std::string request(std::uint16_t port, const std::string& path,
                           const std::string& more = {}, const std::string& method = "GET") {
  return method + ' ' + path + " HTTP/1.1\r\nHost: localhost:" + std::to_string(port) + "\r\n"
         + more + "\r\n";
}

inline response get(std::uint16_t port, const std::string& path, const std::string& more = {},
                    const std::string& method = "GET") {
  connection c{port};
  if (!c.send(request(port, path, more, method)))
    return {};
  return parse(c.read_all());
}

/// The whole request is the caller's.
inline response raw(std::uint16_t port, const std::string& text) {
  connection c{port};
  c.send(text);
  return parse(c.read_all());
}

} // namespace client
