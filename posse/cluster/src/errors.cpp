#include <basal/cluster/errors.hpp>

namespace basal::cluster {

std::string_view to_string(errc code) noexcept {
  switch (code) {
  case errc::malformed:
    return "malformed";
  case errc::other_version:
    return "other_version";
  case errc::damaged:
    return "damaged";
  case errc::too_large:
    return "too_large";
  case errc::not_a_journal:
    return "not_a_journal";
  case errc::other_batch:
    return "other_batch";
  case errc::journal_in_use:
    return "journal_in_use";
  case errc::journal_failed:
    return "journal_failed";
  case errc::bad_option:
    return "bad_option";
  case errc::no_server:
    return "no_server";
  case errc::refused:
    return "refused";
  case errc::engine_failed:
    return "engine_failed";
  case errc::too_few_servers:
    return "too_few_servers";
  case errc::no_worker:
    return "no_worker";
  case errc::poisoned:
    return "poisoned";
  case errc::cancelled:
    return "cancelled";
  }
  return "unknown";
}

} // namespace basal::cluster
