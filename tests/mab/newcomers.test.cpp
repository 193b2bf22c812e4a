#include <basal/mab/newcomers.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cmath>

using namespace basal::mab;
using namespace basal::mab::simulation;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

/// Actors of one message each, whose first runs need a decision or not, on one executor.
struct actors_of_one_message {
  explicit actors_of_one_message(const knobs& k = {}) : shared("orders", k, 1) {
  }

  /// @returns whether a chooser was asked
  bool run(nanoseconds function_time, const load& now = load_of(0.7)) {
    auto& others = shared.newcomers_on(0);
    if (others.begin()) {
      ++inline_runs;
      if (!others.ended(function_time, shared)) {
        chooser own{shared};
        own.granted().finish({.cost = function_time, .function_time = function_time});
      }
      return false;
    }
    chooser own{shared};
    auto d = own.choose(now, random);
    const bool here = d.choice() == arm::inline_here;
    inline_runs += here ? 1 : 0;
    d.finish({.cost = here ? function_time : function_time + 12us, .function_time = function_time});
    others.allow(own.next_newcomers(), own.last().pressure, shared);
    return true;
  }

  int asked(int actors, nanoseconds function_time, const load& now = load_of(0.7)) {
    int count = 0;
    for (int i = 0; i < actors; ++i)
      count += run(function_time, now) ? 1 : 0;
    return count;
  }

  double learned_us() const {
    return std::exp(shared.learned()->log_function_us);
  }

  family shared;
  splitmix64 random{1};
  int inline_runs = 0;
};

} // namespace

TEST_CASE("new actors ask until sixteen have reported, then one for itself and 64 others") {
  actors_of_one_message x;
  CHECK(x.asked(16, 1us) == 16);
  CHECK(x.asked(64, 1us) == 0);
  CHECK(x.asked(65, 1us) == 1);
  CHECK(x.inline_runs == 16 + 64 + 65);
}

TEST_CASE(
  "new actors whose handlers take longer are fewer, and none where an offload is as cheap") {
  actors_of_one_message of_10us;
  of_10us.asked(16, 10us);
  CHECK(of_10us.asked(100, 10us, load_of(0.35)) == 10); // nine for each that asks: 100 us
  actors_of_one_message of_100us;
  of_100us.asked(16, 100us);
  CHECK(of_100us.asked(100, 100us) == 100);
  actors_of_one_message where_others_wait;
  where_others_wait.asked(16, 20us, load_of(2.5));
  CHECK(where_others_wait.asked(50, 20us, load_of(2.5)) == 50);
}

TEST_CASE("new actors are as fast and as many to their family as if each had reported") {
  actors_of_one_message x;
  x.asked(16, 4us);
  CHECK(x.learned_us() == Approx(4));
  CHECK(x.asked(10, 1us) == 0);
  const auto during = x.shared.snapshot().totals;
  CHECK(during[event::finished] == 26);
  CHECK(during[event::inline_decision] == 26);
  CHECK(x.learned_us() == Approx(4)); // is told later
  while (!x.run(1us)) {
  }
  // 24 of 4 us would take 100 us. Each of them, and the one that asks next, is a sixteenth of the
  // mean.
  CHECK(x.learned_us() == Approx(std::pow(4, std::pow(15.0 / 16, 25))).epsilon(0.01));
  const auto after = x.shared.snapshot().totals;
  CHECK(after[event::finished] == static_cast<std::uint64_t>(x.inline_runs));
  CHECK(after.decisions() == after[event::finished]);
  CHECK(after[event::abandoned] == 0);
}

TEST_CASE("times that differ are learned as the logarithms that choosers learn") {
  actors_of_one_message x;
  x.asked(16, 1700ns);
  const auto& others = x.shared.newcomers_on(0);
  do {
    x.run(1us);
    x.run(3us);
  } while (others.num_untold() > 0); // some 50, which count more than all before
  const auto shown = x.shared.snapshot().function_time;
  const double typical_us = std::sqrt(1.0 * 3.0); // on average 2
  CHECK(std::exp(shown.mean()) == Approx(typical_us).epsilon(0.05));
  CHECK(std::exp(std::sqrt(shown.variance())) == Approx(typical_us).epsilon(0.1));
  CHECK(x.learned_us() == Approx(typical_us).epsilon(0.05));
}

TEST_CASE("a first run that takes four times the usual ends the grant and is learned alone") {
  actors_of_one_message x;
  x.asked(20, 1us);
  CHECK_FALSE(x.run(1500us)); // granted
  const auto seen = x.shared.snapshot();
  CHECK(seen.totals[event::starvation] == 1);
  CHECK(seen.totals[event::finished] == 21);
  CHECK(x.learned_us() == Approx(std::pow(1500, 1.0 / 16)).epsilon(0.01));
  CHECK(seen.totals[event::prior_adoption] == 21 - 4 - 1); // it knew what it differs from
  CHECK(x.run(1us));                                       // asks
}

TEST_CASE("quick runs before a slow one are told before it, and before the next grant") {
  actors_of_one_message x;
  x.asked(16, 2us);
  CHECK(x.asked(10, 1us) == 0);
  CHECK_FALSE(x.run(1500us));
  const double quick = std::log(2) * std::pow(15.0 / 16, 10);
  CHECK(std::log(x.learned_us()) == Approx(quick + (std::log(1500) - quick) / 16).epsilon(0.01));
  actors_of_one_message y;
  y.asked(20, 1us);
  CHECK(y.shared.newcomers_on(0).num_untold() == 4);
  y.shared.newcomers_on(0).allow({}, 0, y.shared);
  CHECK(y.shared.newcomers_on(0).num_untold() == 0);
  CHECK(y.run(1us)); // asks
}

TEST_CASE("of a handler that turns slow, one more runs inline than where all ask") {
  actors_of_one_message x;
  x.asked(40, 2us);
  const int before = x.inline_runs;
  x.asked(1000, 3ms);
  family alone{"asks"};
  splitmix64 random{1};
  int inline_runs = 0;
  for (int i = 0; i < 1040; ++i) {
    const auto time = i < 40 ? microseconds{2} : microseconds{3000};
    chooser own{alone};
    auto d = own.choose(load_of(0.7), random);
    const bool here = d.choice() == arm::inline_here;
    inline_runs += here && i >= 40 ? 1 : 0;
    d.finish({.cost = here ? time : time + microseconds{12}, .function_time = time});
  }
  CHECK(x.inline_runs - before <= inline_runs + 2);
}

TEST_CASE("no grant comes of an offload, nor of a policy that learns in another way") {
  actors_of_one_message x;
  x.asked(16, 1us);
  x.asked(100, 3ms);
  CHECK(x.asked(100, 3ms) == 100);
  for (const auto by : {policy::ucb1, policy::static_threshold, policy::always_offload}) {
    knobs k;
    k.chosen_by = by;
    actors_of_one_message other{k};
    CHECK(other.asked(200, 1us) == 200);
  }
  knobs inline_only;
  inline_only.chosen_by = policy::always_inline;
  actors_of_one_message annotated{inline_only};
  CHECK(annotated.asked(16 + 65, 1us) == 17);
}
