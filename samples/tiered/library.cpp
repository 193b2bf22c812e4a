#include "library.hpp"

#include <stdexcept>
#include <utility>

#include "parser.hpp"

namespace tiered {

script::script(std::string name, program p, function_tiers& compiled)
  : name_(std::move(name)), source_(std::move(p)) {
  for (std::uint32_t i = 0; i < source_.functions.size(); ++i)
    functions_.push_back({compile(source_, i, 0), &compiled.add({&source_, i})});
}

script::choice script::call(std::uint32_t function) {
  const auto [tier, better] = functions_[function].tiers->execute();
  return {tier, better != nullptr ? better : functions_[function].tree_walk.get()};
}

library::library(basal::priority::background_pool& pool, basal::priority::tiering_config config)
  : tiers_(
    pool, [this](const hot_function& f, std::size_t tier) { return compile_counted(f, tier); },
    std::move(config)) {
}

void library::add(std::string name, std::string_view text) {
  if (find(name) != nullptr)
    throw std::runtime_error("there is a program named '" + name + "' already; rename the file");
  scripts_.push_back(std::make_unique<script>(std::move(name), parse_program(text), tiers_));
}

script* library::find(std::string_view name) const noexcept {
  for (const auto& s : scripts_)
    if (s->name() == name)
      return s.get();
  return nullptr;
}

std::unique_ptr<const code> library::compile_counted(const hot_function& f, std::size_t tier) {
  struct running {
    explicit running(std::atomic<std::uint64_t>& n) : count(n) {
      count.fetch_add(1, std::memory_order_relaxed);
    }
    ~running() {
      count.fetch_sub(1, std::memory_order_relaxed);
    }
    std::atomic<std::uint64_t>& count;
  };
  begun_.fetch_add(1, std::memory_order_relaxed);
  const running guard(compiling_);
  return compile(*f.source, f.index, tier);
}

} // namespace tiered
