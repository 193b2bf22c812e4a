#include "worker.hpp"
#include "local_queue.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <future>
#include <thread>

namespace posse = basal::posse;
using namespace basal::cluster;
using detail::control_kind;
using detail::item_message;
using detail::outcome_kind;
using detail::result_message;
using std::chrono::milliseconds;

namespace {

std::atomic<bool> gate{false};
std::atomic<int> begun{0};

int wait_at_gate(posse::member& m, int x) {
  begun.fetch_add(1);
  while (!gate.load())
    m.poll();
  return x + 1;
}
constexpr posse::pure<wait_at_gate> pure_wait{"wait"};

int fail(posse::member&, int) {
  throw 7;
}
constexpr posse::pure<fail> pure_fail{"fail"};

int entry(posse::member&, const std::vector<int>& table, int i) {
  return table.at(static_cast<std::size_t>(i));
}
constexpr posse::pure<entry> pure_entry{"entry"};

/// Counts how often a message was kept alive, and believes in leases of its own.
class counting_source final : public work_source {
public:
  counting_source(work_source& behind, milliseconds lease) : behind_(behind), lease_(lease) {
  }

  std::vector<leased_work> fetch(std::size_t most, std::stop_token stop) override {
    auto result = behind_.fetch(most, stop);
    fetched += result.size();
    return result;
  }

  void keep_alive(const std::string& token) override {
    behind_.keep_alive(token);
    const std::lock_guard guard{mutex_};
    ++kept_[token];
  }

  void complete(std::span<const completed_work> work) override {
    while (is_slow)
      std::this_thread::sleep_for(milliseconds{1});
    behind_.complete(work);
    completed += work.size();
  }

  std::string shared(const detail::shared_input& what) override {
    ++asked;
    return behind_.shared(what);
  }

  milliseconds lease() const override {
    return lease_;
  }

  int kept(const std::string& token) {
    const std::lock_guard guard{mutex_};
    return kept_[token];
  }

  std::atomic<bool> is_slow{false}; ///< no complete() returns while it is
  std::atomic<std::size_t> fetched{0};
  std::atomic<std::size_t> completed{0};
  std::atomic<int> asked{0}; ///< for what items share

private:
  work_source& behind_;
  const milliseconds lease_;
  std::mutex mutex_;
  std::map<std::string, int> kept_;
};

/// A worker with one executor, served from a queue whose leases do not end.
class scene {
public:
  explicit scene(milliseconds lease = std::chrono::hours{1}) : source{queue, lease} {
    gate = false;
    begun = 0;
    functions_.add(pure_wait).add(pure_fail).add(pure_entry);
    queue.add_worker([this](const detail::control_message& told) { return worker_.obey(told); });
    thread_ = std::thread{[this] { report = worker_.run(source, stop.get_token()); }};
  }
  ~scene() {
    end();
  }
  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  void end() {
    gate = true;
    stop.request_stop();
    if (thread_.joinable())
      thread_.join();
  }

  void join() {
    thread_.join();
  }

  void post(int x, const posse::pure<wait_at_gate>& = pure_wait, std::uint32_t tries = 5) {
    send({.batch = {1, 1},
          .function = functions_.functions()[0].key,
          .tries_left = tries,
          .deadline_ms = 0,
          .memory_limit = 0,
          .items = {{static_cast<std::uint64_t>(x), encode(x)}}});
  }

  void send(const item_message& m) {
    const auto bytes = detail::sealed(m);
    queue.post({&bytes, 1});
  }

  result_message result() {
    for (;;)
      if (auto got = queue.receive(1, milliseconds{100}); !got.empty())
        return detail::unsealed<result_message>(got[0].message);
  }

  const detail::function_key& key(std::size_t i) const {
    return functions_.functions()[i].key;
  }

  local_queue queue{std::chrono::hours{1}};
  counting_source source;
  std::stop_source stop;
  worker_report report;

private:
  registry functions_;
  posse::runtime runtime_{{.compute_executors = 1}};
  worker worker_{"w", functions_, runtime_};
  std::thread thread_;
};

template <class Condition>
void await(Condition&& holds) {
  while (!holds())
    std::this_thread::sleep_for(milliseconds{1});
}

} // namespace

TEST_CASE("a worker answers with what the function returns, or says why there is nothing") {
  scene s;
  gate = true;
  s.post(4);
  const auto good = s.result();
  CHECK(good.worker == "w");
  CHECK(good.deliveries == 1);
  REQUIRE(good.outcomes.size() == 1);
  CHECK(good.outcomes[0].item == 4);
  CHECK(decode<int>(good.outcomes[0].bytes) == 5);
  s.send({.batch = {1, 1}, .function = s.key(1), .tries_left = 5, .items = {{0, encode(1)}}});
  CHECK(s.result().outcomes[0].kind == outcome_kind::failed);
  s.send({.batch = {1, 1}, .function = s.key(0), .tries_left = 5, .items = {{0, "xyz"}}});
  const auto bad = s.result().outcomes[0];
  CHECK(bad.kind == outcome_kind::failed);
  CHECK_THAT(bad.bytes, ContainsSubstring("end of the message"));
  const std::string noise = "noise";
  s.queue.post({&noise, 1});
  await([&] { return s.queue.outstanding() == 0; });
}

