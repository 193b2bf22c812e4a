// Results that many share. An ord_map never changes: each operation returns another map, and a copy
// is a snapshot. It lives in the collected heap, so nobody needs to free it.
#include <basal/posse/gc/gc.hpp>
#include <basal/posse/ord_map.hpp>
#include <basal/posse/posse.hpp>

#include <functional>
#include <iostream>

namespace posse = basal::posse;
using stock = posse::ord_map<int, int>; // how many there are of each article

int main() {
  posse::runtime runtime;
  const stock shop = stock{}.insert(1, 10).insert(2, 20);
  const stock store = stock{}.insert(2, 200).insert(3, 300);
  const stock snapshot = shop; // two words
  const stock after_sale = shop.insert_or_assign(1, 9);

  const stock all = runtime.run([&](posse::member& m) {
    return set_union(m, after_sale, store, std::plus<>{}); // forks where maps are large
  });
  for (const auto [article, count] : all)
    std::cout << "article " << article << ": " << count << '\n';
  std::cout << "before the sale: " << snapshot.at(1) << '\n';

  // In memory that the collector does not look through, as in a message, a handle keeps it alive.
  const posse::gc::handle<stock> for_a_message{all};
  std::cout << "articles: " << for_a_message.get().size() << '\n';
}
