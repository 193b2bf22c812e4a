#pragma once

// Rules of access: where the observer listens, and what a request has to prove.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace basal::observer {

/// An address on the loopback interface.
struct address {
  std::string host; ///< "127.0.0.1", "[::1]"
  std::uint16_t port = 7420;
};

/// @throws std::invalid_argument with a sentence if it is none, or not on the loopback interface:
///         there is no encryption here
address parse_address(const std::string& text);

/// 128 random bits of the kernel in hexadecimal digits.
std::string random_token();

/// Takes as long whatever they differ in, except their lengths.
bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

/// The value of one cookie in the header `Cookie`; empty if it is not there.
std::string_view cookie(std::string_view header, std::string_view name) noexcept;

/// Is the header `Host` one of a server that listens on `port` of the loopback interface, or one of
/// `others`? The name of another site that leads here is not.
bool is_our_host(std::string_view host, std::uint16_t port,
                 const std::vector<std::string>& others) noexcept;

} // namespace basal::observer
