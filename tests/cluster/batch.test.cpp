// A batch against workers that lie, die or repeat themselves: the test is the worker.

#include "batch.hpp"
#include "local_queue.hpp"
#include "support/catch.hpp"

#include <functional>
#include <numeric>
#include <thread>

namespace posse = basal::posse;
using namespace basal::cluster;
using detail::outcome;
using detail::outcome_kind;

namespace {

long square(posse::member&, int x) {
  return long{x} * x;
}
constexpr posse::pure<square> pure_square{"square"};

std::string right(int item) {
  return encode(long{item} * item);
}

/// Runs a batch of squares on a thread, while the test does what workers do.
class scene {
public:
  explicit scene(int items, map_options options = {}, bool checks = true)
    : options_(std::move(options)), function_(detail::make_registered(pure_square, 1)) {
    queue.add_worker([this](const detail::control_message& told) {
      const std::lock_guard guard{mutex_};
      told_.push_back(told);
      return std::optional{detail::worker_info{"anybody", {function_.key}}};
    });
    thread_ = std::thread{[this, items, checks] {
      const detail::batch_request request{
        .function = function_,
        .items = static_cast<std::uint64_t>(items),
        .item = [](std::uint64_t i) { return encode(static_cast<int>(i)); },
        .deliver = [this](std::uint64_t i, std::string_view r) { delivered.emplace_back(i, r); },
        .options = options_};
      batch b{request, queue, id, checks};
      try {
        done = b.run(nullptr);
      } catch (const error& e) {
        failure = e.code();
        said = e.what();
      }
    }};
  }

  ~scene() {
    stop.request_stop();
    if (thread_.joinable())
      thread_.join();
  }

  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  /// The next message.
  leased_work take() {
    return queue.fetch(1, stop.get_token()).at(0);
  }

  /// Answers for all items of a message.
  void answer(const leased_work& work, const std::string& worker,
              const std::function<outcome(int)>& what = square_of) {
    const auto message = detail::unsealed<detail::item_message>(work.message);
    detail::result_message result{
      .batch = id, .worker = worker, .deliveries = work.deliveries, .outcomes = {}};
    for (const auto& item : message.items) {
      result.outcomes.push_back(what(decode<int>(item.bytes)));
      result.outcomes.back().item = item.item;
    }
    const completed_work done_work{work.token, detail::sealed(result)};
    queue.complete({&done_work, 1});
  }

  /// Does honest work until the batch ends.
  /// @returns how many items each message had
  std::vector<std::size_t> rest(const std::string& worker,
                                const std::function<outcome(int)>& what = square_of) {
    std::vector<std::size_t> sizes;
    {
      std::jthread honest{[&](std::stop_token ended) {
        for (;;) {
          const auto work = queue.fetch(1, ended);
          if (work.empty())
            return;
          sizes.push_back(detail::unsealed<detail::item_message>(work[0].message).items.size());
          answer(work[0], worker, what);
        }
      }};
      thread_.join();
    }
    return sizes;
  }

  /// Waits for the end of a batch for which nobody works.
  void end() {
    thread_.join();
  }

  static outcome square_of(int x) {
    return {.item = 0, .kind = outcome_kind::value, .seconds = 1, .bytes = right(x)};
  }
  static outcome wrong(int) {
    return {.item = 0, .kind = outcome_kind::value, .seconds = 1, .bytes = right(1'000'000)};
  }

  /// The latest result that was delivered for an item.
  std::string result(std::uint64_t item) const {
    std::string last;
    for (const auto& [i, r] : delivered)
      if (i == item)
        last = r;
    return last;
  }

  bool was_told(detail::control_kind kind, const std::string& text) {
    const std::lock_guard guard{mutex_};
    return std::any_of(told_.begin(), told_.end(),
                       [&](const auto& t) { return t.kind == kind && t.text == text; });
  }

  local_queue queue{std::chrono::hours{1}};
  const detail::batch_id id{1, 2};
  std::stop_source stop;
  manifest done;
  errc failure{};
  std::string said; ///< the failure's sentence
  std::vector<std::pair<std::uint64_t, std::string>> delivered;

private:
  map_options options_;
  const detail::registered function_;
  std::mutex mutex_;
  std::vector<detail::control_message> told_;
  std::thread thread_;
};

} // namespace

TEST_CASE(
  "a message has items for 20 ms, and at the end one, so that no worker ends long after others") {
  scene s{2000, {.check_one_in = 0}};
  const auto sizes = s.rest("a", [](int x) {
    return outcome{.item = 0, .kind = outcome_kind::value, .seconds = 0.005, .bytes = right(x)};
  });
  CHECK(*std::max_element(sizes.begin(), sizes.end()) == 4);
  CHECK(sizes.back() == 1);
}

TEST_CASE("items that take less time than a message travel 64 at a time to the end") {
  scene s{2000, {.check_one_in = 0}};
  const auto sizes = s.rest("a", [](int x) {
    return outcome{.item = 0, .kind = outcome_kind::value, .seconds = 0, .bytes = right(x)};
  });
  // The first ones went alone, since nobody knew.
  const auto alone = std::count(sizes.begin(), sizes.end(), 1U);
  CHECK(std::count(sizes.begin(), sizes.end(), 64U) == (2000 - alone) / 64);
}

