#include <basal/actors/log.hpp>

#include <basal/executors/report.hpp>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace basal::actors {

constinit std::array<std::atomic<spdlog::logger*>, log_module_count> detail::made_loggers{};

namespace {

using executors::report_level;

constexpr const char* level_names[]
  = {"unset", "trace", "debug", "info", "warn", "error", "critical", "off"};

constexpr spdlog::level::level_enum in_spdlog(log_level level) noexcept {
  return static_cast<spdlog::level::level_enum>(static_cast<int>(level) - 1);
}
static_assert(in_spdlog(log_level::trace) == spdlog::level::trace
              && in_spdlog(log_level::off) == spdlog::level::off);

spdlog::level::level_enum in_spdlog(report_level level) noexcept {
  static constexpr std::array levels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                     spdlog::level::err, spdlog::level::critical};
  return levels[static_cast<std::size_t>(level)];
}

/// The level for `name` in SPDLOG_LEVEL: "debug", or "info,basal.posse=debug". `spdlog::cfg` reads
/// the same, but sets the levels of all loggers, the program's own ones, too.
std::optional<spdlog::level::level_enum> level_in_environment(std::string_view name) {
  const char* text = std::getenv("SPDLOG_LEVEL");
  std::string_view rest = text != nullptr ? text : "";
  std::optional<spdlog::level::level_enum> of_all;
  std::optional<spdlog::level::level_enum> of_this;
  while (!rest.empty()) {
    const auto item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const auto assign = item.find('=');
    const auto word = std::string{assign == item.npos ? item : item.substr(assign + 1)};
    const auto level = spdlog::level::from_str(word);
    if (level == spdlog::level::off && word != "off")
      continue; // as in spdlog
    if (assign == item.npos)
      of_all = level;
    else if (item.substr(0, assign) == name)
      of_this = level;
  }
  return of_this ? of_this : of_all;
}

/// The logger that is registered as `name`, else a new one.
std::shared_ptr<spdlog::logger> find_or_make(const std::string& name) {
  static const auto& to_stderr
    = *new spdlog::sink_ptr{std::make_shared<spdlog::sinks::stderr_color_sink_mt>()};
  auto result = spdlog::get(name);
  while (result == nullptr) {
    result = std::make_shared<spdlog::logger>(name, to_stderr);
    try {
      spdlog::initialize_logger(result); // with the program's format and levels
      if (const auto level = level_in_environment(name))
        result->set_level(*level);
    } catch (const spdlog::spdlog_ex&) {
      result = spdlog::get(name); // another thread's
    }
  }
  return result;
}

using module_loggers = std::array<std::shared_ptr<spdlog::logger>, log_module_count>;

/// Never destroyed: what is destroyed after main() reports, too.
const module_loggers& loggers() {
  static const auto& result = *[] {
    auto made = std::make_unique<module_loggers>();
    for (std::size_t i = 0; i < log_module_count; ++i)
      (*made)[i] = find_or_make(log_names[i]);
    for (std::size_t i = 0; i < log_module_count; ++i)
      detail::made_loggers[i].store((*made)[i].get(), std::memory_order_release);
    return made.release();
  }();
  return result;
}

/// Of a module, or of a program that reports under a name of its own.
spdlog::logger& logger_named(std::string_view name) {
  for (const auto& each : loggers())
    if (each->name() == name)
      return *each;
  return *find_or_make(std::string{name});
}

/// The sink of reports.
void log_report(report_level level, std::string_view from, std::string_view text) noexcept {
  try {
    auto& to = logger_named(from);
    to.log(in_spdlog(level), spdlog::string_view_t{text.data(), text.size()});
    if (level >= report_level::warning) // the program may end soon
      to.flush();
  } catch (const std::exception&) {
    executors::report_to_stderr(level, from, text);
  }
}

} // namespace

const char* to_string(log_level level) noexcept {
  return level_names[static_cast<std::size_t>(level)];
}

spdlog::logger& logger_of(log_module module) noexcept {
  return *loggers()[static_cast<std::size_t>(module)];
}

void start_log(const log_options& options) {
  executors::replace_report_sink(&executors::report_to_stderr, &log_report);
  for (std::size_t i = 0; i < log_module_count; ++i) {
    const auto own = options.of[i];
    if (const auto level = own != log_level::unset ? own : options.level; level != log_level::unset)
      loggers()[i]->set_level(in_spdlog(level));
  }
  loggers(); // registered from now on, whatever the levels
}

} // namespace basal::actors
