// Searches on executors that the test steps: who claims which elements when, and what ends them.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/range_search.hpp>

#include "stepped_runtime.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace basal;
using namespace basal::test;
using posse::member;

namespace {

/// For each element, who has looked at it; -1: nobody. Each `Place` learns for itself.
template <int Place>
class search {
public:
  using predicate = std::function<bool(member&, int)>;

  search(stepped_runtime& host, int n)
    : by(static_cast<std::size_t>(n), -1), found(-1), host_(host) {
  }

  /// Begins on executor 0, and goes on until it lets thieves begin.
  void begin(predicate holds) {
    holds_ = std::move(holds);
    root_ = std::make_unique<started>(host_, 0, [this](member& m) {
      look(m);
      for (int polls = 0; polls < 100; ++polls) // so that the next one is no look
        m.poll();
      const auto all = std::views::iota(0, static_cast<int>(by.size()));
      found = static_cast<int>(posse::find_if(m, all,
                                              [this](member& k, int i) {
                                                by[static_cast<std::size_t>(i)]
                                                  = static_cast<int>(k.executor().index());
                                                return holds_(k, i);
                                              })
                               - all.begin());
    });
    host_.run(0);
  }

  /// The same: at its first element. Each element takes 1 us before it is looked at.
  void begin_with_thieves(predicate holds) {
    begin([holds = std::move(holds)](member& k, int i) {
      if (i == 0)
        let_thieves_begin(k);
      pass(1us);
      return holds(k, i);
    });
  }

  bool has_ended() const {
    return root_->has_ended();
  }

  std::string error() const {
    return root_->error();
  }

  std::ptrdiff_t num_by(int executor) const {
    return std::ranges::count(by, executor);
  }

