// Random programs compute the same in all tiers: value or fault, its place, and every bit.

#include "support/catch.hpp"

#include <cstdlib>
#include <random>

#include "tiers.hpp"

using namespace tiered;
using namespace tiered::test;

namespace {

/// Writes programs in which everything of the language occurs, and faults now and then.
class writer {
public:
  explicit writer(std::uint64_t seed) : random_(seed) {
  }

  std::string program() {
    functions_.clear();
    const int count = 2 + below(4);
    for (int i = 0; i < count; ++i) {
      // The first parameter says how deep the recursion may still go, in most programs.
      signature s{"f" + std::to_string(i), {type::integer}, any_type()};
      for (int k = below(3); k > 0; --k)
        s.parameters.push_back(any_type());
      functions_.push_back(s);
    }
    functions_[0].name = "main";
    functions_[0].parameters = {type::integer, type::integer, type::real};
    std::string text;
    for (const signature& s : functions_)
      text += definition(s);
    return text;
  }

private:
  struct signature {
    std::string name;
    std::vector<type> parameters;
    type result;
  };

  int below(int n) {
    return static_cast<int>(random_() % static_cast<std::uint64_t>(n));
  }

  bool one_in(int n) {
    return below(n) == 0;
  }

  type any_type() {
    return one_in(2) ? type::integer : type::real;
  }

  std::string definition(const signature& s) {
    scope_.clear();
    std::string text = "fn " + s.name + "(";
    for (std::size_t i = 0; i < s.parameters.size(); ++i) {
      scope_.push_back({i == 0 ? "depth" : "p" + std::to_string(i), s.parameters[i]});
      text += (i == 0 ? "" : ", ") + scope_.back().first + ": " + name_of(s.parameters[i]);
    }
    text += std::string("): ") + name_of(s.result) + " =\n  ";
    // Without the test at the start the recursion ends at a limit.
    if (!one_in(12))
      text += "if depth <= 0 then " + leaf(s.result) + " else\n  ";
    return text + expression(s.result, 5) + "\n\n";
  }

  std::string leaf(type t) {
    std::vector<std::string> names;
    for (const auto& [name, of] : scope_)
      if (of == t)
        names.push_back(name);
    if (!names.empty() && !one_in(3))
      return names[static_cast<std::size_t>(below(static_cast<int>(names.size())))];
    static const char* const integers[]
      = {"0",  "1",  "2",  "3",   "7",          "10",         "63",
         "64", "-1", "-2", "255", "4294967296", "3037000500", "9223372036854775807"};
    static const char* const reals[] = {"0.0", "1.0",   "-1.0",   "0.5",    "0.1",  "3.0",
                                        "1e9", "1e300", "5e-324", "2.5e-7", "-0.0", "1e19"};
    return t == type::integer ? integers[below(14)] : reals[below(12)];
  }

  std::string call(int room) {
    const signature& s
      = functions_[static_cast<std::size_t>(below(static_cast<int>(functions_.size())))];
    std::string text = s.name + "(depth - 1";
    for (std::size_t i = 1; i < s.parameters.size(); ++i)
      text += ", " + expression(s.parameters[i], room - 2);
    text += ")";
    return text;
  }

  std::string converted(type t, type from, const std::string& text) {
    return t == from ? text : std::string(name_of(t)) + "(" + text + ")";
  }

