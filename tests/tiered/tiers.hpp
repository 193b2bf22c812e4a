#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tiered/code.hpp"
#include "tiered/parser.hpp"

namespace tiered::test {

/// A function of a program in some or all tiers, each made when it is first used.
class all_tiers {
public:
  explicit all_tiers(std::string source, std::string_view name = "main", limits bounds = {})
    : program_(parse_program(source)), index_(program_.find(name).value()), machine_(bounds) {
  }

  const function& what() const {
    return program_.functions[index_];
  }

  outcome run(std::size_t tier, const std::vector<value>& arguments = {},
              std::function<void()> safepoint = {}) {
    if (!made_[tier])
      made_[tier] = compile(program_, index_, tier);
    return tiered::run(what(), *made_[tier], machine_, arguments, std::move(safepoint));
  }

  void set(limits bounds) {
    machine_ = machine(bounds);
  }

private:
  program program_;
  std::uint32_t index_;
  machine machine_;
  std::array<std::unique_ptr<const code>, tiers> made_;
};

/// The outcome so that two are equal if and only if the texts are: doubles as their bits.
inline std::string exactly(const outcome& o) {
  if (o.error)
    return to_string(o);
  return std::string(name_of(o.value.of)) + " " + std::to_string(o.value.v.i) + " (" + to_string(o)
         + ")";
}

} // namespace tiered::test
