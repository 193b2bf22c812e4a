// The inbox under controlled schedules: every letter arrives, once, in the
// order in which its sender sent it, with what the sender wrote.

#include "model_pool.hpp"

using namespace model;

namespace {

struct numbered {
  inbox_node node;
  plain<int> sender, number;
};

scenario mail(int senders, int each) {
  return [=](run& r) {
    basic_inbox<atomic> box;
    std::array<std::array<numbered, 3>, 3> all;
    std::array<int, 3> last{};
    int arrived = 0;
    inbox_list taken;
    auto read_all = [&] {
      box.take_all(taken);
      while (auto* node = taken.pop_front()) {
        auto& l = *static_cast<numbered*>(node->item.object);
        int sender = l.sender;
        int number = l.number;
        check(number == ++last[static_cast<std::size_t>(sender)], "not in the sender's order");
        ++arrived;
      }
    };
    for (int s = 0; s < senders; ++s)
      r.thread("sender " + std::to_string(s), [&, s] {
        for (int k = 0; k < each; ++k) {
          auto& l = all[static_cast<std::size_t>(s)][static_cast<std::size_t>(k)];
          l.node.item.object = &l;
          l.sender = s;
          l.number = k + 1;
          box.push(l.node);
        }
      });
    r.thread("owner", [&] {
      for (int i = 0; i < 3; ++i)
        if (!box.empty())
          read_all();
    });
    r.go();
    read_all();
    check(arrived == senders * each, "a letter is lost");
    check(box.empty(), "not empty after all was taken");
  };
}

} // namespace

TEST_CASE("inbox: letters arrive once and in order") {
  verify("inbox, 1 sender", mail(1, 3), {.preemptions = 3});
  verify("inbox, 2 senders", mail(2, 2));
  verify("inbox, 3 senders", mail(3, 1));
}
