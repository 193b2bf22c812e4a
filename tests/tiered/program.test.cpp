// The program itself, as its users see it.

#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include "codesearch/run_program.hpp"

using Catch::Matchers::StartsWith;
using codesearch::test::lines_of;
using codesearch::test::program_result;
namespace fs = std::filesystem;

namespace {

std::string from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr)
    throw std::runtime_error(std::string("set ") + name + ", or run ctest");
  return text;
}

program_result run(std::vector<std::string> arguments, std::string_view input = {}) {
  arguments.insert(arguments.begin(), from_environment("TIERED"));
  return codesearch::test::run(std::move(arguments), input);
}

/// A file that is gone at the end.
class source_file {
public:
  source_file(const std::string& name, std::string_view text)
    : folder_(fs::temp_directory_path() / ("tiered-" + std::to_string(::getpid()) + "-" + name)) {
    fs::create_directories(folder_);
    std::ofstream(path()) << text;
  }

  source_file(const source_file&) = delete;
  source_file& operator=(const source_file&) = delete;

  ~source_file() {
    fs::remove_all(folder_);
  }

  std::string path() const {
    return folder_ / "test.tier";
  }

private:
  fs::path folder_;
};

constexpr const char* faults = "fn square(x: int): int = x * x\n"
                               "fn endless(x: int): int =\n"
                               "  1 + endless(x + 1)\n"
                               "fn busy(n: int): int = if n == 0 then 0 else busy(n - 1)\n"
                               "    + busy(n - 1)\n"
                               "fn over(x: int): int = 10 / (x\n"
                               "  - 3)\n"
                               "fn half(x: float): float = x / 2.0\n";

/// The lines without the times that follow the values.
std::vector<std::string> answers(const program_result& r) {
  std::vector<std::string> all = lines_of(r.out);
  for (std::string& line : all)
    if (const auto tab = line.find('\t'); tab != line.npos)
      line.erase(line.find(',', tab));
  return all;
}

} // namespace

TEST_CASE("whatever is wrong with a call, it says where, and the service goes on") {
  const source_file file("faults", faults);
  const std::pair<const char*, const char*> calls[] = {
    {"square(12)", "square(12) = 144\t[tree"},
    {"square(", "square(: error: 1:8: expected an expression, found the end of the text"},
    {"square(1 +)", "square(1 +): error: 1:11: expected an expression, found ')'"},
    {"cube(2)", "cube(2): error: 1:1: unknown function 'cube'"},
    {"square(y)", "square(y): error: 1:8: unknown name 'y'"},
    {"square(1, 2)", "square(1, 2): error: 1:1: wrong number of arguments: 2 for fn square(int)"},
    {"square(1.5)", "square(1.5): error: 1:8: argument 1 of fn square(int): int must be int"},
    {"square(1 / 0)", "square(1 / 0): error: 1:10: the arguments of a request are numbers"},
    {"1", "1: error: 1:1: a request is a call of a function"},
    {"\xff\x01", "\uFFFD\uFFFD: error: 1:1: unexpected character \\xff"},
    {"other:f()", "other:f(): error: there is no program named 'other'"},
    {"over(3)", "over(3): error: test:6:27: integer division by zero"},
    {"square(4000000000)", "square(4000000000): error: test:1:28: integer overflow"},
    {"endless(0)", "endless(0): error: test:3:7: recursion too deep"},
    {"busy(100)", "busy(100): error: test:"},
    {"square(9223372036854775808)", "square(9223372036854775808): error: 1:8: the number"},
    {"test:half(-5.0)", "test:half(-5.0) = -2.5\t[tree"},
    {"square(-12)", "square(-12) = 144\t["},
  };
  std::string input = "\n";
  for (const auto& [call, expected] : calls)
    input += std::string(call) + "\n";
  const program_result r = run({file.path(), "--call", "-", "--calls", "100000"}, input);
  CHECK(r.status == 1);
  CHECK(r.err.empty());
  const auto lines = answers(r);
  REQUIRE(lines.size() == std::size(calls));
  for (std::size_t i = 0; i < lines.size(); ++i)
    CHECK_THAT(lines[i], StartsWith(calls[i].second));
  CHECK_THAT(lines[14], ContainsSubstring("too many calls"));
}

TEST_CASE("values and faults stay the same while a function climbs to native code") {
  const source_file file("climb", faults);
  std::vector<std::string> arguments{file.path(), "--compile-in-handler", "--thresholds", "2", "3",
                                     "4"};
  for (int i = 0; i < 4; ++i)
    for (const char* call : {"half(3.0)", "over(3)", "endless(0)", "square(-4000000000)"})
      arguments.insert(arguments.end(), {"--call", call});
  const program_result r = run(arguments);
  CHECK(r.status == 1);
  const auto lines = answers(r);
  REQUIRE(lines.size() == 16);
  const char* const tiers[] = {"tree", "bytecode", "optimised", "native"};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(lines[4 * i] == std::string("half(3.0) = 1.5\t[") + tiers[i]);
    CHECK(lines[4 * i + 1] == lines[1]);
    CHECK(lines[4 * i + 2] == lines[2]);
    CHECK(lines[4 * i + 3] == lines[3]);
  }
}

