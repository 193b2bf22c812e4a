#pragma once

#include <cstddef>

namespace basal::posse {

class member;
class right_continuation;
class runtime;
class task_group;
struct call_options;
struct posse_stats;
struct runtime_config;

template <auto Function>
class pure;

namespace detail {

class computation;
class computation_dump;
class delegation;
class divisible_range;
class divisible_search;
class memory_context;
class shared_range;
struct parcel;
struct executor_cells;

template <class Iterator, class Less>
class quicksort;

template <class Value, class Tree>
class reduction;

template <class Place>
class short_range;

template <class Body, class Result>
Result call_body(member& m, void* body, std::size_t first, std::size_t last);

} // namespace detail

} // namespace basal::posse