TEST_CASE("what a worker has in hand is kept alive while it runs or waits") {
  scene s{milliseconds{3}};
  gate = true;
  s.post(0);
  await([&] { return s.source.completed == 1; });
  std::this_thread::sleep_for(milliseconds{20}); // the keeper sleeps by now, or else soon
  gate = false;
  s.post(1);
  s.post(2);
  await([&] { return s.source.kept("2") > 3 && s.source.kept("3") > 3; });
  CHECK(begun <= 2);
}

TEST_CASE("a worker that stops finishes what runs and gives back the rest") {
  scene s;
  s.post(1);
  s.post(2);
  s.post(3);
  await([&] { return begun == 1 && s.source.fetched == 2; });
  s.stop.request_stop();
  await([&] { return s.source.completed == 1; });
  gate = true;
  s.join();
  CHECK(s.report.items == 1);
  CHECK(s.queue.outstanding() == 2);
  CHECK(s.result().outcomes[0].item == 1);
  // Nobody has tried those that were given back.
  CHECK(s.queue.fetch(1, {}).at(0).deliveries == 1);
}

TEST_CASE("a worker holds two messages an executor at most") {
  scene s;
  for (int i = 0; i < 10; ++i)
    s.post(i);
  await([&] { return begun == 1 && s.source.fetched == 2; });
  CHECK(s.queue.fetch(10, {}).size() == 8);
}

TEST_CASE("results on their way to the engine hold nobody up, up to four messages an executor") {
  scene s;
  s.source.is_slow = true;
  gate = true;
  for (int i = 0; i < 10; ++i)
    s.post(i);
  await([&] { return begun == 4; });
  CHECK(s.queue.fetch(10, {}).size() == 6);
  CHECK(s.source.completed == 0);
  s.source.is_slow = false;
}

TEST_CASE("an item that was handed out too often is not tried") {
  scene s;
  gate = true;
  s.post(1, pure_wait, 0);
  const auto r = s.result();
  CHECK(r.outcomes[0].kind == outcome_kind::gave_up);
  CHECK(begun == 0);
}

TEST_CASE("a worker asks once for what the items of a batch share") {
  scene s;
  const auto bytes = encode(std::vector<int>{10, 20, 30});
  const auto shared = s.queue.share(bytes);
  for (int i = 0; i < 3; ++i) {
    s.send({.batch = {1, 1},
            .function = s.key(2),
            .shared = shared,
            .tries_left = 5,
            .items = {{static_cast<std::uint64_t>(i), encode(i)}}});
    const auto r = s.result();
    CHECK(decode<int>(r.outcomes.at(0).bytes) == 10 * (i + 1));
  }
  CHECK(s.source.asked == 1);
}

TEST_CASE("items whose shared value is missing, too large or no such value fail with a reason") {
  scene s;
  const auto outcome_of = [&](const detail::shared_input& shared) {
    s.send({.batch = {1, 1},
            .function = s.key(2),
            .shared = shared,
            .tries_left = 5,
            .items = {{0, encode(0)}, {1, encode(1)}}});
    const auto r = s.result();
    CHECK(r.outcomes.size() == 2);
    CHECK(r.outcomes.at(0).kind == outcome_kind::failed);
    return r.outcomes.at(0).bytes;
  };
  CHECK_THAT(outcome_of({.hash = {1, 2}, .bytes = 3, .part_bytes = 3}),
             ContainsSubstring("is not there"));
  CHECK(s.source.asked == 1);
  CHECK_THAT(outcome_of({.bytes = detail::most_shared_bytes + 1}), ContainsSubstring("larger"));
  CHECK(s.source.asked == 1);
  const std::string noise = "noise";
  outcome_of(s.queue.share(noise));
}

TEST_CASE("a batch that is cancelled ends what runs of it") {
  scene s;
  s.post(1);
  await([] { return begun == 1; });
  s.queue.tell({.kind = control_kind::cancel, .batch = {9, 9}, .text = {}, .reason = {}});
  CHECK(s.queue.outstanding() == 1);
  s.queue.tell({.kind = control_kind::cancel, .batch = {1, 1}, .text = {}, .reason = {}});
  await([&] { return s.queue.outstanding() == 0; });
  CHECK(s.queue.receive(1, milliseconds{0}).empty());
}

TEST_CASE("a worker in quarantine takes no more work") {
  scene s;
  s.queue.tell({.kind = control_kind::quarantine, .batch = {}, .text = "other", .reason = ""});
  s.queue.tell({.kind = control_kind::quarantine, .batch = {}, .text = "w", .reason = "bits"});
  s.join();
  CHECK(s.report.quarantine == "bits");
  s.post(1);
  CHECK(s.queue.fetch(1, {}).size() == 1);
}
