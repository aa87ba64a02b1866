#pragma once
#include <string>
#include <vector>

#include "results/store.h"

namespace loopbrick {

/// Ids and texts of the invented database below.
inline constexpr const char* kFixtureMachine = "amd-epyc-f26m2 2c1s l2-1024k l3-32m avx512";
inline constexpr const char* kFixtureBuild = "0.1.0 abc1234 g++-12.2.0 release gen1";
inline constexpr const char* kFixtureConditions = "t2 avx512 warm";

MachineRecord fixture_machine();
BuildRecord fixture_build();
CampaignRecord fixture_campaign(std::string command);

/// A good search trial with three samples, under `campaign`.
TrialRecord fixture_trial(std::int64_t campaign, std::string choice, double seconds);

/// Invented but plausible results of a tune and a compare of the ResNet-50 convolutions, one
/// campaign each per pass; the peers are `others`. For tests of queries, pages and plots.
void write_fixture(Store& store, const std::vector<std::string>& passes,
                   const std::vector<std::string>& others);

}  // namespace loopbrick
