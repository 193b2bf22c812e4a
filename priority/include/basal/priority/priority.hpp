#pragma once

#include <basal/priority/background_pool.hpp>
#include <basal/priority/evaluation.hpp>
#include <basal/priority/priority_queue.hpp>
#include <basal/priority/runtime_tracker.hpp>
#include <basal/priority/tiering.hpp>
