#include <basal/cluster/journal.hpp>

#include "cluster/folder.hpp"
#include "support/catch.hpp"

#include <csignal>
#include <fstream>
#include <iterator>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace basal::cluster;
using basal::test::folder;

namespace {

using records = std::vector<std::string>;

const journal_identity identity{
  .function = "square", .version = 1, .signature = 7, .items = 3, .content = {1, 2}};

std::string contents(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream{path, std::ios::binary}.write(bytes.data(),
                                              static_cast<std::streamsize>(bytes.size()));
}

records records_of(const std::filesystem::path& path, const records& more = {},
                   std::size_t* repaired = nullptr) {
  records result;
  journal j{path, identity, [&](std::string_view record) { result.emplace_back(record); }};
  for (const auto& record : more)
    j.append(record);
  j.sync();
  if (repaired != nullptr)
    *repaired = j.repaired_bytes();
  return result;
}

std::pair<errc, std::string> failure_of(const std::filesystem::path& path,
                                        const journal_identity& wanted = identity) {
  const auto before = contents(path);
  try {
    journal j{path, wanted, [](std::string_view) {}};
  } catch (const error& e) {
    CHECK(contents(path) == before);
    return {e.code(), e.what()};
  }
  return {};
}

} // namespace

TEST_CASE("a journal gives back what was synced, and its run") {
  const folder here;
  std::uint64_t run = 0;
  {
    journal j{here.file(), identity, [](std::string_view) { FAIL("a new one is empty"); }};
    run = j.run();
    j.append("one");
    j.append("");
    CHECK(j.unsynced() == 2);
    j.sync();
    CHECK(j.unsynced() == 0);
  }
  CHECK(records_of(here.file(), {"three"}) == records{"one", ""});
  CHECK(records_of(here.file()) == records{"one", "", "three"});
  const journal j{here.file(), identity, [](std::string_view) {}};
  CHECK(j.run() == run);
  CHECK(j.repaired_bytes() == 0);
}

TEST_CASE("a tail torn at any byte is cut off, and the journal goes on") {
  const folder here;
  records_of(here.file(), {});
  const auto empty = contents(here.file()).size();
  records_of(here.file(), {"first", "second"});
  const auto whole = contents(here.file());
  const auto one = empty + 16 + 5;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(here.file(), whole.substr(0, size));
    std::size_t repaired = 0;
    const auto expected = size < one ? records{} : records{"first"};
    CHECK(records_of(here.file(), {"next"}, &repaired) == expected);
    CHECK(repaired == (size < empty ? 0 : size - (size < one ? empty : one)));
    auto after = expected;
    after.emplace_back("next");
    CHECK(records_of(here.file()) == after);
  }
}

TEST_CASE("everything from a damaged record on is cut off") {
  const folder here;
  records_of(here.file(), {});
  const auto empty = contents(here.file()).size();
  records_of(here.file(), {"first", "second", "third"});
  const auto whole = contents(here.file());
  const auto one = empty + 16 + 5;
  for (std::size_t i = empty; i < whole.size(); ++i) {
    auto damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write(here.file(), damaged);
    const auto found = records_of(here.file());
    CHECK(found.size() == (i < one ? 0 : i < one + 16 + 6 ? 1 : 2));
  }
}

TEST_CASE("intact records behind a damaged one do not come back when the journal goes on") {
  const folder here;
  records_of(here.file(), {});
  const auto empty = contents(here.file()).size();
  records_of(here.file(), {"first", "second", "third"});
  auto bytes = contents(here.file());
  const auto second = empty + 16 + 5;
  bytes[second + 16] ^= 1; // groups may reach the disk out of order: "third" did, "second" did not
  write(here.file(), bytes);
  CHECK(records_of(here.file(), {"2econd"}) == records{"first"}); // just as long as what was there
  CHECK(records_of(here.file()) == records{"first", "2econd"});
}

TEST_CASE("a journal of another batch, or no journal, is refused and left as it is") {
  const folder here;
  records_of(here.file(), {"first"});
  const auto refused = [&](auto change, const char* sentence) {
    auto other = identity;
    change(other);
    const auto [code, what] = failure_of(here.file(), other);
    CHECK(code == errc::other_batch);
    CHECK_THAT(what, ContainsSubstring(sentence));
  };
  refused([](auto& x) { x.function = "cube"; }, "function square, version 1, not to cube");
  refused([](auto& x) { x.version = 2; }, "square, version 1, not to square, version 2");
  refused([](auto& x) { x.signature = 8; }, "other types");
  refused([](auto& x) { x.items = 4; }, "3 items, not to 4");
  refused([](auto& x) { x.content.high = 9; }, "other items");

  write(here.file(), "a letter to somebody");
  CHECK(failure_of(here.file()).first == errc::not_a_journal);
  write(here.file(), "B");
  CHECK(failure_of(here.file()).first == errc{});
  CHECK(failure_of("/dev/null").first == errc::not_a_journal);
  CHECK(failure_of("/nowhere/at/all").first == errc::journal_failed);
}

TEST_CASE("a damaged header is no reason to begin anew") {
  const folder here;
  records_of(here.file(), {});
  const auto empty = contents(here.file()).size();
  records_of(here.file(), {"first", std::string(200, 'x')});
  const auto whole = contents(here.file());
  for (std::size_t i = 0; i < empty; ++i) {
    auto damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    write(here.file(), damaged);
    CHECK(failure_of(here.file()).first != errc{});
  }
}

TEST_CASE("two processes do not write one journal") {
  const folder here;
  const journal first{here.file(), identity, [](std::string_view) {}};
  CHECK(failure_of(here.file()).first == errc::journal_in_use);
}

TEST_CASE("what was synced survives kill -9 at any moment") {
  const folder here;
  unsigned kept = 0;
  for (int round = 0; round < 5; ++round) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const auto child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      journal j{here.file(), identity, [](std::string_view) {}};
      for (unsigned i = kept;; ++i) {
        j.append(std::to_string(i) + std::string(i % 100, 'x'));
        if (i % 3 == 0) {
          j.sync();
          if (::write(ends[1], &i, sizeof i) != sizeof i)
            _exit(1);
        }
      }
    }
    close(ends[1]);
    unsigned synced = 0;
    for (int i = 0; i < 20 + 7 * round; ++i)
      REQUIRE(read(ends[0], &synced, sizeof synced) == sizeof synced);
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    while (read(ends[0], &synced, sizeof synced) == sizeof synced) {
    }
    close(ends[0]);
    const auto found = records_of(here.file());
    CHECK(found.size() > synced);
    for (unsigned i = 0; i < found.size(); ++i)
      CHECK(found[i] == std::to_string(i) + std::string(i % 100, 'x'));
    kept = static_cast<unsigned>(found.size());
  }
}

TEST_CASE("a full disk is an error with a sentence, and the journal goes on when there is space") {
  const folder here;
  records_of(here.file(), {"kept"});
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  {
    journal j{here.file(), identity, [](std::string_view) {}};
    auto little = before;
    little.rlim_cur = contents(here.file()).size() + 10; // a part of the next record fits
    REQUIRE(setrlimit(RLIMIT_FSIZE, &little) == 0);
    j.append("lost");
    std::string said;
    try {
      j.sync();
    } catch (const error& e) {
      CHECK(e.code() == errc::journal_failed);
      said = e.what();
    }
    CHECK_THAT(said, ContainsSubstring("cannot be written"));
    CHECK_THROWS_AS(j.sync(), error);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(records_of(here.file(), {"next"}) == records{"kept"});
  CHECK(records_of(here.file()) == records{"kept", "next"});
}
