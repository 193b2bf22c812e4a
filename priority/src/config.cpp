#include <basal/priority/config.hpp>

#include <cmath>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <basal/priority/ordering.hpp>
#include <basal/priority/priority_queue.hpp>

namespace basal::priority {

namespace {

template <class T>
[[noreturn]] void refuse(std::string_view name, const T& value, std::string_view range) {
  std::ostringstream text;
  text << "basal: " << name << " is " << value << ", but must be " << range;
  throw std::invalid_argument(text.str());
}

void check_weight(std::string_view name, double value) {
  if (!(value >= 0) || std::isinf(value))
    refuse(name, value, "a finite number that is at least 0");
}

void check_count(std::string_view name, std::uint64_t value, std::uint64_t most) {
  if (value < 1 || value > most)
    refuse(name, value, "1 to " + std::to_string(most));
}

} // namespace

void weights::validate() const {
  for (const auto& [name, value] :
       {std::pair{"weights.runtime", runtime}, {"weights.decay", decay}})
    if (!(value >= 0 && value <= most)) // NaN is neither
      refuse(name, value, "from 0 to 1e12");
}

void queue_shape::validate() const {
  check_count("queue_shape.capacity", capacity, background_config::most_queued);
  check_count("queue_shape.parts", parts, most_parts);
  check_weight("queue_shape.slack", slack);
  check_count("queue_shape.refresh", refresh, UINT32_MAX);
}

void background_config::validate() const {
  order.validate();
  check_count("max_queued", max_queued, most_queued);
  if (patience.count() < 0)
    refuse("patience", patience.count(), "at least 0 ns");
  check_weight("slack", slack);
  check_count("max_types", max_types, most_types);
}

} // namespace basal::priority
