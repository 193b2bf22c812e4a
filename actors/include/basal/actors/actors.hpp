#pragma once

// The front door: CAF actors on basal, and pure functions in their handlers.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/monitor.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/actors/shutdown.hpp>
#include <basal/actors/stats.hpp>
