#include "walker.hpp"

#include "descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

namespace codesearch {

namespace {

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &::free);
  return real ? std::string(real.get()) : std::string();
}

// True if `path` is `folder` or lies below it; both without links and trailing slashes.
bool is_inside(std::string_view path, std::string_view folder) {
  return path.starts_with(folder)
         && (path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/');
}

std::string join(const std::string& folder, const char* name) {
  std::string path;
  const std::size_t name_bytes = std::char_traits<char>::length(name);
  path.reserve(folder.size() + 1 + name_bytes);
  path = folder;
  if (!path.ends_with('/')) {
    path += '/';
  }
  return path.append(name, name_bytes);
}

} // namespace

std::vector<std::string> distinct_roots(const std::vector<std::string>& paths,
                                        std::vector<bad_root>& bad) {
  struct root {
    std::string given;
    std::string real;
  };
  std::vector<root> roots;
  for (std::string path : paths) {
    while (path.size() > 1 && path.ends_with('/')) {
      path.pop_back();
    }
    std::string real = real_path(path);
    if (!real.empty()) {
      roots.push_back({std::move(path), std::move(real)});
      continue;
    }
    const int error = errno;
    const char* remedy = error == ENOENT || error == ENOTDIR ? "; give an existing folder or file"
                         : error == ELOOP  ? "; its symbolic links lead back to themselves"
                         : error == EACCES ? "; a folder on the way to it is closed to this user"
                                           : "";
    bad.push_back({path, std::system_category().message(error) + remedy});
  }
  std::vector<std::string> result;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    bool covered = false;
    for (std::size_t j = 0; j < roots.size() && !covered; ++j) {
      // Of two names for the same place the first one stays.
      const bool same = roots[i].real == roots[j].real;
      covered = same ? j < i : is_inside(roots[i].real, roots[j].real);
    }
    if (!covered) {
      result.push_back(roots[i].given);
    }
  }
  return result;
}

tree_walker::tree_walker(std::vector<std::string> roots) : roots_(std::move(roots)) {
  std::reverse(roots_.begin(), roots_.end());
}

bool tree_walker::step(std::size_t files, std::vector<found_file>& out) {
  const std::size_t enough = out.size() + files;
  do {
    if (!folders_to_list_.empty()) {
      const std::string folder = std::move(folders_to_list_.back());
      folders_to_list_.pop_back();
      list_folder(folder, out);
    } else if (!roots_.empty()) {
      std::string root = std::move(roots_.back());
      roots_.pop_back();
      open_root(std::move(root), out);
    }
  } while (out.size() < enough && !(folders_to_list_.empty() && roots_.empty()));
  return !(folders_to_list_.empty() && roots_.empty());
}

void tree_walker::open_root(std::string path, std::vector<found_file>& out) {
  struct ::stat info;
  if (::stat(path.c_str(), &info) != 0) {
    skips_.add_error(errno, std::move(path));
  } else if (S_ISDIR(info.st_mode)) {
    folders_to_list_.push_back(std::move(path));
  } else if (S_ISREG(info.st_mode)) {
    add_file(std::move(path), static_cast<std::uint64_t>(info.st_size), out);
  } else {
    skips_.add(skip_reason::special_file, std::move(path));
  }
}

void tree_walker::list_folder(const std::string& folder, std::vector<found_file>& out) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return skips_.add_error(errno, folder);
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(fd), &::closedir);
  if (!list) {
    const int error = errno;
    const descriptor closer(fd);
    return skips_.add_error(error, folder);
  }
  ++folders_;
  const std::size_t subfolders = folders_to_list_.size();
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(list.get());
    if (entry == nullptr) {
      if (errno != 0) {
        skips_.add_error(errno, folder);
      }
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") {
      continue;
    }
    if (entry->d_type == DT_LNK) {
      skips_.add(skip_reason::symlink, {});
      continue;
    }
    std::string path = join(folder, entry->d_name);
    if (entry->d_type == DT_DIR) {
      folders_to_list_.push_back(std::move(path));
      continue;
    }
    // Files need their size, and some file systems do not tell the type.
    struct ::stat info;
    if (::fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      skips_.add_error(errno, std::move(path));
    } else if (S_ISREG(info.st_mode)) {
      add_file(std::move(path), static_cast<std::uint64_t>(info.st_size), out);
    } else if (S_ISDIR(info.st_mode)) {
      folders_to_list_.push_back(std::move(path));
    } else if (S_ISLNK(info.st_mode)) {
      skips_.add(skip_reason::symlink, {});
    } else {
      skips_.add(skip_reason::special_file, std::move(path));
    }
  }
  std::reverse(folders_to_list_.begin() + static_cast<std::ptrdiff_t>(subfolders),
               folders_to_list_.end());
}

void tree_walker::add_file(std::string path, std::uint64_t bytes, std::vector<found_file>& out) {
  out.push_back({next_id_++, std::move(path), bytes});
}

} // namespace codesearch
