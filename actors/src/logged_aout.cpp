#include "logged_aout.hpp"

#include <basal/executors/report.hpp>

#include <caf/actor_companion.hpp>
#include <caf/actor_ostream.hpp>
#include <caf/actor_system.hpp>
#include <caf/group.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace basal::actors {

namespace {

using executors::report_level;

// CAF takes what begins with a colon for the name of a group.
const std::string group_name = ":basal.log";

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

} // namespace

void logged_aout::start(caf::actor_system& system) {
  member_ = system.spawn<caf::actor_companion, caf::hidden>();
  auto* member = caf::actor_cast<caf::actor_companion*>(member_);
  member->on_enqueue([](caf::mailbox_element_ptr letter) {
    auto& content = letter->content(); // (group's name, text)
    if (content.match_elements<std::string, std::string>())
      log_lines(content.get_as<std::string>(1));
  });
  member->join(system.groups().get_local(group_name));
  caf::actor_ostream::redirect_all(system, group_name);
}

void logged_aout::stop(caf::actor_system& system) {
  auto* member = caf::actor_cast<caf::actor_companion*>(member_);
  member->leave(system.groups().get_local(group_name));
  member->on_enqueue({}); // CAF 0.17.6 declares disconnect(), and has none
  member_ = nullptr;
}

} // namespace basal::actors
