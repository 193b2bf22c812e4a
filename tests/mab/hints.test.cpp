#include <basal/mab/hints.hpp>

#include "support/catch.hpp"

#include <string>

namespace shop {

struct order {
  std::size_t bytes;
};

basal::mab::compute_hint compute_hint_of(const order& x) noexcept {
  using basal::mab::compute_hint;
  return x.bytes < 1024    ? compute_hint::low
         : x.bytes < 65536 ? compute_hint::medium
                           : compute_hint::high;
}

} // namespace shop

using namespace basal::mab;
using shop::order;

constexpr order small{100};
constexpr order middle{10'000};
constexpr order large{1'000'000};

TEST_CASE("a type gives hints by a function in its namespace") {
  CHECK(hint_of(small) == compute_hint::low);
  CHECK(hint_of(middle) == compute_hint::medium);
  CHECK(hint_of(large) == compute_hint::high);
}

TEST_CASE("types that give none are unknown") {
  CHECK(hint_of(42) == compute_hint::unknown);
  CHECK(hint_of(1.5) == compute_hint::unknown);
  CHECK(hint_of(std::string{"text"}) == compute_hint::unknown);
  CHECK(hint_of(std::vector<int>(100)) == compute_hint::unknown);
  CHECK(hint_of(std::optional<std::string>{"text"}) == compute_hint::unknown);
}

TEST_CASE("optionals and owning pointers delegate; empty ones are unknown") {
  CHECK(hint_of(std::optional{large}) == compute_hint::high);
  CHECK(hint_of(std::optional<order>{}) == compute_hint::unknown);
  CHECK(hint_of(std::make_unique<order>(middle)) == compute_hint::medium);
  CHECK(hint_of(std::unique_ptr<order>{}) == compute_hint::unknown);
  CHECK(hint_of(std::make_shared<const order>(small)) == compute_hint::low);
}

TEST_CASE("pairs and tuples take their most pessimistic part") {
  CHECK(hint_of(std::pair{small, large}) == compute_hint::high);
  CHECK(hint_of(std::pair{1, small}) == compute_hint::low);
  CHECK(hint_of(std::tuple{small, middle, 3}) == compute_hint::medium);
  CHECK(hint_of(std::tuple{}) == compute_hint::unknown);
  CHECK(hint_of(std::tuple{1, std::string{"x"}}) == compute_hint::unknown);
}

TEST_CASE("vectors take the most pessimistic of their first 16 elements") {
  std::vector<order> orders(20, small);
  CHECK(hint_of(orders) == compute_hint::low);
  CHECK(hint_of(std::vector<order>{}) == compute_hint::unknown);
  orders[15] = large;
  CHECK(hint_of(orders) == compute_hint::high);
  orders[15] = small;
  orders[16] = large;
  CHECK(hint_of(orders) == compute_hint::low);
}

TEST_CASE("delegation nests") {
  const std::vector<std::optional<std::pair<int, order>>> nested{std::nullopt, std::pair{1, middle},
                                                                 std::pair{2, small}};
  CHECK(hint_of(nested) == compute_hint::medium);
}