TEST_CASE("under load every program gives its result, and the report has all its lines") {
  const std::string programs = from_environment("TIERED_PROGRAMS");
  std::vector<std::string> arguments{"--requests", "30", "--thresholds", "2",
                                     "5",          "10", "--pause",      "0"};
  for (const char* name : {"fib", "mandelbrot", "nbody", "nqueens", "spectral_norm"})
    arguments.push_back(programs + "/" + name + ".tier");
  const program_result r = run(arguments);
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  for (const char* result :
       {"result fib          6765", "result mandelbrot   109", "result nbody        -0.1690507",
        "result nqueens      40", "result spectral_norm 1.27004630", "tier fib            tree ",
        "compile bytecode", "compile native", "interactive compiling answers ",
        "interactive quiet     answers "})
    CHECK_THAT(r.out, ContainsSubstring(result));
}

TEST_CASE("a call that succeeds has status 0, and needs no other file") {
  const source_file file("good", faults);
  const program_result r = run({file.path(), "-c", "square(3)"});
  CHECK(r.status == 0);
  CHECK(answers(r) == std::vector<std::string>{"square(3) = 9\t[tree"});
}

TEST_CASE("files that are no programs are named with the place") {
  const source_file broken("broken", "fn main(): int =\n  1 +\n");
  const source_file no_main("no_main", "fn f(): int = 1\n");
  const source_file needs("needs", "fn main(x: int): int = x\n");
  CHECK(run({broken.path()}).status == 2);
  CHECK(run({broken.path()}).err
        == broken.path() + ":3:1: expected an expression, found the end of the text\n");
  CHECK_THAT(run({no_main.path()}).err, ContainsSubstring("has no function main()"));
  CHECK_THAT(run({needs.path()}).err, ContainsSubstring("has no function main()"));
  for (const char* path : {"/nonexistent.tier", "/tmp"}) {
    const program_result r = run({path});
    CHECK(r.status == 2);
    CHECK(r.err == std::string(path) + ": cannot read it; is it a file, and may you read it?\n");
  }
  // Other files have an end that is too far away.
  const program_result endless = run({"/dev/zero"});
  CHECK(endless.status == 2);
  CHECK(endless.err
        == "/dev/zero:1:1: the text is longer than the 1048576 bytes that a program may have; "
           "split it\n");
  const program_result twice = run({no_main.path(), no_main.path(), "-c", "f()"});
  CHECK(twice.status == 2);
  CHECK_THAT(twice.err, ContainsSubstring("there is a program named 'test' already"));
}

TEST_CASE("wrong usage is refused by the name of the option") {
  const source_file file("usage", faults);
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--executors", "0"},
                                                        {"--executors", "-1"},
                                                        {"--compute", "0"},
                                                        {"--requests", "0"},
                                                        {"--pause", "-1"},
                                                        {"--stack", "0"},
                                                        {"--stack", "100000"},
                                                        {"--calls", "0"}}) {
    const program_result r = run({file.path(), option, value});
    INFO(option << " " << value);
    CHECK(r.status == 2);
    CHECK_THAT(r.err, StartsWith("tiered: " + option + ": Value " + value + " not in range "));
  }
  CHECK_THAT(run({file.path(), "--thresholds", "2", "2", "3"}).err,
             ContainsSubstring("--thresholds: the first is at least 1"));
  CHECK_THAT(run({}).err, ContainsSubstring("FILE is required"));
  CHECK(run({"--help"}).status == 0);
  CHECK_THAT(run({"--help"}).out, ContainsSubstring("--compile-in-handler"));
}

TEST_CASE("a line of standard input without an end is refused before memory ends") {
  const source_file file("endless", faults);
  const program_result r
    = codesearch::test::run({"sh", "-c", "exec timeout -s KILL 30 \"$@\" </dev/zero", "sh",
                             from_environment("TIERED"), file.path(), "--call", "-"});
  CHECK(r.status == 1);
  CHECK(r.err.starts_with("tiered: standard input has a line of more than 64 KiB"));
}

TEST_CASE("answers that get nowhere are a failure") {
  const source_file file("full", faults);
  for (const char* where : {">/dev/full", ">&-"}) {
    CAPTURE(where);
    const program_result r
      = codesearch::test::run({"sh", "-c", std::string("exec \"$@\" ") + where, "sh",
                               from_environment("TIERED"), file.path(), "-c", "square(3)"});
    CHECK(r.status == 1);
    CHECK(r.err.starts_with("tiered: not all results could be written"));
  }
}
