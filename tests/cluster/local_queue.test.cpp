#include "local_queue.hpp"
#include "support/catch.hpp"

#include <thread>

using namespace basal::cluster;
using std::chrono::milliseconds;

namespace {

void post(local_queue& q, const std::string& message) {
  q.post({&message, 1});
}

void complete(local_queue& q, const std::string& token, std::optional<std::string> result) {
  const completed_work work{token, std::move(result)};
  q.complete({&work, 1});
}

} // namespace

TEST_CASE("a message that nobody completes or keeps alive is handed out again") {
  local_queue q{milliseconds{1}};
  post(q, "m");
  const auto first = q.fetch(5, {});
  REQUIRE(first.size() == 1);
  CHECK(first[0].deliveries == 1);
  const auto second = q.fetch(5, {}); // waits for the lease's end
  REQUIRE(second.size() == 1);
  CHECK(second[0].deliveries == 2);
  CHECK(second[0].message == "m");
  CHECK(q.outstanding() == 1);
  complete(q, first[0].token, "late");
  complete(q, second[0].token, "again");
  CHECK(q.outstanding() == 0);
  CHECK(q.receive(9, milliseconds{0}).size() == 2);
}

TEST_CASE("a message that is given back goes to the next one as if nobody had had it") {
  local_queue q{std::chrono::hours{1}};
  post(q, "m");
  complete(q, q.fetch(1, {})[0].token, std::nullopt);
  CHECK(q.fetch(1, {})[0].deliveries == 1);
}

TEST_CASE("whoever waits for work sees posts, ends of leases and stops") {
  local_queue q{milliseconds{20}};
  std::stop_source stop;
  std::vector<leased_work> got;
  bool stopped = false;
  std::thread waiter{[&] {
    got = q.fetch(1, {});
    stopped = q.fetch(1, stop.get_token()).empty();
  }};
  post(q, "m");
  while (q.outstanding() == 0)
    std::this_thread::yield();
  stop.request_stop();
  waiter.join();
  CHECK(got.size() == 1);
  CHECK(stopped);
}
