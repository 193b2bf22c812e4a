// A request's limits are the same in every tier, to the call.

#include "support/catch.hpp"

#include <stdexcept>
#include <thread>

#include "tiers.hpp"

using namespace tiered;
using namespace tiered::test;

namespace {

/// The largest argument for which `f` ends without a fault, by bisection.
std::int64_t deepest(all_tiers& f, std::size_t tier) {
  std::int64_t good = 0;
  std::int64_t bad = 1 << 20;
  while (bad - good > 1) {
    const std::int64_t middle = (good + bad) / 2;
    (f.run(tier, {of(middle)}).error ? bad : good) = middle;
  }
  return good;
}

} // namespace

TEST_CASE("recursion is too deep at the same call in every tier") {
  for (const char* text : {
         "fn main(n: int): int = if n == 0 then 0 else main(n - 1)",
         "fn main(n: int): int = if n == 0 then 0 else 1 + main(n - 1)",
         "fn main(n: int): int = if n == 0 then 0 else add(n, other(n - 1))\n"
         "fn other(n: int): int = if n == 0 then 0 else let x = add(n, n); main(add(n, -1))\n"
         "fn add(a: int, b: int): int = a + b",
       }) {
    INFO(text);
    all_tiers f(text);
    const std::int64_t expected = deepest(f, 0);
    CHECK(expected > 1000);
    const std::string fault = exactly(f.run(0, {of(expected + 1)}));
    CHECK_THAT(fault, ContainsSubstring("recursion too deep"));
    for (std::size_t tier = 1; tier < tiers; ++tier) {
      INFO(tier_name(tier));
      CHECK(deepest(f, tier) == expected);
      CHECK(exactly(f.run(tier, {of(expected + 1)})) == fault);
    }
  }
}

TEST_CASE("a small stack is too small for the first call already") {
  all_tiers f("fn main(): int = 1", "main", {.stack_bytes = 64});
  for (std::size_t tier = 0; tier < tiers; ++tier)
    CHECK_THAT(exactly(f.run(tier)), Catch::Matchers::StartsWith("1:4: recursion too deep"));
}

TEST_CASE("deep recursion in deep expressions fits the stack of a thread") {
  // 8 MiB is what Linux gives the main thread, and twice the default limit. The deepest trees take
  // most of what a byte of the limit stands for.
  std::string sum = "main(n + 1)";
  for (int i = 0; i < 240; ++i)
    sum += " + 1";
  std::string chosen = "main(n + 1)";
  std::string bound = "main(n + 1)";
  for (int i = 0; i < 80; ++i) {
    chosen = "if n == 0 - 1 then 0 else (" + chosen + ")";
    bound = "(let x" + std::to_string(i) + " = n; " + bound + ")";
  }
  for (const std::string& body : {std::string("main(n + 1)"), sum, chosen, bound}) {
    all_tiers f("fn main(n: int): int = " + body);
    for (std::size_t tier = 0; tier < tiers; ++tier) {
      const outcome o = f.run(tier, {of(std::int64_t{0})});
      REQUIRE(o.error);
      CHECK(o.error->what == fault::recursion_too_deep);
    }
  }
}

TEST_CASE("calls are counted alike in every tier, inlined ones too") {
  // 2n + 1 calls beside the request itself.
  const char* text = "fn small(x: int): int = x + 1\n"
                     "fn loop(n: int): int =\n"
                     "  if n == 0 then 0 else small(n) - small(n) + loop(n - 1)\n"
                     "fn main(n: int): int = loop(n)";
  all_tiers f(text);
  for (const std::int64_t n : {0, 1, 50, 333, 700})
    for (std::size_t tier = 0; tier < tiers; ++tier) {
      INFO(n << " in " << tier_name(tier));
      f.set({.calls = 3 * n + 1});
      CHECK(exactly(f.run(tier, {of(n)})) == "int 0 (0)");
      f.set({.calls = 3 * n});
      CHECK_THAT(exactly(f.run(tier, {of(n)})), ContainsSubstring("too many calls"));
    }
}

TEST_CASE("what does not end is ended") {
  all_tiers f("fn fib(n: int): int = if n < 2 then n else fib(n - 1) + fib(n - 2)\n"
              "fn main(): int = fib(90)",
              "main", {.calls = 200'000});
  const std::string expected = exactly(f.run(0));
  CHECK_THAT(expected, ContainsSubstring("too many calls"));
  for (std::size_t tier = 1; tier < tiers; ++tier)
    CHECK(exactly(f.run(tier)) == expected);
}

TEST_CASE("the safepoint is called regularly, and what it throws ends the request") {
  all_tiers f("fn fib(n: int): int = if n < 2 then n else fib(n - 1) + fib(n - 2)\n"
              "fn main(): int = fib(25)");
  for (std::size_t tier = 0; tier < tiers; ++tier) {
    INFO(tier_name(tier));
    int called = 0;
    CHECK(exactly(f.run(tier, {}, [&] { ++called; })) == "int 75025 (75025)");
    // 242,785 calls
    CHECK(called == 243);
    called = 0;
    CHECK_THROWS_AS(f.run(tier, {},
                          [&] {
                            if (++called == 3)
                              throw std::runtime_error("enough");
                          }),
                    std::runtime_error);
    CHECK(called == 3);
    CHECK(exactly(f.run(tier)) == "int 75025 (75025)"); // the machine is as new
  }
}

TEST_CASE("compilations at the same time are serialised and do not disturb each other") {
  const program p = parse_program("fn f(x: int): int = x + 1\n"
                                  "fn g(x: int): int = f(x) * 2\n");
  std::vector<std::int64_t> results(2);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      machine m;
      const auto c = compile(p, i, 3);
      const value three = of(std::int64_t{3});
      results[i] = run(p.functions[i], *c, m, {&three, 1}).value.v.i;
    });
  for (std::thread& t : threads)
    t.join();
  CHECK(results == std::vector<std::int64_t>{4, 8});
}

TEST_CASE("a function that is too long for the bytecode leaves the other tiers as they are") {
  // A jump over more than 65,535 instructions.
  std::string sum = "n";
  for (int i = 0; i < 240; ++i)
    sum += " + n";
  std::string text = "fn main(n: int): int = if n == 0 then 0 else\n";
  for (int i = 0; i < 300; ++i)
    text += "let x" + std::to_string(i) + " = " + sum + ";\n";
  all_tiers f(text + "x0 + x299");
  CHECK(exactly(f.run(0, {of(std::int64_t{2})})) == "int 964 (964)");
  CHECK_THROWS_WITH(f.run(1, {of(std::int64_t{2})}),
                    ContainsSubstring("'main' needs more than 65535 instructions"));
}
