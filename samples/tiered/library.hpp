#pragma once

#include <basal/priority/tiering.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "code.hpp"
#include "syntax.hpp"

namespace tiered {

/// A function as the compilers see it.
struct hot_function {
  const program* source = nullptr;
  std::uint32_t index = 0;
};

/// Functions that are compiled in the background while they are called.
using function_tiers = basal::priority::tiering<hot_function, code>;

/// A program that is being served. Any thread.
class script {
public:
  /// @param compiled outlives the script
  script(std::string name, program p, function_tiers& compiled);

  script(const script&) = delete;
  script& operator=(const script&) = delete;

  [[nodiscard]] const std::string& name() const noexcept {
    return name_;
  }

  [[nodiscard]] const program& source() const noexcept {
    return source_;
  }

  struct choice {
    std::size_t tier;
    const code* what;
  };

  /// Counts one call of a function by a client, and tells what to run for it.
  [[nodiscard]] choice call(std::uint32_t function);

  [[nodiscard]] const function_tiers::entry& entry(std::uint32_t function) const {
    return *functions_[function].tiers;
  }

private:
  struct served {
    std::unique_ptr<const code> tree_walk;
    function_tiers::entry* tiers;
  };

  std::string name_;
  program source_;
  std::vector<served> functions_;
};

/// All programs and what compiles them. Built before the first request; does not change then.
class library {
public:
  /// @param pool where compilations run; outlives the library
  library(basal::priority::background_pool& pool, basal::priority::tiering_config config);

  /// Reads a program. @throws source_error with the place; std::runtime_error when another one has
  ///         this name
  void add(std::string name, std::string_view text);

  [[nodiscard]] const std::vector<std::unique_ptr<script>>& scripts() const noexcept {
    return scripts_;
  }

  /// Null if there is none of this name.
  [[nodiscard]] script* find(std::string_view name) const noexcept;

  /// Of tiers 1 and up.
  [[nodiscard]] std::vector<basal::priority::tier_stats> stats() const {
    return tiers_.stats();
  }

  /// Compilations that run now, and all that have begun.
  [[nodiscard]] std::uint64_t compiling() const noexcept {
    return compiling_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t begun() const noexcept {
    return begun_.load(std::memory_order_relaxed);
  }

private:
  std::unique_ptr<const code> compile_counted(const hot_function& f, std::size_t tier);

  // Statistics; nobody acts on them, so relaxed throughout.
  std::atomic<std::uint64_t> compiling_{0};
  std::atomic<std::uint64_t> begun_{0};
  std::vector<std::unique_ptr<script>> scripts_;
  // Destroyed first: it waits for compilations, which read the scripts.
  function_tiers tiers_;
};

} // namespace tiered
