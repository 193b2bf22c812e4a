#pragma once

// The front door: choosers, the families that they share, and their knobs.

#include <basal/mab/calibration.hpp>
#include <basal/mab/chooser.hpp>
#include <basal/mab/explain.hpp>
#include <basal/mab/family.hpp>
#include <basal/mab/family_table.hpp>
#include <basal/mab/function_key.hpp>
#include <basal/mab/grant.hpp>
#include <basal/mab/hints.hpp>
#include <basal/mab/knobs.hpp>
#include <basal/mab/newcomers.hpp>
#include <basal/mab/random.hpp>
#include <basal/mab/rate_meter.hpp>
