#include "support/catch.hpp"

#include "tiers.hpp"

using namespace tiered;
using namespace tiered::test;

namespace {

struct bad_text {
  std::string text;
  std::string expected; ///< the message, with its line and column, or the beginning of it
};

std::string message(const std::string& text) {
  try {
    (void)parse_program(text);
  } catch (const source_error& e) {
    return e.what();
  }
  return "no error";
}

std::string repeated(const std::string& part, int n) {
  std::string all;
  for (int i = 0; i < n; ++i)
    all += part;
  return all;
}

std::string main_is(const std::string& expression) {
  return "fn main(): int = " + expression;
}

} // namespace

TEST_CASE("what is no program is refused with line, column, cause and remedy") {
  const std::vector<bad_text> cases = {
    {"", "1:1: there is no function here"},
    {"# nothing\n", "1:1: there is no function here"},
    {"42", "1:1: expected 'fn', which begins a function, found '42'"},
    {"fn", "1:3: expected the name of the function, found the end of the text"},
    {"fn f", "1:5: expected '(' after the name"},
    {"fn f(x)", "1:7: expected ':' and the type of the parameter, found ')'"},
    {"fn f(x: real): int = 1", "1:9: expected a type, int or float, found 'real'"},
    {"fn f(x: int x: int): int = 1", "1:13: expected ',' or ')' after a parameter"},
    {"fn f(x: int, x: int): int = 1", "1:14: two parameters are named 'x'"},
    {"fn f() = 1", "1:8: expected ':' and the type of the result"},
    {"fn f(): int 1", "1:13: expected '=' and the body"},
    {"fn f(): int =\n", "2:1: expected an expression, found the end of the text"},
    {"fn f(): int = 1\nfn f(): int = 2", "2:4: a second function named 'f'"},
    {"fn int(): int = 1", "1:4: 'int' is built in"},
    {"fn let(): int = 1", "1:4: expected the name of the function, found 'let'"},
    {main_is("x"), "1:18: unknown name 'x'"},
    {main_is("main"), "1:18: 'main' is a function; call it: main(...)"},
    {main_is("f(1)"), "1:18: unknown function 'f'"},
    {main_is("main(1)"), "1:18: wrong number of arguments: 1 for fn main(): int"},
    {"fn f(x: float): int = 1\nfn main(): int = f(1)",
     "2:20: argument 1 of fn f(float): int must be float, not int; convert with float(...)"},
    {main_is("1 + 2.0"), "1:20: the operands of '+' must have one type, not int and float"},
    {main_is("int(2.0 % 1.0)"), "1:26: '%' is for int only"},
    {main_is("sqrt(1)"), "1:23: the argument of sqrt must be float, not int"},
    {main_is("int(1, 2)"), "1:18: int(...) takes one argument, not 2"},
    {main_is("1.5"), "1:18: the body of fn main(): int is float; convert it"},
    {main_is("if 1 then 2"), "1:29: expected 'else' after the branch of 'then'"},
    {main_is("if 1 then 2 else 3.0"), "1:35: the branches of 'if' must have one type"},
    {main_is("if 1.0 then 2 else 3"), "1:21: the condition of 'if' must be int, not float"},
    {main_is("!1.0"), "1:19: the operand of '!' must be int"},
    {main_is("1 && 2.0"), "1:23: the right side of '&&' must be int"},
    {main_is("1 < 2 < 3"), "1:24: comparisons do not chain; join two of them with '&&'"},
    {main_is("(1"), "1:20: expected ')' to close the bracket of 1:18: , found"},
    {main_is("1 2"), "1:20: expected an operator or the end, found '2'"},
    {main_is("let x = 1 x"), "1:28: expected ';' after the value of 'x', found 'x'"},
    {main_is("let 1 = 1; 2"), "1:22: expected a name after 'let', found '1'"},
    {main_is("let x 1"), "1:24: expected '=' after the name of a variable"},
    {main_is("(let x = 1; x) + x"), "1:35: unknown name 'x'"},
    {main_is("1 + ?"), "1:22: unexpected character '?'"},
    {main_is("\xc3\xa4"), "1:18: unexpected character \\xc3"},
    {main_is("1."), "1:20: digits must follow the point"},
    {main_is("1e"), "1:20: digits must follow the exponent's 'e'"},
    {main_is("1x"), "1:19: a number ends where a name begins"},
    {main_is("9223372036854775808"), "1:18: the number 9223372036854775808 does not fit"},
    {main_is("int(1e999)"), "1:22: the number 1e999 is beyond the range of a float"},
    {main_is("# comment\n  1 +\n  # more\n"), "4:1: expected an expression"},
    {main_is(repeated("(", 1000)), "1:143: expressions nest deeper than 250 here"},
    {main_is(repeated("-", 1000) + "1"), "1:267: expressions nest deeper than 250 here"},
    {main_is("1" + repeated(" + 1", 1000)), "1:1016: expressions nest deeper than 250 here"},
    {main_is(repeated("if 1 then 1 else ", 300) + "1"), "1:"},
    {main_is(repeated("let x = 1;", 1001) + "x"), "1:10022: more than 1000 variables"},
    {std::string(most_source_bytes + 1, ' '), "1:1: the text is longer than the 1048576 bytes"},
    {repeated("fn f(): int = 1\n", 1001), "1001:4: more than 1000 functions"},
    {std::string("fn f(): int = 1\0", 16), "1:16: unexpected character \\x00"},
  };
  for (const bad_text& c : cases) {
    INFO(c.text.substr(0, 80));
    CHECK_THAT(message(c.text), Catch::Matchers::StartsWith(c.expected));
  }
}

