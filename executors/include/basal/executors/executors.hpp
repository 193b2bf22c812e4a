#pragma once

// The front door: pools of executors and what runs on them.

#include <basal/executors/completion.hpp>
#include <basal/executors/config.hpp>
#include <basal/executors/event.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/executors/hand_over.hpp>
#include <basal/executors/report.hpp>
#include <basal/executors/sequential_scope.hpp>
#include <basal/executors/stats.hpp>
#include <basal/executors/work_item.hpp>
