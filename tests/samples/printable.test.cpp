#include "support/catch.hpp"

#include "common/printable.hpp"

#include <string>

using samples::printable;

TEST_CASE("blanks at the ends go, control characters and invalid UTF-8 are replaced") {
  CHECK(printable("  int a;\t\r", 80) == "int a;");
  CHECK(printable("a\tb", 80) == "a b");
  CHECK(printable("\x1B[31mred\x07", 80) == "\uFFFD[31mred\uFFFD");
  CHECK(printable("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", 80)
        == "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(printable("\xFF x \xC3", 80) == "\uFFFD x \uFFFD");
  CHECK(printable("\xC0\xAF", 80) == "\uFFFD\uFFFD");           // overlong
  CHECK(printable("\xED\xA0\x80", 80) == "\uFFFD\uFFFD\uFFFD"); // surrogate
  CHECK(printable("\xC2\x9B"
                  "31m",
                  80)
        == "\uFFFD"
           "31m"); // a control character of Unicode
  CHECK(printable("", 80).empty());
  CHECK(printable(" \t ", 80).empty());
}

TEST_CASE("long texts end in an ellipsis, between characters") {
  CHECK(printable("12345", 5) == "12345");
  CHECK(printable("123456", 5) == "1234\u2026");
  CHECK(printable("\u20AC\u20AC\u20AC\u20AC", 4) == "\u20AC\u20AC\u20AC\u20AC");
  CHECK(printable("\u20AC\u20AC\u20AC\u20AC", 3) == "\u20AC\u20AC\u2026");
}

TEST_CASE("texts are not cut unless asked to") {
  const std::string text(100'000, 'x');
  CHECK(printable(text) == text);
}
