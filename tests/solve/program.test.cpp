#include <basal/solver/matrix_market.hpp>

#include "support/catch.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include <sys/wait.h>

namespace fs = std::filesystem;

namespace {

struct run_result {
  int status;
  std::string text; ///< both streams
};

/// A folder for the files of one test case.
struct folder {
  fs::path path;

  folder() {
    auto name = (fs::temp_directory_path() / "basal-solve-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error{"cannot make " + name};
    path = name;
  }
  ~folder() {
    fs::remove_all(path);
  }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{path / name} << text;
    return (path / name).string();
  }
};

run_result solve(const std::string& arguments) {
  const char* program = std::getenv("SOLVE");
  if (program == nullptr)
    throw std::runtime_error{"set SOLVE to the path of the solve program, or run ctest"};
  auto* pipe = ::popen(("(" + std::string{program} + " " + arguments + ") 2>&1").c_str(), "r");
  run_result result{0, {}};
  std::array<char, 4096> part{};
  while (auto n = std::fread(part.data(), 1, part.size(), pipe))
    result.text.append(part.data(), n);
  result.status = WEXITSTATUS(::pclose(pipe));
  return result;
}

/// The five-point Laplacian on a square of `side` points.
std::string poisson(int side) {
  std::ostringstream entries;
  int count = 0;
  auto add = [&](int i, int j, int v) {
    entries << i + 1 << ' ' << j + 1 << ' ' << v << '\n';
    ++count;
  };
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      auto i = y * side + x;
      add(i, i, 4);
      if (x > 0)
        add(i, i - 1, -1);
      if (y > 0)
        add(i, i - side, -1);
    }
  auto n = std::to_string(side * side);
  return "%%MatrixMarket matrix coordinate real symmetric\n" + n + " " + n + " "
         + std::to_string(count) + "\n" + entries.str();
}

} // namespace

TEST_CASE("a Poisson problem is solved, with the method and the reason") {
  folder files;
  auto a = files.write("poisson.mtx", poisson(30));
  auto ran = solve(a);
  INFO(ran.text);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.text, ContainsSubstring("900 unknowns, 4380 entries"));
  CHECK_THAT(ran.text, ContainsSubstring("conjugate_gradient"));
  CHECK_THAT(ran.text, ContainsSubstring("converged"));
}

TEST_CASE("a right-hand side can come from a file") {
  folder files;
  auto a = files.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n"
                                "1 1 4\n1 2 1\n2 1 1\n2 2 3\n");
  auto b = files.write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n6\n7\n");
  auto ran = solve(a + " " + b + " --tol 1e-10 --method bicgstab");
  INFO(ran.text);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.text, ContainsSubstring("bicgstab"));
  auto short_b = files.write("short.mtx", "%%MatrixMarket matrix array real general\n1 1\n6\n");
  ran = solve(a + " " + short_b);
  CHECK(ran.status == 2);
  CHECK_THAT(ran.text, ContainsSubstring("solve: "));
}

TEST_CASE("many right-hand sides give the same table with 1 and 2 executors, and in parts") {
  folder files;
  auto a = files.write("a.mtx", poisson(12));
  auto without_times = [](const std::string& text) {
    std::istringstream lines{text};
    std::string line, kept;
    while (std::getline(lines, line)) // rhs, method, iterations and residual
      if (line.ends_with("converged") && line.find("e-") != std::string::npos)
        kept += line.substr(0, line.find("e-") + 4) + "\n";
    return kept;
  };
  auto one = solve(a + " --rhs 15 --executors 1");
  auto two = solve(a + " --rhs 15 --executors 2");
  auto parts = solve(a + " --rhs 15 --executors 2 --batch 4");
  INFO(one.text);
  CHECK(one.status == 0);
  CHECK_THAT(one.text, ContainsSubstring("15 converged"));
  CHECK(std::count(one.text.begin(), one.text.end(), '\n') >= 18);
  CHECK_FALSE(without_times(one.text).empty());
  CHECK(without_times(one.text) == without_times(two.text));
  CHECK(without_times(one.text) == without_times(parts.text));
}

TEST_CASE("a solve that does not converge is told by state and status") {
  folder files;
  auto ran = solve(files.write("a.mtx", poisson(30)) + " --limit 2 --method conjugate_gradient");
  INFO(ran.text);
  CHECK(ran.status == 1);
  CHECK_THAT(ran.text, ContainsSubstring("budget_exhausted (iterations)"));
}

TEST_CASE("the residual's history is drawn") {
  folder files;
  auto a = files.write("a.mtx", poisson(20));
  auto image = (files.path / "plot.svg").string();
  auto ran = solve(a + " --plot " + image);
  CHECK(ran.status == 0);
  std::stringstream text;
  text << std::ifstream{image}.rdbuf();
  CHECK_THAT(text.str(), ContainsSubstring("<polyline"));
  CHECK_THAT(text.str(), ContainsSubstring("400 unknowns"));
  CHECK(std::distance(fs::directory_iterator{files.path}, {}) == 2); // nothing of the way there
}

