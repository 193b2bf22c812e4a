// Not a program: each MISUSE is a mistake that must not compile, with a sentence
// that says what to do instead. Without one it compiles.

#include <basal/posse/gc/gc.hpp>
#include <basal/posse/ord_map.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gc = basal::posse::gc;
using basal::posse::ord_map;

struct content {
  gc::ptr<int> number;
  gc::string text;
};

// How a message is looked through, by CAF and by others: all its fields.
struct inspector {
  template <class T>
  bool apply(T& field) {
    return inspect(*this, field);
  }
};

bool inspect(inspector&, gc::handle<gc::ptr<content>>&) {
  return true;
}

int main() {
  inspector look;
  gc::handle handle{gc::make<content>(gc::make<int>(1), gc::string{"text"})};
  look.apply(handle);
  std::vector<gc::handle<gc::ptr<content>>> handles{handle};
#if MISUSE == 1
  auto pointer = gc::make<int>(1);
  look.apply(pointer);
#elif MISUSE == 2
  ord_map<int, int> map;
  look.apply(map);
#elif MISUSE == 3
  std::vector<gc::ptr<int>> pointers;
#elif MISUSE == 4
  ord_map<std::string, int> map;
#elif MISUSE == 5
  std::map<int, gc::ptr<int>> pointers;
#elif MISUSE == 6
  std::vector<gc::string> texts;
  texts.push_back({});
#elif MISUSE == 7
  auto pointer = std::make_unique<gc::ptr<int>>();
#elif MISUSE == 8
  auto* text = new gc::string{"text"};
#endif
}
