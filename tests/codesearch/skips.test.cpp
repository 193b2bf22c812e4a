#include "support/catch.hpp"

#include <cerrno>
#include <string>

#include "codesearch/skips.hpp"

using namespace codesearch;

TEST_CASE("all skips are counted, the first of each reason are named") {
  skip_log log;
  for (std::size_t i = 0; i < 3 * skip_log::listed_per_reason; ++i) {
    log.add(skip_reason::binary, "b" + std::to_string(i));
  }
  log.add(skip_reason::vanished, "v");
  skip_log all;
  all.append(log);
  all.append(log);
  CHECK(all.count(skip_reason::binary) == 6 * skip_log::listed_per_reason);
  CHECK(all.count(skip_reason::vanished) == 2);
  CHECK(all.items().size() == skip_log::listed_per_reason + 2);
  CHECK(all.items().front().path == "b0");
}

TEST_CASE("links that are not followed are no loss") {
  skip_log log;
  log.add(skip_reason::symlink, "");
  CHECK(log.losses() == 0);
  CHECK(log.count(skip_reason::symlink) == 1);
  log.add(skip_reason::grew, "g");
  CHECK(log.losses() == 1);
}

TEST_CASE("errors of the system become reasons, unknown ones keep the system's words") {
  skip_log log;
  log.add_error(EACCES, "a");
  log.add_error(ENOENT, "b");
  log.add_error(ENAMETOOLONG, "c");
  log.add_error(EIO, "d");
  CHECK(log.count(skip_reason::not_permitted) == 1);
  CHECK(log.count(skip_reason::vanished) == 1);
  CHECK(log.count(skip_reason::name_too_long) == 1);
  REQUIRE(log.items().size() == 4);
  CHECK(log.items().back().reason == skip_reason::read_error);
  CHECK_FALSE(log.items().back().detail.empty());
}
