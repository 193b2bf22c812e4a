// The queue under controlled schedules: nothing is lost or comes out twice, a
// queue that looks empty before a sleep is empty, and the order holds for what
// was there before.

#include "model_support.hpp"

using namespace model;

namespace {

/// Two producers, each with two values, and two consumers that give up after a
/// few empty pops; the rest is taken out in the end.
scenario push_and_pop(std::size_t parts) {
  return [=](run& r) {
    queue q{{.capacity = 8, .parts = parts, .slack = 0, .refresh = 2}};
    std::array<plain<int>, 5> written;
    std::array<int, 5> seen{};
    auto take = [&](queue::consumer& c) {
      auto x = q.try_pop(c);
      if (!x)
        return false;
      const auto at = static_cast<std::size_t>(*x);
      check(written[at] == *x, "does not see what was written before the push of", *x);
      check(++seen[at] == 1, "came out twice:", *x);
      return true;
    };
    for (int p = 0; p < 2; ++p)
      r.thread("producer " + std::to_string(p), [&, p] {
        for (int i = 1; i <= 2; ++i) {
          const int value = 2 * p + i;
          written[static_cast<std::size_t>(value)] = value;
          check(q.try_push(10 - value, value, static_cast<std::size_t>(p)), "no room for", value);
        }
      });
    queue::consumer consumers[] = {{q, 0}, {q, 1}};
    for (std::size_t c = 0; c < 2; ++c)
      r.thread("consumer " + std::to_string(c), [&, c] {
        take(consumers[c]);
        take(consumers[c]);
      });
    r.go();
    queue::consumer last{q, 0};
    while (take(last)) {
    }
    for (int i = 1; i <= 4; ++i)
      check(seen[static_cast<std::size_t>(i)] == 1, "is lost:", i);
    check(q.empty() && q.size() == 0, "is not empty in the end");
  };
}

/// A value that was there before is not overtaken by others that come in, nor
/// missed, with a look at each pop.
scenario order_of_what_was_there(std::size_t parts) {
  return [=](run& r) {
    queue q{{.capacity = 8, .parts = parts, .slack = 0, .refresh = 1}};
    q.try_push(2, 2, 0);
    q.try_push(3, 3, 1);
    queue::consumer consumers[] = {{q, 0}, {q, 1}};
    std::array<int, 2> popped{};
    r.thread("producer", [&] { q.try_push(4, 4, 0); });
    for (std::size_t c = 0; c < 2; ++c)
      r.thread("consumer " + std::to_string(c), [&, c] {
        const auto x = q.try_pop(consumers[c]);
        check(x.has_value(), "finds nothing although two are there");
        popped[c] = *x;
      });
    r.go();
    check(popped[0] + popped[1] == 5, "takes the one pushed last:", popped[0] + popped[1]);
  };
}

/// Capacity one: of two that push at the same time one gets in.
scenario last_place(std::size_t parts) {
  return [=](run& r) {
    queue q{{.capacity = parts, .parts = parts}};
    for (std::size_t i = 1; i < parts; ++i)
      q.try_push(0, 0, i);
    std::array<bool, 2> in{};
    for (std::size_t p = 0; p < 2; ++p)
      r.thread("producer " + std::to_string(p), [&, p] { in[p] = q.try_push(1, 1, p); });
    r.go();
    check(in[0] != in[1], "both or neither got the last place");
  };
}

} // namespace

TEST_CASE("queue: nothing is lost or comes out twice") {
  verify("queue, 1 part", push_and_pop(1), {.preemptions = 1, .anomalies = 1});
  verify("queue, 2 parts", push_and_pop(2), {.preemptions = 1, .anomalies = 1});
}

TEST_CASE("queue: what was there before comes first") {
  verify("queue order, 1 part", order_of_what_was_there(1), {.preemptions = 2, .anomalies = 1});
  verify("queue order, 2 parts", order_of_what_was_there(2), {.preemptions = 2, .anomalies = 1});
}

TEST_CASE("queue: the last place is given once") {
  verify("queue bound, 1 part", last_place(1));
  verify("queue bound, 2 parts", last_place(2));
}
