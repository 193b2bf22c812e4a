#include "support/catch.hpp"

#include "run_program.hpp"
#include "scratch_tree.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include <pty.h>

using namespace codesearch::test;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

// codesearch at a terminal: what a person would type and see.
class at_terminal {
public:
  explicit at_terminal(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), codesearch_path());
    std::vector<char*> argv;
    for (std::string& a : arguments) {
      argv.push_back(a.data());
    }
    argv.push_back(nullptr);
    ::winsize size{40, 120, 0, 0};
    int master = -1;
    child_ = ::forkpty(&master, nullptr, nullptr, &size);
    if (child_ == 0) {
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    master_ = codesearch::descriptor(master);
    REQUIRE(child_ > 0);
  }

  ~at_terminal() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      exit_status(child_);
    }
  }

  at_terminal(const at_terminal&) = delete;
  at_terminal& operator=(const at_terminal&) = delete;

  void type(std::string_view keys) {
    REQUIRE(::write(master_.get(), keys.data(), keys.size())
            == static_cast<::ssize_t>(keys.size()));
  }

  /// Waits until `text` is on the screen, behind what was waited for before.
  bool sees(std::string_view text, std::chrono::seconds patience = 60s) {
    const auto end = clock_type::now() + patience;
    for (;;) {
      if (const auto at = screen_.find(text, seen_); at != screen_.npos) {
        seen_ = at + text.size();
        return true;
      }
      if (!read_some(end)) {
        UNSCOPED_INFO("the screen shows: " << screen_);
        return false;
      }
    }
  }

  int wait() {
    while (read_some(clock_type::now() + 60s)) {
    }
    const int status = exit_status(child_);
    child_ = -1;
    return status;
  }

  [[nodiscard]] const std::string& screen() const {
    return screen_;
  }

  /// Whether it waits for this signal by itself, as the kernel knows it: the signal is blocked. So
  /// are all of them while the process is forked, before it has its terminal.
  [[nodiscard]] bool waits_for(int signal) const {
    const std::string process = "/proc/" + std::to_string(child_);
    std::error_code gone;
    if (!std::filesystem::equivalent(process + "/exe", codesearch_path(), gone))
      return false;
    std::ifstream status(process + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("SigBlk:"))
        return ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1) != 0;
    return false;
  }

  [[nodiscard]] ::pid_t pid() const {
    return child_;
  }

private:
  bool read_some(clock_type::time_point end) {
    const auto left
      = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock_type::now());
    ::pollfd wait{master_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) {
      return false;
    }
    char buffer[4096];
    const ::ssize_t got = ::read(master_.get(), buffer, sizeof buffer);
    if (got <= 0) {
      return false; // the program has ended
    }
    screen_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  ::pid_t child_ = -1;
  codesearch::descriptor master_;
  std::string screen_;
  std::size_t seen_ = 0;
};

// Much to index that takes up 64 KB: one text under many names.
class large_tree : public scratch_tree {
public:
  large_tree() {
    std::string text;
    for (int i = 0; text.size() < 65'536; ++i) {
      text += "int word_" + std::to_string(i) + " = socket(" + std::to_string(i * i) + ");\n";
    }
    const std::string first = write("first", text);
    for (int i = 0; i < 8000; ++i) {
      std::filesystem::create_hard_link(first, path("f" + std::to_string(i)));
    }
  }
};

} // namespace

TEST_CASE("the prompt answers, says what is wrong, and ends with Ctrl-D") {
  const scratch_tree tree;
  const std::string file = tree.write("f", "alpha beta\n");
  at_terminal program({tree.path()});
  CHECK(program.sees("summary files 1"));
  CHECK(program.sees("search> "));
  program.type("beta\n");
  CHECK(program.sees("query \"beta\": 1 of 1 files"));
  CHECK(program.sees(file + ":1: alpha beta"));
  CHECK(program.sees("search> "));
  program.type("*\n");
  CHECK(program.sees("no word before it"));
  program.type("\n");
  CHECK(program.sees("the index is complete"));
  program.type("\x04");
  CHECK(program.wait() == 0);
}

TEST_CASE("quit and exit end the prompt") {
  const scratch_tree tree;
  tree.write("f", "quit\n");
  for (const char* leave : {"quit\n", " exit \n"}) {
    at_terminal t({tree.path()});
    REQUIRE(t.sees("summary files 1"));
    t.type("quit*\n"); // the word itself can be looked for
    REQUIRE(t.sees("query \"quit*\": 1 of 1 files"));
    t.type(leave);
    CHECK(t.wait() == 0);
  }
}

TEST_CASE("the prompt answers at once, from what is indexed so far") {
  const large_tree tree;
  at_terminal program({tree.path(), "--compute", "1"});
  REQUIRE(program.sees("files so far)> "));
  program.type("int\n");
  REQUIRE(program.sees("query \"int\": "));
  REQUIRE(program.sees("files indexed so far"));
  CHECK_THAT(program.screen(), !ContainsSubstring("summary files"));
  program.type("\x04");
  CHECK(program.wait() == 0);
  CHECK_THAT(program.screen(), !ContainsSubstring("summary files")); // nor waits for the rest
}

TEST_CASE("progress is shown on a terminal, and the answer after it") {
  const large_tree tree;
  at_terminal program({tree.path(), "--query", "socket", "--top", "1", "--compute", "1"});
  CHECK(program.sees("MB/s, "));
  CHECK(program.sees("query \"socket\": "));
  CHECK(program.wait() == 0);
}

TEST_CASE("Ctrl-C stops the program at any time") {
  const auto before = GENERATE(0ms, 50ms, 200ms);
  CAPTURE(before.count());
  const large_tree tree;
  at_terminal program({tree.path(), "--query", "int", "--compute", "1"});
  while (!program.waits_for(SIGINT)) // until then it is nobody's, or ends the program at once
    std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(before);
  program.type("\x03");
  CHECK(program.wait() == 130);
}

TEST_CASE("SIGTERM stops the program as Ctrl-C does") {
  const large_tree tree;
  at_terminal program({tree.path()});
  REQUIRE(program.sees("search ("));
  ::kill(program.pid(), SIGTERM);
  CHECK(program.wait() == 128 + SIGTERM);
  CHECK_THAT(program.screen(), ContainsSubstring("interrupted"));
}
