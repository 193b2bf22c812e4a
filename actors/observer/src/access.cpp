#include "access.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>

namespace basal::observer {

namespace {

/// 127.0.0.0/8 in four parts.
bool is_loopback(const std::string& host) noexcept {
  in_addr parsed{};
  return inet_pton(AF_INET, host.c_str(), &parsed) == 1
         && (ntohl(parsed.s_addr) >> 24) == IN_LOOPBACKNET;
}

bool equal_without_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

} // namespace

address parse_address(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("the observer cannot listen on '" + text + "', " + why);
  };
  address result;
  // The colon before the port: not one of those in [::1].
  const auto bracket = text.rfind(']');
  const auto colon = text.find(':', bracket == std::string::npos ? 0 : bracket);
  result.host = text.substr(0, colon);
  if (colon != std::string::npos) {
    const auto* first = text.data() + colon + 1;
    const auto* last = text.data() + text.size();
    const auto [end, problem] = std::from_chars(first, last, result.port);
    if (problem != std::errc{} || end != last)
      refuse("whose port is not a number from 0 to 65535; write 127.0.0.1:7420 say");
  }
  if (result.host == "localhost")
    result.host = "127.0.0.1";
  if (result.host != "[::1]" && !is_loopback(result.host))
    refuse(
      "which is not on the loopback interface: it would show this program to the network "
      "without encryption. Listen on 127.0.0.1 and reach it through ssh -L 7420:127.0.0.1:7420");
  return result;
}

std::string random_token() {
  std::array<unsigned char, 16> bits{};
  if (getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
    throw std::system_error(errno, std::generic_category(), "getrandom");
  static constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (const auto byte : bits) {
    result += digits[byte >> 4];
    result += digits[byte & 15];
  }
  return result;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size())
    return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

std::string_view cookie(std::string_view header, std::string_view name) noexcept {
  while (!header.empty()) {
    const auto end = header.find(';');
    auto one = header.substr(0, end);
    header = end == std::string_view::npos ? std::string_view{} : header.substr(end + 1);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.substr(name.size() + 1);
  }
  return {};
}

bool is_our_host(std::string_view host, std::uint16_t port,
                 const std::vector<std::string>& others) noexcept {
  if (std::any_of(others.begin(), others.end(),
                  [&](const std::string& other) { return equal_without_case(host, other); }))
    return true;
  const auto colon = host.rfind(':');
  if (colon == std::string_view::npos)
    return false;
  std::uint16_t given = 0;
  const auto* last = host.data() + host.size();
  const auto [end, problem] = std::from_chars(host.data() + colon + 1, last, given);
  if (problem != std::errc{} || end != last || given != port)
    return false;
  const std::string name{host.substr(0, colon)};
  return equal_without_case(name, "localhost") || name == "[::1]" || is_loopback(name);
}

} // namespace basal::observer
