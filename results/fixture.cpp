#include "results/fixture.h"

#include <cmath>
#include <fmt/format.h>

namespace loopbrick {

namespace {

constexpr double kPeak = 410e9;
constexpr int kRounds = 9;

struct Layer {
  int number, c, k, h, r, stride, pad, count;
};
constexpr Layer kLayers[] = {
    {1, 3, 64, 224, 7, 2, 3, 1},     {2, 64, 256, 56, 1, 1, 0, 4},
    {3, 64, 64, 56, 1, 1, 0, 1},     {4, 64, 64, 56, 3, 1, 1, 3},
    {5, 256, 64, 56, 1, 1, 0, 2},    {6, 256, 512, 56, 1, 2, 0, 1},
    {7, 256, 128, 56, 1, 2, 0, 1},   {8, 128, 128, 28, 3, 1, 1, 4},
    {9, 128, 512, 28, 1, 1, 0, 4},   {10, 512, 128, 28, 1, 1, 0, 3},
    {11, 512, 1024, 28, 1, 2, 0, 1}, {12, 512, 256, 28, 1, 2, 0, 1},
    {13, 256, 256, 14, 3, 1, 1, 6},  {14, 256, 1024, 14, 1, 1, 0, 6},
    {15, 1024, 256, 14, 1, 1, 0, 5}, {16, 1024, 2048, 14, 1, 2, 0, 1},
    {17, 1024, 512, 14, 1, 2, 0, 1}, {18, 512, 512, 7, 3, 1, 1, 3},
    {19, 512, 2048, 7, 1, 1, 0, 3},  {20, 2048, 512, 7, 1, 1, 0, 2},
};

int pixels(const Layer& layer) { return layer.h / layer.stride; }

std::string problem_of(const Layer& layer, const std::string& pass) {
  return fmt::format("conv {} f32 mb2ic{}ih{}oc{}oh{}kh{}sh{}ph{}", pass, layer.c, layer.h, layer.k,
                     pixels(layer), layer.r, layer.stride, layer.pad);
}

double flops_of(const Layer& layer) {
  return 2.0 * 2 * layer.k * layer.c * pixels(layer) * pixels(layer) * layer.r * layer.r;
}

/// Share of the peak, by name and layer: enough structure that figures look like figures.
double efficiency(const std::string& name, const Layer& layer) {
  const double wave = 0.03 * std::sin(1.7 * layer.number);
  if (name == "loopbrick") return 0.95 + wave + (layer.r == 3 ? 0.06 : 0.0);
  if (name == "onednn") return 0.92 - wave;
  if (name == "onednn-nhwc") return 0.86 + 2 * wave;
  if (name == "im2col") return (layer.r == 1 && layer.stride == 1 ? 0.8 : 0.45) + wave;
  if (name == "small-gemm") return 0.55 + wave + 0.01 * layer.number;
  return 0.4 + wave;
}

Measured measured(int n, double seconds, int processes) {
  return {.n = n,
          .median = seconds,
          .lo = seconds * 0.985,
          .hi = seconds * 1.02,
          .min = seconds * 0.98,
          .processes = processes};
}

TrialRecord blank_trial(std::int64_t campaign, const Layer& layer, const std::string& pass) {
  TrialRecord trial;
  trial.campaign = campaign;
  trial.problem = problem_of(layer, pass);
  trial.implementation = "loopbrick";
  trial.machine = kFixtureMachine;
  trial.conditions = kFixtureConditions;
  trial.build = kFixtureBuild;
  trial.flops = flops_of(layer);
  trial.executed_flops = trial.flops * (layer.r == 3 ? 0.92 : 1.0);
  trial.ran = "avx512 6x64";
  trial.volatile_facts = "load=0.10 pinned=0,1";
  return trial;
}

void add_search_trials(Store& store, std::int64_t campaign, const Layer& layer,
                       const std::string& pass) {
  const double fastest = flops_of(layer) / kPeak / efficiency("loopbrick", layer);
  for (int i = 0; i < 6; ++i) {
    TrialRecord trial = blank_trial(campaign, layer, pass);
    trial.choice = fmt::format("N k64 p q14 @ c{} * c r s", 8 << i);
    trial.search = measured(3, fastest * (1.0 + 0.04 * ((i + layer.number) % 6)), 1);
    trial.predicted = fastest * (0.97 + 0.05 * ((i + 2 * layer.number) % 6));
    for (int call = 0; call < 3; ++call) {
      trial.samples.push_back({.start = 100.0 * layer.number + i + 0.1 * call,
                               .seconds = trial.search.median * (0.99 + 0.01 * call),
                               .order = call});
    }
    store.add_trial(trial);
  }
  TrialRecord failed = blank_trial(campaign, layer, pass);
  failed.choice = "N k64 p7 q7 @ c64 * c r s";
  failed.outcome = layer.number % 2 == 0 ? "wrong_result" : "timed_out";
  failed.reason =
      layer.number % 2 == 0 ? "y[0][3][0][5] is 2.5, expected 2.25" : "no answer for 5 s";
  if (layer.number % 3 == 0) store.add_trial(failed);
}

std::int64_t add_confirmed(Store& store, std::int64_t campaign, const Layer& layer,
                           const std::string& pass, const std::string& name, int place) {
  TrialRecord trial = blank_trial(campaign, layer, pass);
  const double seconds = trial.flops / kPeak / efficiency(name, layer);
  trial.implementation = name;
  trial.choice = name == "loopbrick" ? "N k64 p q14 @ c64 * c r s" : "";
  trial.ran = name == "onednn" ? "brgconv:avx512_core" : trial.ran;
  if (name != "loopbrick") trial.executed_flops = 0.0;
  if (name.starts_with("onednn")) trial.version = "2.6.3";
  trial.confirmed = measured(kRounds, seconds, 3);
  trial.peak_flops = kPeak * (1.0 + 0.002 * (layer.number % 3));
  for (int round = 0; round < kRounds; ++round) {
    const int order = (place + round) % 6;
    trial.samples.push_back({.start = 5000.0 + 100 * layer.number + round + 0.1 * order,
                             .seconds = seconds * (0.98 + 0.005 * ((round * 5 + place) % kRounds)),
                             .calls = 20,
                             .round = round,
                             .process = round / 3,
                             .order = order,
                             .confirming = true});
  }
  return store.add_trial(trial);
}

void add_comparisons(Store& store, std::int64_t campaign, const Layer& layer,
                     const std::string& pass, const std::vector<std::string>& others) {
  const std::int64_t ours = add_confirmed(store, campaign, layer, pass, "loopbrick", 0);
  int place = 0;
  for (const std::string& name : others) {
    const std::int64_t other = add_confirmed(store, campaign, layer, pass, name, ++place);
    const double ratio = efficiency("loopbrick", layer) / efficiency(name, layer);
    store.add_comparison({.campaign = campaign,
                          .trial = ours,
                          .other = other,
                          .ratio = ratio,
                          .lo = ratio * 0.99,
                          .hi = ratio * 1.01,
                          .rounds = kRounds,
                          .verdict = ratio > 1.02   ? "FASTER"
                                     : ratio < 0.98 ? "SLOWER"
                                                    : "SAME"});
  }
}

/// The fourth layer again, by a later build that is a little slower and twice by a noisy hand.
void add_later_build(Store& store, const std::string& pass) {
  BuildRecord build = fixture_build();
  build.id = "0.1.1 def5678 g++-12.2.0 release gen1";
  build.commit = "def5678";
  store.add_build(build);
  CampaignRecord later = fixture_campaign("loopbrick run --dir " + pass);
  later.build = build.id;
  const auto campaign = store.add_campaign(later);
  for (const double slower : {1.02, 1.08}) {
    TrialRecord trial = blank_trial(campaign, kLayers[3], pass);
    trial.choice = "N k64 p q14 @ c64 * c r s";
    trial.build = build.id;
    const double seconds =
        slower * trial.flops / kPeak / efficiency(trial.implementation, kLayers[3]);
    trial.confirmed = measured(1, seconds, 1);
    trial.peak_flops = kPeak;
    trial.samples.push_back({.start = 9000.0 + slower, .seconds = seconds, .confirming = true});
    store.add_trial(trial);
  }
  store.end_campaign(campaign, "done");
}

}  // namespace

MachineRecord fixture_machine() {
  return {.id = kFixtureMachine,
          .cpu = "AMD EPYC 9B45 family 26 model 2",
          .isa = "avx512",
          .cores = 2,
          .threads = 4,
          .sockets = 1,
          .l1d_bytes = 49152,
          .l2_bytes = 1 << 20,
          .l3_bytes = 32 << 20,
          .memory_bytes = std::int64_t{16} << 30};
}

BuildRecord fixture_build() {
  return {.id = kFixtureBuild,
          .version = "0.1.0",
          .commit = "abc1234",
          .compiler = "g++-12.2.0",
          .build_type = "release",
          .generator = 1};
}

CampaignRecord fixture_campaign(std::string command) {
  return {.command = std::move(command),
          .machine = kFixtureMachine,
          .build = kFixtureBuild,
          .strategy = "model",
          .budget = "60s",
          .trust = "B",
          .warnings = "frequency not fixed",
          .seed = 18446744073709551615ULL,
          .peak_flops = kPeak,
          .clock_hz = 4.1e9,
          .noise_floor = 0.008};
}

TrialRecord fixture_trial(std::int64_t campaign, std::string choice, double seconds) {
  TrialRecord trial = blank_trial(campaign, kLayers[3], "fwd");
  trial.choice = std::move(choice);
  trial.search = measured(3, seconds, 1);
  for (int i = 0; i < 3; ++i)
    trial.samples.push_back({.start = 1.0 + i, .seconds = seconds, .order = i});
  return trial;
}

void write_fixture(Store& store, const std::vector<std::string>& passes,
                   const std::vector<std::string>& others) {
  store.add_machine(fixture_machine());
  store.add_build(fixture_build());
  for (const std::string& pass : passes) {
    const auto tune =
        store.add_campaign(fixture_campaign("loopbrick tune --suite resnet50 --dir " + pass));
    const auto compare =
        store.add_campaign(fixture_campaign("loopbrick compare --suite resnet50 --dir " + pass));
    for (const Layer& layer : kLayers) {
      store.add_layer({.suite = "resnet50",
                       .layer = std::to_string(layer.number),
                       .problem = problem_of(layer, pass),
                       .count = layer.count});
      store.add_space({.problem = problem_of(layer, pass),
                       .machine = kFixtureMachine,
                       .conditions = kFixtureConditions,
                       .schedules = 2000});
      add_search_trials(store, tune, layer, pass);
      add_comparisons(store, compare, layer, pass, others);
    }
    store.end_campaign(tune, "done");
    store.end_campaign(compare, "done");
    add_later_build(store, pass);
  }
}

}  // namespace loopbrick
