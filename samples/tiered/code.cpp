#include "code.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bytecode.hpp"
#include "native.hpp"
#include "optimise.hpp"
#include "tree_walk.hpp"

namespace tiered {

const char* tier_name(std::size_t tier) noexcept {
  constexpr const char* names[tiers] = {"tree", "bytecode", "optimised", "native"};
  return tier < tiers ? names[tier] : "none";
}

std::unique_ptr<const code> compile(const program& p, std::uint32_t function, std::size_t tier) {
  switch (tier) {
  case 0:
    return make_tree_walk(p, function);
  case 1:
    return make_bytecode(p, function, dialect::plain);
  case 2:
    return make_bytecode(optimise(p, function), function, dialect::fused);
  case 3:
    return make_native(p, function);
  default:
    throw std::logic_error("there is no tier " + std::to_string(tier));
  }
}

outcome run(const function& f, const code& c, machine& m, std::span<const value> arguments,
            std::function<void()> safepoint) {
  outcome o;
  m.begin(std::move(safepoint));
  o.value.of = f.result;
  const std::int64_t stack_left = m.bounds().stack_bytes - f.weight;
  if (stack_left < 0)
    m.fail(fault::recursion_too_deep, f.where);
  else
    o.value.v = c.run(m, stack_left, arguments);
  if (m.failed != fault::none) {
    m.rethrow();
    o.error = failure{m.failed, m.where};
  } else if (f.result == type::real && std::isnan(o.value.v.d)) {
    o.value.v.d = std::numeric_limits<double>::quiet_NaN();
  }
  return o;
}

} // namespace tiered
