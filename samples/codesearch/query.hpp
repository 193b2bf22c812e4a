#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace codesearch {

/// A word that an answer must contain, or the start of one.
struct query_term {
  std::string word;
  bool prefix = false; ///< any word that starts with `word`

  friend bool operator==(const query_term&, const query_term&) = default;
};

/// Terms that must all be in a file.
struct query {
  std::string text; ///< as typed
  std::vector<query_term> terms;
};

/// A query, or the reason why there is none.
struct parsed_query {
  query value;
  std::string error; ///< cause and remedy; empty if `value` holds

  [[nodiscard]] explicit operator bool() const noexcept {
    return error.empty();
  }
};

/// Words are runs of letters, digits and underscores; a '*' behind one asks for a prefix. All
/// other characters separate words, so `std::vector` means `std` and `vector`. Letter case counts.
/// Repeated terms are dropped.
[[nodiscard]] parsed_query parse_query(std::string_view text);

} // namespace codesearch
