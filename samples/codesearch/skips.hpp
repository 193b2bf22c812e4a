#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codesearch {

/// Why something that the walk found is not in the index, or not as a whole.
enum class skip_reason : std::uint8_t {
  not_permitted, ///< no permission to open a file or to list a folder
  vanished,      ///< gone between the walk and the reading
  binary,        ///< a zero byte in its first 8 KiB
  special_file,  ///< a socket, a pipe or a device
  name_too_long, ///< the system does not take the whole path
  read_error,    ///< any other error, with the system's words
  grew,          ///< indexed up to the size that the walk saw
  symlink,       ///< not followed; counted and not listed
};

inline constexpr std::size_t skip_reasons = 8;

/// A few words for people, such as "no permission".
[[nodiscard]] std::string_view to_string(skip_reason reason) noexcept;

/// False for what is no loss: symbolic links are not followed, as `grep -r` has it, because
/// what they point to is found where it lies.
[[nodiscard]] constexpr bool is_loss(skip_reason reason) noexcept {
  return reason != skip_reason::symlink;
}

/// Counts what was skipped and remembers the first few by name. One owner, no locks.
class skip_log {
public:
  struct item {
    skip_reason reason;
    std::string path;
    std::string detail; ///< the system's words; empty if the reason says it all
  };

  /// How many items are kept by name, for each reason.
  static constexpr std::size_t listed_per_reason = 20;

  void add(skip_reason reason, std::string path, std::string detail = {});

  /// Adds for a failed system call; the reason follows from `error_number` (an errno).
  void add_error(int error_number, std::string path);

  void append(const skip_log& other);

  [[nodiscard]] std::uint64_t count(skip_reason reason) const noexcept {
    return counts_[static_cast<std::size_t>(reason)];
  }

  /// The sum over the reasons for which `is_loss` holds.
  [[nodiscard]] std::uint64_t losses() const noexcept;

  [[nodiscard]] const std::vector<item>& items() const noexcept {
    return items_;
  }

private:
  std::array<std::uint64_t, skip_reasons> counts_{};
  std::array<std::size_t, skip_reasons> listed_{};
  std::vector<item> items_;
};

} // namespace codesearch
