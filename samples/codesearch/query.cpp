#include "query.hpp"

#include <algorithm>

#include "word_bytes.hpp"

namespace codesearch {

parsed_query parse_query(std::string_view text) {
  parsed_query result;
  result.value.text = text;
  auto& terms = result.value.terms;
  const auto fail = [&](std::string_view cause, std::string_view remedy) {
    terms.clear();
    result.error = "the query \"" + result.value.text + "\" ";
    result.error.append(cause).append(": ").append(remedy);
    return result;
  };
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '*') {
      return fail("has a '*' with no word before it", "write the start of a word, as in get*");
    }
    if (!is_word_byte(text[at])) {
      ++at;
      continue;
    }
    const std::size_t start = at;
    while (at < text.size() && is_word_byte(text[at])) {
      ++at;
    }
    query_term term{std::string(text.substr(start, at - start)), false};
    if (term.word.size() > longest_word_bytes) {
      return fail("has a word of more than " + std::to_string(longest_word_bytes) + " bytes",
                  "such words are not indexed; use a prefix of it, as in get*");
    }
    if (at < text.size() && text[at] == '*') {
      term.prefix = true;
      ++at;
      if (at < text.size() && is_word_byte(text[at])) {
        return fail("has a '*' inside a word", "a '*' may stand at the end of a word only");
      }
    }
    if (std::find(terms.begin(), terms.end(), term) == terms.end()) {
      terms.push_back(std::move(term));
    }
  }
  if (terms.empty()) {
    return fail("has no word in it", "write one or more words, as in: socket bind get*");
  }
  return result;
}

} // namespace codesearch
