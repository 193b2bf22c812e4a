#pragma once

#include <string_view>

namespace basal::observer {

/// The page, as one HTML file; page/embed.cmake makes it of page/.
extern const std::string_view page;

/// Its Content-Security-Policy.
extern const std::string_view page_policy;

} // namespace basal::observer
