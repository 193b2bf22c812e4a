#include "skips.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace codesearch {

std::string_view to_string(skip_reason reason) noexcept {
  switch (reason) {
  case skip_reason::not_permitted:
    return "no permission";
  case skip_reason::vanished:
    return "vanished meanwhile";
  case skip_reason::binary:
    return "binary";
  case skip_reason::special_file:
    return "not a regular file";
  case skip_reason::name_too_long:
    return "path too long";
  case skip_reason::read_error:
    return "read error";
  case skip_reason::grew:
    return "grew meanwhile, indexed up to its earlier size";
  case skip_reason::symlink:
    return "symbolic link, not followed";
  }
  return "unknown";
}

void skip_log::add(skip_reason reason, std::string path, std::string detail) {
  const auto r = static_cast<std::size_t>(reason);
  ++counts_[r];
  if (reason != skip_reason::symlink && listed_[r] < listed_per_reason) {
    ++listed_[r];
    items_.push_back({reason, std::move(path), std::move(detail)});
  }
}

void skip_log::add_error(int error_number, std::string path) {
  switch (error_number) {
  case EACCES:
  case EPERM:
    return add(skip_reason::not_permitted, std::move(path));
  case ENOENT:
  case ENOTDIR:
  case ESTALE:
    return add(skip_reason::vanished, std::move(path));
  case ENAMETOOLONG:
    return add(skip_reason::name_too_long, std::move(path));
  case ELOOP: // opened with O_NOFOLLOW: it became a link after the walk saw a file
    return add(skip_reason::vanished, std::move(path), "replaced by a symbolic link");
  case EISDIR:
    return add(skip_reason::vanished, std::move(path), "replaced by a folder");
  case ENXIO:
    return add(skip_reason::special_file, std::move(path));
  default:
    return add(skip_reason::read_error, std::move(path),
               std::system_category().message(error_number));
  }
}

void skip_log::append(const skip_log& other) {
  for (const item& i : other.items_) {
    const auto r = static_cast<std::size_t>(i.reason);
    if (listed_[r] < listed_per_reason) {
      ++listed_[r];
      items_.push_back(i);
    }
  }
  for (std::size_t r = 0; r < skip_reasons; ++r) {
    counts_[r] += other.counts_[r];
  }
}

std::uint64_t skip_log::losses() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t r = 0; r < skip_reasons; ++r) {
    if (is_loss(static_cast<skip_reason>(r))) {
      sum += counts_[r];
    }
  }
  return sum;
}

} // namespace codesearch
