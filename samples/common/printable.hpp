#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace samples {

/// `text` fit for a terminal: blanks at both ends dropped, tabs and other control characters and
/// everything that is not UTF-8 replaced, cut at `columns` characters with an ellipsis.
[[nodiscard]] std::string printable(std::string_view text,
                                    std::size_t columns = std::string_view::npos);

} // namespace samples
