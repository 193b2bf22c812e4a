#include "logged_aout.hpp"

#include <basal/executors/report.hpp>

#include <caf/actor_companion.hpp>
#include <caf/actor_ostream.hpp>
#include <caf/actor_system.hpp>
#include <caf/group.hpp>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace basal::actors {

namespace {

using executors::report_level;

// CAF takes what begins with a colon for the name of a group.
const std::string group_name = ":basal.log";

// A line that no program prints: when the member gets it, all lines before it are out.
constexpr std::string_view mark = "\x04 basal.log \x04";

constexpr auto answers_within = std::chrono::seconds{10};

constinit executors::report_kind reports_of_caf{report_level::warning, "basal.actors",
                                                "what CAF reports"};

void log_line(std::string_view line) {
  constexpr std::string_view of_caf = "*** ";
  if (line.starts_with(of_caf))
    reports_of_caf(line.substr(of_caf.size()));
  else
    executors::report(report_level::info, "aout", line);
}

/// `text` holds what was printed up to an end of line or a flush.
void log_lines(std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    log_line(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

caf::actor_companion* companion(const caf::actor& member) {
  return caf::actor_cast<caf::actor_companion*>(member);
}

} // namespace

void logged_aout::start(caf::actor_system& system) {
  member_ = system.spawn<caf::actor_companion, caf::hidden>();
  auto* member = companion(member_);
  member->on_enqueue([this](caf::mailbox_element_ptr letter) {
    auto& content = letter->content(); // (group's name, text)
    if (!content.match_elements<std::string, std::string>())
      return;
    const auto& text = content.get_as<std::string>(1);
    if (text.starts_with(mark))
      (redirected_.is_set() ? drained_ : redirected_).set();
    else
      log_lines(text);
  });
  group_ = system.groups().get_local(group_name);
  member->join(group_);
  caf::actor_ostream::redirect_all(system, group_name);
  // Of its own, whatever the program redirects later.
  caf::actor_ostream::redirect(member, group_name);
  if (!print_mark(redirected_))
    throw std::runtime_error("CAF's printer does not answer, so basal.log-aout cannot be had");
}

void logged_aout::drain() {
  print_mark(drained_);
}

/// @returns whether it was printed, and so all that was sent to the printer before.
bool logged_aout::print_mark(executors::event& seen) {
  caf::aout(companion(member_)) << std::string{mark} << std::endl;
  return seen.wait_until(std::chrono::steady_clock::now() + answers_within);
}

void logged_aout::stop() {
  auto* member = companion(member_);
  member->leave(group_);
  member->on_enqueue({}); // CAF 0.17.6 declares disconnect(), and has none
  group_ = caf::invalid_group;
  member_ = nullptr;
}

} // namespace basal::actors