TEST_CASE("a second result of an item is compared, counted and not delivered") {
  scene s{3, {.check_one_in = 0}};
  const auto work = s.take();
  s.answer(work, "a");
  s.answer(work, "b"); // late: its lease is over, and its result all the same
  s.rest("a");
  CHECK(s.done.results == 3);
  CHECK(s.done.duplicates == 1);
  CHECK(s.done.mismatches == 0);
  CHECK(s.done.seconds_lost == 1);
  CHECK(s.delivered.size() == 3);
}

TEST_CASE("of two results that differ, this process says which is right") {
  const bool first_is_wrong = GENERATE(false, true);
  scene s{3, {.check_one_in = 0}};
  const auto work = s.take();
  s.answer(work, "a", first_is_wrong ? scene::wrong : scene::square_of);
  s.answer(work, "b", first_is_wrong ? scene::square_of : scene::wrong);
  s.rest("c");
  CHECK(s.done.results == 3);
  CHECK(s.done.mismatches == 1);
  CHECK(s.done.corrected == (first_is_wrong ? 1 : 0));
  CHECK(s.done.quarantined == std::vector<std::string>{first_is_wrong ? "a" : "b"});
  CHECK(s.was_told(detail::control_kind::quarantine, first_is_wrong ? "a" : "b"));
  for (int i = 0; i < 3; ++i)
    CHECK(s.result(static_cast<std::uint64_t>(i)) == right(i));
}

TEST_CASE("a worker's first result is checked; all that a liar has delivered is done again") {
  scene s{50, {.check_one_in = 1000}};
  for (int i = 0; i < 10; ++i)
    s.answer(s.take(), "liar", scene::wrong);
  s.rest("honest");
  CHECK(s.done.results == 50);
  CHECK(s.done.quarantined == std::vector<std::string>{"liar"});
  CHECK(s.done.corrected >= 1);
  for (int i = 0; i < 50; ++i)
    CHECK(s.result(static_cast<std::uint64_t>(i)) == right(i));
}

TEST_CASE("a batch whose only worker is in quarantine ends and says so") {
  scene s{2, {.patience = std::chrono::milliseconds{100}}};
  s.answer(s.take(), "anybody", scene::wrong);
  s.end();
  CHECK(s.failure == errc::no_worker);
  CHECK(s.said.find("anybody has square, version 1, and is in quarantine") != s.said.npos);
}

TEST_CASE("one result in so many is checked") {
  scene s{50, {.check_one_in = 1}};
  s.rest("honest");
  CHECK(s.done.checked == 50);
  CHECK(s.done.mismatches == 0);
}

TEST_CASE("an item that nobody survives is poisoned, and those that came with it are not") {
  scene s{4, {.tries = 3, .check_one_in = 0}};
  int deaths = 0;
  const auto deadly = [](int x) {
    return x == 2 ? outcome{.item = 0, .kind = outcome_kind::gave_up, .seconds = 0, .bytes = "died"}
                  : scene::square_of(x);
  };
  while (deaths < 3) {
    auto work = s.take();
    const auto message = detail::unsealed<detail::item_message>(work.message);
    if (message.items.size() == 1 && message.items[0].item == 2) {
      CHECK(message.tries_left == 3 - static_cast<std::uint32_t>(deaths));
      work.deliveries = 2; // one has died
      ++deaths;
    }
    s.answer(work, "a", deadly);
  }
  s.rest("a");
  CHECK(s.done.results == 3);
  REQUIRE(s.done.poisoned.size() == 1);
  CHECK(s.done.poisoned[0].item == 2);
  CHECK(s.done.poisoned[0].reason == "died");
}

TEST_CASE("what the engine has lost is posted again") {
  scene s{10, {.check_one_in = 0}};
  s.answer(s.take(), "a");
  const auto held = s.take();
  s.queue.withdraw(); // the store is gone
  s.rest("a");
  CHECK(s.done.results == 10);
  CHECK(s.done.reposted >= 9);
  CHECK(s.delivered.size() == 10);
}

TEST_CASE("results of other batches and bytes that are no results change nothing") {
  scene s{3, {.check_one_in = 0}};
  const auto work = s.take();
  const completed_work noise[]
    = {{"x", "noise"},
       {"y", detail::sealed(detail::result_message{
               .batch = {7, 8}, .worker = "z", .deliveries = 1, .outcomes = {}})},
       {"z", detail::sealed(detail::result_message{
               .batch = s.id,
               .worker = "z",
               .deliveries = 1,
               .outcomes = {{.item = 99, .kind = outcome_kind::value, .seconds = 1, .bytes = ""},
                            {.item = 0,
                             .kind = outcome_kind::value,
                             .seconds = std::numeric_limits<double>::quiet_NaN(),
                             .bytes = ""}}})}};
  s.queue.complete(noise);
  s.answer(work, "a");
  s.rest("a");
  CHECK(s.done.results == 3);
  CHECK(s.result(0) == right(0));
}

TEST_CASE("in the order of the items, no more than a window is computed ahead") {
  scene s{100, {.order = result_order::by_item, .check_one_in = 0, .window = 1}};
  const auto held = s.take(); // item 0
  s.answer(held, "a", [](int) {
    return outcome{.item = 0, .kind = outcome_kind::failed, .seconds = 0, .bytes = "again"};
  });
  s.rest("a");
  CHECK(s.done.results == 100);
  for (std::uint64_t i = 0; i < 100; ++i)
    CHECK(s.delivered[i].first == i);
}
