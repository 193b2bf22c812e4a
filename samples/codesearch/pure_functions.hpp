#pragma once

#include <basal/posse/pure.hpp>

#include <cstdint>

#include "build.hpp"
#include "catalog.hpp"
#include "search.hpp"

namespace codesearch {

/// The include graph of some files, as far as answers need it.
struct ranking {
  file_ranks ranks;
  std::uint64_t files = 0;
  std::uint64_t includes = 0; ///< edges
};

/// The heavy work, as declared pure functions: the actors call or offload these, and idle compute
/// executors steal from them. The names are those in the statistics.
[[nodiscard]] segment_ptr index_batch(basal::posse::member& m, const text_batch& batch,
                                      const stop_flag& stop);
[[nodiscard]] segment_ptr merge_to_one(basal::posse::member& m,
                                       const std::vector<segment_ptr>& segments,
                                       const stop_flag& stop);
[[nodiscard]] ranking rank_files(basal::posse::member& m, const std::vector<segment_ptr>& segments,
                                 const stop_flag& stop);

inline constexpr basal::posse::pure<index_batch> pure_index_batch{"index_batch"};
inline constexpr basal::posse::pure<merge_to_one> pure_merge_to_one{"merge_to_one"};
inline constexpr basal::posse::pure<rank_files> pure_rank_files{"rank_files"};
inline constexpr basal::posse::pure<search> pure_search{"search"};

} // namespace codesearch