TEST_CASE("x is written as a Matrix Market array, a column for each right-hand side") {
  folder files;
  auto a = files.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n"
                                "1 1 4\n1 2 1\n2 1 1\n2 2 3\n");
  auto b = files.write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n6\n7\n");
  auto x = (files.path / "x.mtx").string();
  files.write("x.mtx", "what was there before");
  auto ran = solve(a + " " + b + " --tol 1e-12 --output " + x);
  INFO(ran.text);
  CHECK(ran.status == 0);
  auto solution = basal::solver::read_matrix_market_vector<double>(x);
  REQUIRE(solution.size() == 2);
  CHECK(solution[0] == Approx(1));
  CHECK(solution[1] == Approx(2));
  CHECK(std::distance(fs::directory_iterator{files.path}, {}) == 3);

  // As b of the next system; and of several right-hand sides, in parts.
  CHECK(solve(a + " " + x).status == 0);
  CHECK(solve(a + " --rhs 5 --batch 2 --output " + x).status == 0);
  std::ifstream many{x};
  std::string line;
  std::vector<std::string> lines;
  while (std::getline(many, line))
    lines.push_back(line);
  REQUIRE(lines.size() == 3 + 10);
  CHECK(lines[2] == "2 5");

  ran = solve(a + " --output /dev/stdout");
  CHECK_THAT(ran.text, ContainsSubstring("%%MatrixMarket matrix array real general"));
}

TEST_CASE("what cannot be written is told before anything is solved, and leaves nothing") {
  folder files;
  auto a = files.write("a.mtx", poisson(3));
  auto nowhere = (files.path / "missing" / "file").string();
  for (const auto* option : {"--plot", "--output"}) {
    CAPTURE(option);
    auto ran = solve(a + " " + option + " " + nowhere);
    CHECK(ran.status == 2);
    CHECK_THAT(ran.text, ContainsSubstring("cannot write the ")
                           && ContainsSubstring("No such file or directory"));
    CHECK_THAT(ran.text, !ContainsSubstring("unknowns"));
  }
  CHECK(solve(a + " --output /dev/full").status == 2);
  auto x = (files.path / "x.mtx").string();
  CHECK(solve(files.write("bad.mtx", "nothing") + " --output " + x).status == 2);
  CHECK(std::distance(fs::directory_iterator{files.path}, {}) == 2);
}

TEST_CASE("wrong input is told with its place, and wrong usage with what is possible") {
  folder files;
  auto bad = files.write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n"
                                    "1 1 4\n2 x 3\n");
  auto ran = solve(bad);
  CHECK(ran.status == 2);
  CHECK_THAT(ran.text, ContainsSubstring("bad.mtx:4"));
  ran = solve((files.path / "none.mtx").string());
  CHECK(ran.status == 2);
  auto a = files.write("a.mtx", poisson(3));
  for (const auto* wrong :
       {"--executors 0", "--rhs 0", "--rhs -1", "--rhs 1000000000", "--batch 0", "--executors -1",
        "--method guess", "--tol -1", "--tol x", "--method random_walk", "--unknown"}) {
    CAPTURE(wrong);
    ran = solve(a + " " + wrong);
    CHECK(ran.status == 2);
    CHECK_THAT(ran.text, ContainsSubstring("solve: "));
  }
  ran = solve(a + " --rhs -1");
  CHECK_THAT(ran.text, ContainsSubstring("--rhs: Value -1 not in range "));
  ran = solve(files.path.string());
  CHECK(ran.status == 2);
  CHECK_THAT(ran.text, ContainsSubstring(files.path.string() + ": is a folder"));
  ran = solve(a + " $(printf '\\033[31m')");
  CHECK(ran.status == 2);
  CHECK_FALSE(ran.text.find('\x1B') != std::string::npos);
  CHECK(solve("--help").status == 0);
}

TEST_CASE("a table that gets nowhere is a failure") {
  folder files;
  auto a = files.write("a.mtx", poisson(3));
  for (const auto* where : {" >/dev/full", " >&-"}) {
    CAPTURE(where);
    auto ran = solve(a + where);
    CHECK(ran.status == 2);
    CHECK_THAT(ran.text, ContainsSubstring("not all results could be written"));
  }
  CHECK(solve("--help >/dev/full").status == 2);
}

TEST_CASE("--observe says where a browser looks, and solves all the same where it may not listen") {
  if (solve("--help").text.find("--observe") == std::string::npos)
    return; // a build without an observer
  const folder files;
  const auto matrix = files.write("a.mtx", poisson(20));
  const auto shown = solve(matrix + " --rhs 3 --observe=127.0.0.1:0");
  CHECK(shown.status == 0);
  CHECK_THAT(shown.text, ContainsSubstring("observer at http://127.0.0.1:"));
  CHECK_THAT(shown.text, ContainsSubstring("converged"));
  const auto refused = solve(matrix + " --observe=192.0.2.1:7420");
  CHECK(refused.status == 0);
  CHECK_THAT(refused.text, ContainsSubstring("not on the loopback interface"));
}
