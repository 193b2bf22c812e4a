#pragma once

// All algorithms.

#include <basal/posse/algorithm/accumulate.hpp>
#include <basal/posse/algorithm/any_of.hpp>
#include <basal/posse/algorithm/filter.hpp>
#include <basal/posse/algorithm/find_if.hpp>
#include <basal/posse/algorithm/for_each.hpp>
#include <basal/posse/algorithm/for_each_chunk.hpp>
#include <basal/posse/algorithm/map.hpp>
#include <basal/posse/algorithm/merge.hpp>
#include <basal/posse/algorithm/min_max.hpp>
#include <basal/posse/algorithm/reduce.hpp>
#include <basal/posse/algorithm/scan.hpp>
#include <basal/posse/algorithm/sort.hpp>
#include <basal/posse/algorithm/stable_sort.hpp>
#include <basal/posse/algorithm/zip.hpp>
