#include "include_graph.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace codesearch {

namespace {

// A file with its includes takes about a microsecond to resolve: a fork is a fraction of a quantum.
constexpr std::size_t files_per_leaf = 64;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// The path up to the last dot of its file name, unless that dot is the name's first character.
std::string_view without_extension(std::string_view path) {
  const std::size_t name = path.rfind('/') + 1;
  const std::size_t dot = path.rfind('.');
  return dot == path.npos || dot <= name ? path : path.substr(0, dot);
}

// Number of whole folders that both paths begin with.
std::size_t shared_folders(std::string_view a, std::string_view b) {
  const auto [end, _] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(std::count(a.begin(), end, '/'));
}

using name_map = std::unordered_map<std::string_view, std::vector<std::uint32_t>>;

struct resolver {
  const catalog& files;
  name_map by_name;   // file name with its extension
  name_map by_module; // without

  explicit resolver(const catalog& f) : files(f) {
    by_name.reserve(f.size());
    by_module.reserve(f.size());
    for (std::uint32_t i = 0; i < f.size(); ++i) {
      const std::string_view path = f.path(i);
      by_name[file_name(path)].push_back(i);
      by_module[file_name(without_extension(path))].push_back(i);
    }
  }

  // The number of the file that `name` means in `includer`; files.size() if there is none.
  [[nodiscard]] std::uint32_t find(const include_name& name, std::string_view includer) const {
    const auto none = static_cast<std::uint32_t>(files.size());
    const name_map& map = name.module ? by_module : by_name;
    const auto candidates = map.find(file_name(name.name));
    if (candidates == map.end()) {
      return none;
    }
    const bool has_folders = name.name.find('/') != name.name.npos;
    if (!has_folders) {
      return nearest(candidates->second, includer, [](const std::string&) { return true; });
    }
    const std::uint32_t whole = nearest(candidates->second, includer, [&](const std::string& path) {
      return ends_with_name(path, name);
    });
    if (whole != none) {
      return whole;
    }
    std::size_t longest = 1;
    for (const std::uint32_t c : candidates->second) {
      longest = std::max(longest, shared_suffix(name.name, files.path(c), name.module));
    }
    if (longest == 1) { // the file name alone says too little
      return none;
    }
    return nearest(candidates->second, includer, [&](const std::string& path) {
      return shared_suffix(name.name, path, name.module) == longest;
    });
  }

  // The whole name with its folders: nearly all names that match at all.
  static bool ends_with_name(std::string_view path, const include_name& name) {
    if (name.module) {
      path = without_extension(path);
    }
    return path.ends_with(name.name)
           && (path.size() == name.name.size() || path[path.size() - name.name.size() - 1] == '/');
  }

  // Of the candidates that fit, the one in the nearest folder, then with the shortest path.
  template <class Fits>
  [[nodiscard]] std::uint32_t nearest(const std::vector<std::uint32_t>& candidates,
                                      std::string_view includer, Fits fits) const {
    const auto none = static_cast<std::uint32_t>(files.size());
    std::uint32_t best = none;
    std::size_t best_folders = 0;
    for (const std::uint32_t c : candidates) {
      const std::string& path = files.path(c);
      if (!fits(path)) {
        continue;
      }
      const std::size_t folders = shared_folders(includer, path);
      if (best == none || folders > best_folders
          || (folders == best_folders && shorter(path, files.path(best)))) {
        best = c;
        best_folders = folders;
      }
    }
    return best;
  }

  static bool shorter(const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

std::vector<include_graph::edge> resolve(basal::posse::member& m, const resolver& r,
                                         std::size_t first, std::size_t last,
                                         const stop_flag& stop) {
  std::vector<include_graph::edge> edges;
  if (last - first <= files_per_leaf) {
    if (stop.load(std::memory_order_relaxed)) {
      throw stopped{};
    }
    for (std::size_t i = first; i < last; ++i) {
      for (const file_part* part : r.files.parts(i)) {
        for (const include_name& name : part->includes) {
          const std::uint32_t target = r.find(name, part->path);
          if (target != r.files.size()) {
            edges.emplace_back(static_cast<std::uint32_t>(i), target);
          }
        }
      }
    }
    return edges;
  }
  const std::size_t middle = first + (last - first + 1) / 2;
  auto [left, right] = m.fork_merge(
    [&](basal::posse::member& branch) { return resolve(branch, r, first, middle, stop); },
    [&](basal::posse::member& branch) { return resolve(branch, r, middle, last, stop); });
  left.insert(left.end(), right.begin(), right.end());
  return std::move(left);
}

} // namespace

include_graph::include_graph(std::size_t files, std::vector<edge> edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  starts_.reserve(files + 1);
  targets_.reserve(edges.size());
  auto at = edges.begin();
  for (std::uint32_t file = 0; file < files; ++file) {
    starts_.push_back(targets_.size());
    for (; at != edges.end() && at->first == file; ++at) {
      if (at->second != file) {
        targets_.push_back(at->second);
      }
    }
  }
  starts_.push_back(targets_.size());
}

std::size_t shared_suffix(std::string_view name, std::string_view path, bool module) {
  if (module) {
    path = without_extension(path);
  }
  std::size_t components = 0;
  for (;;) {
    const std::size_t name_at = name.rfind('/') + 1; // npos + 1 is 0
    const std::size_t path_at = path.rfind('/') + 1;
    if (name.substr(name_at) != path.substr(path_at)) {
      return components;
    }
    ++components;
    if (name_at == 0 || path_at == 0) {
      return components;
    }
    name = name.substr(0, name_at - 1);
    path = path.substr(0, path_at - 1);
  }
}

include_graph resolve_includes(basal::posse::member& m, const catalog& files,
                               const stop_flag& stop) {
  const resolver r(files);
  return include_graph(files.size(), resolve(m, r, 0, files.size(), stop));
}

} // namespace codesearch