  std::string expression(type t, int room) {
    if (room <= 0)
      return leaf(t);
    switch (below(10)) {
    case 0:
      return leaf(t);
    case 1: {
      return "(if " + expression(type::integer, room - 1) + " then " + expression(t, room - 1)
             + " else " + expression(t, room - 1) + ")";
    }
    case 2: {
      const type of = any_type();
      const std::string name = "v" + std::to_string(scope_.size());
      std::string text = "(let " + name + " = " + expression(of, room - 1) + "; ";
      scope_.push_back({name, of});
      text += expression(t, room - 1) + ")";
      scope_.pop_back();
      return text;
    }
    case 3: {
      for (int tries = 0; tries < 5; ++tries) {
        const std::size_t before = functions_.size();
        std::string text = call(room);
        const std::string callee = text.substr(0, text.find('('));
        for (std::size_t i = 0; i < before; ++i)
          if (functions_[i].name == callee && functions_[i].result == t)
            return text;
      }
      return leaf(t);
    }
    case 4: {
      const type other = t == type::integer ? type::real : type::integer;
      return converted(t, other, expression(other, room - 1));
    }
    case 5:
      if (t == type::real)
        return one_in(2) ? "sqrt(" + expression(t, room - 1) + ")"
                         : "(-" + expression(t, room - 1) + ")";
      return (one_in(2) ? "(-" : "(!") + expression(t, room - 1) + ")";
    case 6:
      if (t == type::integer) {
        static const char* const compared[] = {"<", "<=", ">", ">=", "==", "!="};
        const type of = any_type();
        return "(" + expression(of, room - 1) + " " + compared[below(6)] + " "
               + expression(of, room - 1) + ")";
      }
      [[fallthrough]];
    default: {
      // Sums more often than what soon overflows.
      static const char* const integers[]
        = {"+", "-", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&&", "||"};
      static const char* const reals[] = {"+", "-", "*", "/"};
      return "(" + expression(t, room - 1) + " "
             + (t == type::integer ? integers[below(14)] : reals[below(4)]) + " "
             + expression(t, room - 1) + ")";
    }
    }
  }

  std::mt19937_64 random_;
  std::vector<signature> functions_;
  std::vector<std::pair<std::string, type>> scope_;
};

/// The value of an environment variable, or `otherwise`.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct tally {
  int values = 0;
  int faults = 0;
};

/// Runs one program with some arguments in the tiers below `end` and compares each with tier 0.
void compare(std::uint64_t seed, std::size_t end, tally& seen) {
  const std::string text = writer(seed).program();
  INFO("seed " << seed << "\n" << text);
  // Small limits, so that they matter, and different ones for the last arguments.
  all_tiers f(text, "main", {.stack_bytes = 60'000, .calls = 3000});
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < 12; ++i) {
    if (i == 10)
      f.set({.stack_bytes = 4000, .calls = 3000});
    const double reals[] = {0.0, 1.5, -3.25, 1e10, -0.0};
    const std::vector<value> arguments{of(i % 6), of(static_cast<std::int64_t>(random() % 50) - 10),
                                       of(reals[i % 5])};
    const outcome expected = f.run(0, arguments);
    ++(expected.error ? seen.faults : seen.values);
    for (std::size_t tier = 1; tier < end; ++tier) {
      INFO(tier_name(tier) << ", arguments " << arguments[0].i << ", " << arguments[1].i << ", "
                           << arguments[2].d);
      REQUIRE(exactly(f.run(tier, arguments)) == exactly(expected));
    }
  }
}

} // namespace

// BASAL_TIERED_SEED and BASAL_TIERED_RANDOM (how many programs are compiled to native code) make it
// another, or a longer, test. Bytecode takes microseconds to make, native code 0.1 s.

TEST_CASE("random programs compute the same as bytecode and optimised") {
  const std::uint64_t seed = number_from("BASAL_TIERED_SEED", 1);
  const std::uint64_t programs = 50 * number_from("BASAL_TIERED_RANDOM", 30);
  tally seen;
  for (std::uint64_t i = 0; i < programs; ++i)
    compare(seed * 1'000'000 + i, 3, seen);
  // Both outcomes must be frequent for the comparison to mean something.
  CHECK(seen.values > 4 * static_cast<int>(programs));
  CHECK(seen.faults > static_cast<int>(programs));
}

TEST_CASE("random programs compute the same as native code") {
  const std::uint64_t seed = number_from("BASAL_TIERED_SEED", 1);
  const std::uint64_t programs = number_from("BASAL_TIERED_RANDOM", 30);
  tally seen;
  for (std::uint64_t i = 0; i < programs; ++i)
    compare(seed * 1'000'000 + 500'000 + i, tiers, seen);
  CHECK(seen.values > 4 * static_cast<int>(programs));
}
