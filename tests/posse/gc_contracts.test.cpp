// Misuse of the collected heap: builds with asserts name it.

#include <basal/posse/gc/gc.hpp>
#include <basal/posse/ord_map.hpp>

#include "support/contract.hpp"

#include <cstddef>
#include <memory>

using namespace basal::posse;
using basal::test::expect_broken_contract;

TEST_CASE("an index of a vector is below its size") {
  expect_broken_contract("an index of a gc::vector is below size()", [] {
    const gc::vector<int> three{1, 2, 3};
    (void)three[3];
  });
  expect_broken_contract("an index of a gc::vector is below size()", [] {
    const gc::string text{"ab"};
    (void)text[2];
  });
}

TEST_CASE("an empty vector has neither a first nor a last element") {
  expect_broken_contract("an empty gc::vector has no first element",
                         [] { (void)gc::vector<int>{}.front(); });
  expect_broken_contract("an empty gc::vector has no last element",
                         [] { (void)gc::vector<int>{}.back(); });
}

TEST_CASE("a null pointer has no object") {
  expect_broken_contract("a gc::ptr that is null has no object", [] { (void)*gc::ptr<int>{}; });
}

TEST_CASE("the end of a map is no entry, and nothing comes after it") {
  using map = ord_map<int, int>;
  expect_broken_contract("the end of a map is no entry", [] {
    const map one = map{}.insert(1, 1);
    (void)*one.end();
  });
  expect_broken_contract("nothing comes after the end of a map", [] {
    auto at = map{}.begin();
    ++at;
  });
}

TEST_CASE("charge scopes end in the reverse order") {
  expect_broken_contract("a charge_scope ends on its own fiber, after those within it", [] {
    gc::account a;
    gc::account b;
    alignas(gc::charge_scope) std::byte memory[2][sizeof(gc::charge_scope)];
    auto* outer = std::construct_at(reinterpret_cast<gc::charge_scope*>(memory[0]), a);
    std::construct_at(reinterpret_cast<gc::charge_scope*>(memory[1]), b);
    std::destroy_at(outer);
  });
}
