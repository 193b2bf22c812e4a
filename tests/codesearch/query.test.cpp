#include "support/catch.hpp"

#include "codesearch/query.hpp"

using namespace codesearch;

namespace {

std::vector<query_term> terms(std::string_view text) {
  const parsed_query parsed = parse_query(text);
  INFO(parsed.error);
  REQUIRE(parsed);
  CHECK(parsed.value.text == text);
  return parsed.value.terms;
}

std::string error(std::string_view text) {
  const parsed_query parsed = parse_query(text);
  CHECK_FALSE(parsed);
  CHECK(parsed.value.terms.empty());
  return parsed.error;
}

} // namespace

TEST_CASE("words are separated by everything that is no letter, digit or underscore") {
  CHECK(terms("socket bind") == std::vector<query_term>{{"socket"}, {"bind"}});
  CHECK(terms("  std::vector<_T1> ") == std::vector<query_term>{{"std"}, {"vector"}, {"_T1"}});
  CHECK(terms("na\xC3\xAFve") == std::vector<query_term>{{"na"}, {"ve"}});
  CHECK(terms("42") == std::vector<query_term>{{"42"}});
}

TEST_CASE("a star behind a word asks for a prefix") {
  CHECK(terms("get* put") == std::vector<query_term>{{"get", true}, {"put", false}});
  CHECK(terms("get*,put*") == std::vector<query_term>{{"get", true}, {"put", true}});
}

TEST_CASE("repeated terms count once, letter case counts") {
  CHECK(terms("a b a a* A") == std::vector<query_term>{{"a"}, {"b"}, {"a", true}, {"A"}});
}

TEST_CASE("queries without a word and misplaced stars are refused with a remedy") {
  for (const std::string_view text : {"", "   ", "+-/", "\xFF"}) {
    CHECK_THAT(error(text),
               ContainsSubstring("no word in it") && ContainsSubstring("write one or more words"));
  }
  CHECK_THAT(error("*"), ContainsSubstring("no word before it"));
  CHECK_THAT(error("get **"), ContainsSubstring("no word before it"));
  CHECK_THAT(error("g*t"), ContainsSubstring("inside a word") && ContainsSubstring("\"g*t\""));
  CHECK_THAT(error(std::string(1025, 'x')), ContainsSubstring("more than 1024 bytes"));
}