  std::vector<int> by;
  int found;

private:
  stepped_runtime& host_;
  predicate holds_;
  std::unique_ptr<started> root_;
};

/// There an element takes 1 us, and searches look at as many as `until` + 1: that is known.
template <int Place>
void learn(int until = 10'000) {
  stepped_runtime host{by_worth(1)};
  for (int times = 0; times < 40; ++times) {
    search<Place> before{host, 10'000};
    before.begin([&](member&, int i) {
      pass(1us);
      return i == until;
    });
    REQUIRE(before.has_ended());
    REQUIRE(before.found == until);
  }
}

} // namespace

TEST_CASE("a search whose elements' cost is known is divided at its beginning, part by part") {
  learn<1>();
  stepped_runtime host{by_worth(2)};
  search<1> s{host, 10'000};
  s.begin_with_thieves([](member&, int) { return false; });
  REQUIRE(host->stats().thefts == 1);
  // The thief claims what comes next, until nothing is left; but for that which the other has.
  host.run(1);
  CHECK(s.num_by(1) > 9900);
  CHECK(s.by[20] == 1);
  go_on();
  host.run_all();
  CHECK(s.found == 10'000);
  CHECK(s.num_by(-1) == 0);
  CHECK(host->stats().delegates_now == 0);
}

TEST_CASE("executors that search go through the elements in their order") {
  learn<2>();
  for (const int number : {40, 3000, 9000}) {
    stepped_runtime host{by_worth(2)};
    search<2> s{host, 10'000};
    s.begin_with_thieves([=](member&, int i) { return i >= number; });
    host.run(1);
    go_on();
    host.run_all();
    CHECK(s.error() == "");
    CHECK(s.found == number);
    CHECK(s.num_by(1) > 0);
    // Those behind it that somebody has looked at: a claim takes some 13 us.
    CHECK(std::ranges::count_if(s.by, [](int who) { return who >= 0; }) <= number + 20);
  }
}

TEST_CASE("a search that usually ends soon is not divided before it has lasted longer") {
  learn<3>(2);
  const bool lasts = GENERATE(false, true);
  stepped_runtime host{by_worth(2)};
  search<3> s{host, 10'000};
  s.begin([&](member& k, int i) {
    pass(1us);
    if (i == 40)
      let_thieves_begin(k);
    return !lasts && i == 2;
  });
  CHECK(host->stats().thefts == (lasts ? 1 : 0));
  CHECK(s.num_by(1) == 0);
  host.run(1);
  CHECK((s.num_by(1) > 9000) == lasts);
  go_on();
  host.run_all();
  CHECK(s.found == (lasts ? 10'000 : 2));
}

namespace {

/// Ends at its first element. Notes how many it was called for.
struct ends_at_once {
  std::size_t* called_for;
  std::chrono::nanoseconds takes;

  std::size_t operator()(member&, std::size_t first, std::size_t last) const {
    *called_for = last - first;
    pass(takes);
    return first;
  }
};

} // namespace

TEST_CASE("searches that always end soon teach what an element costs") {
  stepped_runtime host{by_worth(1)};
  std::size_t most = 0;
  started root{
    host, 0, [&](member& m) {
      const auto search = [&](std::chrono::nanoseconds takes) {
        std::size_t called_for = 0;
        const auto found = posse::range_search<ends_at_once>{{&called_for, takes}}.run(m, 0, 1000);
        CHECK(found == 0);
        most = std::max(most, called_for);
      };
      search(1ms); // others had a time slice
      CHECK(most == 1);
      for (int times = 0; times < 100; ++times)
        search(10ns);
    }};
  host.run_all();
  CHECK(root.has_ended());
  CHECK(most > 1);
  CHECK(most < 20); // what follows is not looked at
}

TEST_CASE("what was found first is not what comes first") {
  learn<5>();
  const bool fails = GENERATE(false, true);
  stepped_runtime host{by_worth(2)};
  search<5> s{host, 10'000};
  s.begin_with_thieves([=](member&, int i) {
    if (fails && i >= 20)
      throw std::runtime_error("of the thief");
    return i == 0 || i >= 20;
  });
  host.run(1);
  CHECK(!s.has_ended());
  CHECK(s.num_by(1) > 0);
  CHECK(s.num_by(1) < 20);
  go_on();
  host.run_all();
  CHECK(s.error() == "");
  CHECK(s.found == 0);
}

TEST_CASE("the first failure in the order of elements comes out of a search") {
  learn<6>();
  stepped_runtime host{by_worth(2)};
  search<6> s{host, 10'000};
  s.begin_with_thieves([](member&, int i) -> bool {
    if (i == 0 || i >= 20)
      throw std::runtime_error(i == 0 ? "first" : "later");
    return false;
  });
  host.run(1);
  go_on();
  host.run_all();
  CHECK(s.error() == "first");
}

TEST_CASE("a call of a thief behind what was found ends at its next safepoint") {
  learn<7>();
  stepped_runtime host{by_worth(2)};
  search<7> s{host, 10'000};
  bool went_on = false;
  executors::fiber* long_call = nullptr;
  s.begin_with_thieves([&](member& k, int i) {
    if (k.executor().index() == 1) {
      REQUIRE(k.executor().suspend([&](executors::fiber& f) noexcept { long_call = &f; }));
      k.poll();
      went_on = true;
    }
    return i == 0;
  });
  host.run(1);
  REQUIRE(long_call != nullptr);
  go_on();
  host.run(0); // finds it, and waits
  CHECK(!s.has_ended());
  executors::executor::wake(*long_call);
  host.run_all();
  CHECK(s.found == 0);
  CHECK(s.error() == "");
  CHECK(!went_on);
}

TEST_CASE("what the last elements of a search fork is the next that may be stolen") {
  stepped_runtime host{by_worth(2)};
  bool is_right_stolen = false;
  search<8> s{host, 1};
  s.begin([&](member& k, int) {
    k.fork_merge(
      [](member& l) {
        look(l);
        pass(1ms);
        look(l);
        let_thieves_begin(l);
      },
      [&](member& r) { is_right_stolen = r.executor().index() == 1; });
    return false;
  });
  host.run(1);
  go_on();
  host.run_all();
  CHECK(is_right_stolen);
  CHECK(host->stats().thefts == 1);
}

TEMPLATE_TEST_CASE_SIG("a call before what a thief has found goes on", "",
                       ((int Place, bool LaterOneFinds), Place, LaterOneFinds), (9, false),
                       (10, true)) {
  learn<Place>();
  stepped_runtime host{by_worth(3)};
  search<Place> s{host, 10'000};
  std::vector<executors::fiber*> calls(3);
  std::vector<int> at(3, -1);
  std::size_t finder = 0;
  s.begin([&](member& k, int i) {
    const auto who = k.executor().index();
    if (at[who] < 0) {
      at[who] = i;
      REQUIRE(k.executor().suspend([&](executors::fiber& f) noexcept { calls[who] = &f; }));
    }
    pass(1us);
    k.poll();
    return at[who] != i && who == finder;
  });
  for (int times = 0; times < 2; ++times) {
    host.run(1);
    host.run(2);
  }
  CHECK(host->stats().thefts >= 2);
  CHECK(at[0] == 0);
  CHECK(at[1] > 0);
  CHECK(at[2] > 0);
  finder = (at[2] > at[1]) == LaterOneFinds ? 2 : 1;
  const auto wake = [&](std::size_t who) {
    if (calls[who] != nullptr)
      executors::executor::wake(*calls[who]);
    host.run(who);
  };
  wake(finder);
  wake(0); // does its part, and waits
  CHECK(!s.has_ended());
  wake(3 - finder);
  host.run_all();
  CHECK(s.error() == "");
  CHECK(s.found == at[finder] + 1);
  for (int i = 0; i <= s.found; ++i)
    CHECK(s.by[static_cast<std::size_t>(i)] >= 0);
  CHECK(host->stats().delegates_now == 0);
}
