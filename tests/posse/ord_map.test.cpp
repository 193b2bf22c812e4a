#include "ord_map_support.hpp"
#include "support/catch.hpp"

#include <basal/posse/gc/gc.hpp>

#include <cmath>
#include <string>
#include <thread>

using namespace basal::posse;
using namespace ord_map_support;

namespace {

using text_map = ord_map<gc::string, int>;

text_map words(std::initializer_list<std::string_view> list) {
  text_map result;
  for (auto w : list)
    result = result.insert_or_assign(gc::string{w}, static_cast<int>(w.size()));
  return result;
}

} // namespace

static_assert(std::forward_iterator<map::const_iterator>);
static_assert(std::ranges::forward_range<map>);
static_assert(gc::heap_value<map> && std::is_trivially_copyable_v<map>);
static_assert(sizeof(map) == sizeof(void*));

TEST_CASE("an ord_map binds keys to values, in order") {
  auto m = words({"posse", "cabal", "member", "victim"});
  CHECK(m.size() == 4);
  CHECK(m.at(gc::string{"posse"}) == 5);
  CHECK(m.find(gc::string{"quantum"}) == nullptr);
  CHECK_THROWS_AS(m.at(gc::string{"quantum"}), std::out_of_range);
  std::string text;
  for (auto [word, size] : m)
    text += std::string{word.view()} + std::to_string(size) + ' ';
  CHECK(text == "cabal5 member6 posse5 victim6 ");
  CHECK(m.lower_bound(gc::string{"d"}) != m.end());
  CHECK((*m.lower_bound(gc::string{"d"})).first == "member");
  CHECK(m.lower_bound(gc::string{"w"}) == m.end());
  CHECK(m.rank(gc::string{"posse"}) == 2);
  CHECK(m.rank(gc::string{"z"}) == 4);
}

TEST_CASE("operations leave the maps as they were that they begin with") {
  auto a = words({"a", "bb", "ccc"});
  auto snapshot = a;
  auto b = a.insert_or_assign(gc::string{"bb"}, 7).erase(gc::string{"a"});
  CHECK(a.is_same(snapshot));
  CHECK(a == words({"a", "bb", "ccc"}));
  CHECK(b.size() == 2);
  CHECK(b.at(gc::string{"bb"}) == 7);
  CHECK(a.insert(gc::string{"bb"}, 9).is_same(a));
  CHECK(a.erase(gc::string{"zz"}).is_same(a));
  CHECK(text_map{}.erase(gc::string{"zz"}).empty());
  CHECK(text_map{} == text_map{});
  CHECK(text_map{}.begin() == text_map{}.end());
}

TEST_CASE("an insertion makes a path and shares the rest") {
  std::mt19937_64 random{1};
  auto m = make(random_model(random, 5000, 1'000'000));
  for (int i = 0; i < 200; ++i) {
    auto next = m.insert_or_assign(static_cast<std::uint32_t>(random() % 1'000'000), 1);
    // A rotation may make two nodes beside the path.
    REQUIRE(ord_map_probe::own_nodes(next, m)
            <= static_cast<std::size_t>(ord_map_probe::height(m)) + 3);
    m = next;
  }
}

TEST_CASE("unions share what only one map has") {
  std::mt19937_64 random{2};
  auto low = random_model(random, 5000, 1000);
  model high;
  for (std::uint32_t i = 0; i < 5000; ++i)
    high[100'000 + i] = i;
  auto a = make(low);
  auto b = make(high);
  auto both = set_union(a, b);
  CHECK(both.size() == a.size() + b.size());
  CHECK(ord_map_probe::own_nodes(both, a) - b.size() <= 40);
  CHECK(set_union(both, both).is_same(both));
  CHECK(set_intersection(both, both).is_same(both));
  CHECK(set_difference(both, both).empty());
  CHECK(set_union(both, map{}).is_same(both));
  // A snapshot and the map that came of it differ in a few paths; so does the work.
  auto changed = both.insert_or_assign(7, 7).erase(100'007);
  CHECK(ord_map_probe::own_nodes(set_union(changed, both), both) < 100);
}

TEST_CASE("trees are as low as AVL trees must be, whatever the order of insertions") {
  for (int order = 0; order < 3; ++order) {
    map m;
    for (std::uint32_t i = 0; i < 20'000; ++i)
      m = m.insert_or_assign(order == 0 ? i : order == 1 ? 20'000 - i : i * 2654435761u, i);
    CHECK(ord_map_probe::is_sound(m));
    CHECK(m.size() == 20'000);
    CHECK(ord_map_probe::height(m) <= 1.4405 * std::log2(20'002.0));
  }
}

TEST_CASE("what is given in the wrong order is refused") {
  using entries = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
  CHECK_THROWS_AS(map::from_sorted(entries{{2, 0}, {1, 0}}), std::invalid_argument);
  CHECK_THROWS_AS(map::from_sorted(entries{{1, 0}, {1, 0}}), std::invalid_argument);
  auto a = map::from_sorted(entries{{1, 0}, {2, 0}});
  CHECK_THROWS_AS(concatenate(a, a), std::invalid_argument);
  CHECK(concatenate(a, map::from_sorted(entries{{3, 0}})).size() == 3);
}

TEST_CASE("reductions go in order and need not commute") {
  ord_map<int, char> letters;
  std::string expected;
  for (int i = 0; i < 26; ++i) {
    letters = letters.insert_or_assign(i, static_cast<char>('a' + i));
    expected += static_cast<char>('a' + i);
  }
  auto text = letters.map_reduce(
    std::string{}, [](int, char c) { return std::string(1, c); },
    [](const std::string& a, const std::string& b) { return a + b; });
  CHECK(text == expected);
}

TEST_CASE("a map can outlive everything in a handle") {
  gc::handle<map> kept;
  std::thread{[&] {
    std::mt19937_64 random{3};
    kept = gc::handle{make(random_model(random, 10'000, 100'000))};
  }}.join();
  std::mt19937_64 random{3};
  auto expected = random_model(random, 10'000, 100'000);
  for (int i = 0; i < 3; ++i) {
    gc::collect();
    make(random_model(random, 10'000, 100'000)); // overwrites what is free
  }
  CHECK(is(kept.get(), expected));
}
