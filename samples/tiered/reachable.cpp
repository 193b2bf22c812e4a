#include "reachable.hpp"

namespace tiered {

namespace {

void collect(const node& e, std::vector<bool>& seen, std::vector<std::uint32_t>& found) {
  if (e.is == node::kind::call && !seen[e.callee]) {
    seen[e.callee] = true;
    found.push_back(e.callee);
  }
  for (const node_ptr& child : e.children)
    collect(*child, seen, found);
}

} // namespace

std::vector<std::uint32_t> reachable(const program& p, std::uint32_t entry) {
  std::vector<bool> seen(p.functions.size());
  std::vector<std::uint32_t> found{entry};
  seen[entry] = true;
  for (std::size_t i = 0; i < found.size(); ++i)
    collect(*p.functions[found[i]].body, seen, found);
  return found;
}

} // namespace tiered
