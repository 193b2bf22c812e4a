// Every operation at its edges, in all tiers, beside what the README says of it.

#include "support/catch.hpp"

#include "tiers.hpp"

using namespace tiered;
using namespace tiered::test;

namespace {

struct example {
  const char* expression;
  const char* expected; ///< as to_string() tells it; of a fault, the beginning of what it says
};

constexpr const char* overflow = "integer overflow";
constexpr const char* by_zero = "integer division by zero";

const std::vector<example> integers = {
  {"9223372036854775806 + 1", "9223372036854775807"},
  {"one() * 9223372036854775807 + one()", overflow},
  {"smallest() - one()", overflow},
  {"smallest() + one()", "-9223372036854775807"},
  {"smallest() * -one()", overflow},
  {"3037000500 * (3037000499 + one())", overflow},
  {"3037000499 * (3037000498 + one())", "9223372030926249001"},
  {"-smallest()", overflow},
  {"- -one()", "1"},
  {"7 / 2", "3"},
  {"-7 / (one() + 1)", "-3"},
  {"7 / -(one() + 1)", "-3"},
  {"1 / (one() - 1)", by_zero},
  {"1 / 0", by_zero},
  {"smallest() / -one()", overflow},
  {"-5 / -one()", "5"},
  {"7 % (one() + 2)", "1"},
  {"-7 % (one() + 2)", "-1"},
  {"7 % (one() - 1)", by_zero},
  {"smallest() % -one()", "0"},
  {"12 & 10 + 0 * one()", "8"},
  {"12 | 10 ^ one()", "15"},
  {"-1 ^ one()", "-2"},
  {"one() << 63", "-9223372036854775808"},
  {"one() << (63 + one())", "shift by a count"},
  {"one() << -one()", "shift by a count"},
  {"one() >> 64", "shift by a count"},
  {"smallest() >> 63", "-1"},
  {"-9 >> one()", "-5"},
  {"(1 < 2) + (2 <= 2) + (3 > 2) + (2 >= 2) + (1 == 1) + (1 != 2)", "6"},
  {"(one() < one()) + (2 <= one()) + (one() > 2) + (one() >= 2) + (one() == 2) + (1 != one())",
   "0"},
  {"(1.0 < 2.0) + (2.0 <= 2.0) + (3.0 > 2.0) + (2.0 >= 2.0) + (1.0 == 1.0) + (1.0 != 2.0)", "6"},
  {"(nan() < nan()) + (nan() <= nan()) + (nan() > nan()) + (nan() >= nan()) + (nan() == nan())",
   "0"},
  {"(nan() != nan()) + (nan() != 1.0)", "2"},
  {"if nan() < 1.0 then 1 else 2", "2"},
  {"if nan() >= 1.0 then 1 else 2", "2"},
  {"if !(nan() >= 1.0) then 1 else 2", "1"},
  {"-0.0 == 0.0", "1"},
  {"2 && 3", "1"},
  {"(one() - 1) && 1 / 0", "0"},
  {"one() && 1 / 0", by_zero},
  {"one() || 1 / 0", "1"},
  {"(one() - 1) || 5", "1"},
  {"!5 + !0", "1"},
  {"int(1e18)", "1000000000000000000"},
  {"int(-1.9) + int(1.9)", "0"},
  {"int(9223372036854774784.0)", "9223372036854774784"},
  {"int(9223372036854775808.0)", "int() of a number"},
  {"int(-9223372036854775808.0)", "-9223372036854775808"},
  {"int(-9223372036854777856.0)", "int() of a number"},
  {"int(nan())", "int() of a number"},
  {"int(1.0 / zero())", "int() of a number"},
  {"let x = 1; let x = x + 1; let y = (let x = 10; x); x + y", "12"},
  {"if one() then 1 else 1 / 0", "1"},
  {"(let x = one(); x * 2) + (let y = 3; y)", "5"},
};

const std::vector<example> reals = {
  {"0.1 + 0.2", "0.30000000000000004"},
  {"one_d() / 3.0", "0.3333333333333333"},
  {"1.0 / zero()", "inf"},
  {"-1.0 / zero()", "-inf"},
  {"1.0 / -zero()", "-inf"},
  {"zero() / zero()", "nan"},
  {"-(zero() / zero())", "nan"},
  {"-zero()", "-0.0"},
  {"-zero() + 0.0", "0.0"},
  {"zero() - zero()", "0.0"},
  {"-zero() * one_d()", "-0.0"},
  {"sqrt(2.0 * one_d())", "1.4142135623730951"},
  {"sqrt(-one_d())", "nan"},
  {"sqrt(-zero())", "-0.0"},
  {"1e308 * (one_d() * 10.0)", "inf"},
  {"5e-324 / (one_d() + one_d())", "0.0"},
  {"5e-324 * one_d()", "5e-324"},
  {"float(9007199254740992 + one())", "9007199254740992.0"},
  {"float(9223372036854775807)", "9223372036854775808.0"},
  // With a fused multiply-add this would be 5.55e-17.
  {"one_d() * -0.01 + 0.1 * 0.1 * one_d()", "1.734723475976807e-18"},
  {"0.1 * 10.0 * one_d() - 1.0", "0.0"},
  {"(one_d() + 1e16) - 1e16", "0.0"},
  {"one_d() + (1e16 - 1e16)", "1.0"},
  {"if one() == 1 then 2.5 else 3.5", "2.5"},
};

std::string source(const std::vector<example>& examples, type t) {
  const std::string result = name_of(t);
  // Functions, so that no tier knows the operands before it runs, unless it inlines them.
  std::string text = "fn one(): int = 1\n"
                     "fn smallest(): int = -9223372036854775807 - one()\n"
                     "fn one_d(): float = 1.0\n"
                     "fn zero(): float = 0.0\n"
                     "fn nan(): float = zero() / zero()\n";
  std::string main = "fn main(k: int): " + result + " = ";
  for (std::size_t i = 0; i < examples.size(); ++i) {
    text += "fn e" + std::to_string(i) + "(): " + result + " = " + examples[i].expression + "\n";
    main += "if k == " + std::to_string(i) + " then e" + std::to_string(i) + "() else ";
  }
  return text + main + (t == type::integer ? "0" : "0.0");
}

void check_all(const std::vector<example>& examples, type t) {
  all_tiers tested(source(examples, t));
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const outcome expected = tested.run(0, {of(static_cast<std::int64_t>(i))});
    INFO(examples[i].expression);
    const std::string said
      = expected.error ? describe(expected.error->what) : to_string(expected.value);
    if (expected.error)
      CHECK_THAT(said, ContainsSubstring(examples[i].expected));
    else
      CHECK(said == examples[i].expected);
    for (std::size_t tier = 1; tier < tiers; ++tier) {
      INFO(tier_name(tier));
      CHECK(exactly(tested.run(tier, {of(static_cast<std::int64_t>(i))})) == exactly(expected));
    }
  }
}

} // namespace

TEST_CASE("integer results are those of the README in every tier") {
  check_all(integers, type::integer);
}

TEST_CASE("float results are those of the README in every tier, bit for bit") {
  check_all(reals, type::real);
}

TEST_CASE("the first fault from left to right is the one that is told") {
  const char* text = "fn fault(n: int): int = 1 / n\n"
                     "fn both(a: int, b: int): int = a + b\n"
                     "fn main(k: int): int =\n"
                     "  if k == 0 then fault(0) + 9223372036854775807 * 2\n"
                     "  else if k == 1 then 9223372036854775807 * (k + 1) + fault(0)\n"
                     "  else both(fault(k - 2),\n"
                     "    1 << 64)";
  all_tiers tested(text);
  const std::pair<std::int64_t, position> cases[]
    = {{0, {1, 27}}, {1, {5, 43}}, {2, {1, 27}}, {3, {7, 7}}};
  for (const auto& [k, where] : cases)
    for (std::size_t tier = 0; tier < tiers; ++tier) {
      const outcome o = tested.run(tier, {of(k)});
      INFO(k << " in " << tier_name(tier) << ": " << to_string(o));
      REQUIRE(o.error);
      CHECK(o.error->where == where);
    }
}