TEST_CASE("a text that is cut off anywhere is refused or read, never more") {
  const std::string whole = "# all of it\n"
                            "fn f(a: int, b: float): float = let x = a % 7 << 2; if x >= 1 && !a "
                            "then sqrt(b) * 1.5e3 else -float(x | 1)\n"
                            "fn main(): float = f(3, 0.25)\n";
  for (std::size_t length = 0; length <= whole.size(); ++length)
    (void)message(whole.substr(0, length));
  CHECK(message(whole) == "no error");
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const char c : {'(', ')', ';', '0', 'z', '\n', '\xff'}) {
      std::string changed = whole;
      changed[i] = c;
      (void)message(changed);
    }
}

TEST_CASE("operators bind as the README says") {
  const std::pair<const char*, std::int64_t> cases[] = {
    {"2 + 3 * 4", 14},
    {"(2 + 3) * 4", 20},
    {"20 - 5 - 3", 12},
    {"64 / 4 / 2", 8},
    {"1 << 2 + 1", 8},
    {"6 & 3 << 1", 6},
    {"1 | 2 ^ 3 & 2", 1},
    {"1 + 1 == 2", 1},
    {"4 & 6 == 4", 1},
    {"0 && 1 || 1", 1},
    {"1 || 1 && 0", 1},
    {"-2 * 3", -6},
    {"!0 + 1", 2},
    {"- - -1", -1},
    {"7 % 4 * 2", 6},
    {"1 < 2 && 2 < 3", 1},
    {"if 0 then 1 else 2 + 3", 5},
    {"(if 0 then 1 else 2) + 3", 5},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    all_tiers tested(main_is(text));
    CHECK(tested.run(0).value.v.i == expected);
    CHECK(tested.run(2).value.v.i == expected);
  }
}

TEST_CASE("a request is one expression that may call the functions of a program") {
  const program p = parse_program("fn twice(x: int): int = x + x");
  const function f = parse_expression(p, "twice(20) + 2");
  CHECK(f.result == type::integer);
  for (const auto& [text, expected] :
       {std::pair("twice(", "1:7: expected an expression"), std::pair("", "1:1: expected an expr"),
        std::pair("fn f(): int = 1", "1:1: expected an expression, found 'fn'"),
        std::pair("1 1", "1:3: expected an operator or the end"),
        std::pair("thrice(2)", "1:1: unknown function 'thrice'")})
    try {
      (void)parse_expression(p, text);
      FAIL("accepted " << text);
    } catch (const source_error& e) {
      CHECK_THAT(e.what(), Catch::Matchers::StartsWith(expected));
    }
}
