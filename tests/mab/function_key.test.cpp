#include <basal/mab/function_key.hpp>

#include "support/catch.hpp"

#include <string>
#include <unordered_set>

using namespace basal::mab;

TEST_CASE("equal types and names have equal keys, others do not") {
  CHECK(function_key::from_type<int>() == function_key::from_type<int>());
  CHECK_FALSE(function_key::from_type<int>() == function_key::from_type<long>());
  CHECK(function_key::from_name("parse") == function_key::from_name("parse"));
  CHECK_FALSE(function_key::from_name("parse") == function_key::from_name("Parse"));
  CHECK(function_key{7} == function_key{7});
}

TEST_CASE("actor type and message type make one key, in this order") {
  CHECK(function_key::of<int, std::string>() == function_key::of<int, std::string>());
  CHECK_FALSE(function_key::of<int, std::string>() == function_key::of<std::string, int>());
  CHECK_FALSE(function_key::of<int, int>() == function_key::from_type<int>());
}

TEST_CASE("ten thousand names and their pairs do not collide") {
  std::unordered_set<function_key> keys;
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j < 100; ++j)
      CHECK(keys
              .insert(function_key::combine(function_key::from_name("actor" + std::to_string(i)),
                                            function_key::from_name("msg" + std::to_string(j))))
              .second);
}
