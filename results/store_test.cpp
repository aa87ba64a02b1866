#include "results/store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "results/fixture.h"
#include "results/test_folder.h"

namespace loopbrick {
namespace {

/// A new database with a machine, a build and one campaign.
class StoreTest : public TestFolder {
 protected:
  StoreTest() : file(path("results.db")), store(file, Access::write) {
    store.add_machine(fixture_machine());
    store.add_build(fixture_build());
    campaign = store.add_campaign(fixture_campaign("loopbrick tune"));
  }

  std::int64_t add(const std::string& choice, double seconds) {
    return store.add_trial(fixture_trial(campaign, choice, seconds));
  }
  std::int64_t add_confirmed(const std::string& choice, double seconds) {
    TrialRecord trial = fixture_trial(campaign, choice, seconds);
    trial.confirmed = {
        .n = 9, .median = seconds, .lo = seconds, .hi = seconds, .min = seconds, .processes = 3};
    return store.add_trial(trial);
  }
  Store::Key key() const {
    const TrialRecord trial = fixture_trial(campaign, "", 1.0);
    return {trial.problem, trial.implementation, trial.machine, trial.conditions, trial.build};
  }
  std::string value(const std::string& sql) const {
    return store.query(sql).rows.at(0).at(0).value_or("NULL");
  }

  std::filesystem::path file;
  Store store;
  std::int64_t campaign = 0;
};

TEST_F(StoreTest, GivesBackEveryFieldOfATrial) {
  TrialRecord in = fixture_trial(campaign, "N k64 @ c64", 2e-3);
  in.outcome = "crashed";
  in.reason = "SIGSEGV";
  in.search = {.n = 1, .median = 2, .lo = 3, .hi = 4, .min = 5, .processes = 6};
  in.confirmed = {.n = 11, .median = 12, .lo = 13, .hi = 14, .min = 15, .processes = 16};
  in.flops = 21, in.executed_flops = 22, in.peak_flops = 23, in.predicted = 24,
  in.prepare_seconds = 25;
  in.workspace_bytes = std::int64_t{1} << 40;
  in.ran = "a", in.included = "b", in.flag = "c", in.version = "d", in.volatile_facts = "e=1";
  in.samples = {{.start = 1,
                 .seconds = 2,
                 .calls = 3,
                 .round = 4,
                 .process = 5,
                 .order = 6,
                 .confirming = true},
                {.start = 7, .seconds = 8, .calls = 9, .round = 10, .process = 11, .order = 12}};
  in.id = store.add_trial(in);
  const TrialRecord out = store.trial(in.id).value();
  EXPECT_EQ(out.taken.size(), std::string("2026-01-31T12:00:00.000Z").size());
  in.taken = out.taken;
  EXPECT_TRUE(out == in);
}

TEST_F(StoreTest, WhatIsNotKnownIsNullInSql) {
  add("N", 1e-3);
  EXPECT_EQ(value("SELECT confirmed_median IS NULL AND peak_flops IS NULL AND predicted IS NULL "
                  "FROM trial"),
            "1");
}

TEST_F(StoreTest, KeepsTrialsAcrossOpens) {
  const auto id = add("N", 1e-3);
  EXPECT_EQ(Store(file, Access::write).trial(id)->choice, "N");
  EXPECT_EQ(Store(file, Access::read).trial(id)->choice, "N");
  EXPECT_FALSE(store.trial(id + 1).has_value());
}

TEST_F(StoreTest, MachinesAndBuildsAreAddedOnce) {
  MachineRecord again = fixture_machine();
  again.cores = 99;
  store.add_machine(again);
  store.add_build(fixture_build());
  EXPECT_EQ(value("SELECT count(*) || ' ' || sum(cores) FROM machine"), "1 2");
  EXPECT_EQ(value("SELECT count(*) FROM build"), "1");
}

TEST_F(StoreTest, GivesBackACampaign) {
  store.end_campaign(campaign, "finished");
  const CampaignRecord out = store.campaign(campaign).value();
  EXPECT_LE(out.started, out.ended);
  CampaignRecord in = fixture_campaign("loopbrick tune");
  in.id = campaign, in.started = out.started, in.ended = out.ended, in.how = "finished";
  EXPECT_TRUE(out == in);
}

TEST_F(StoreTest, TheLatestCampaignIsOfThatMachine) {
  const auto second = store.add_campaign(fixture_campaign("loopbrick compare"));
  EXPECT_EQ(store.latest_campaign(kFixtureMachine)->id, second);
  EXPECT_TRUE(store.latest_campaign(kFixtureMachine)->ended.empty());
  EXPECT_FALSE(store.latest_campaign("another").has_value());
}

TEST_F(StoreTest, TrialsAreTheLatestOfEachChoice) {
  add("A", 1e-3);
  const auto b = add("B", 2e-3);
  const auto a = add("A", 3e-3);
  const auto found = store.trials(key());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id, b);
  EXPECT_EQ(found[1].id, a);
}

TEST_F(StoreTest, EveryPartOfTheKeyCounts) {
  add("A", 1e-3);
  for (std::string Store::Key::*part :
       {&Store::Key::problem, &Store::Key::implementation, &Store::Key::machine,
        &Store::Key::conditions, &Store::Key::build}) {
    Store::Key other = key();
    other.*part += " other";
    EXPECT_TRUE(store.trials(other).empty()) << other.*part;
  }
}

TEST_F(StoreTest, WisdomIsKeptByProblemAndReplacedByKey) {
  const WisdomRecord slow{.machine = "another machine",
                          .build = "another build",
                          .conditions = "t2 avx512 warm",
                          .problem = "p",
                          .schedule = "S",
                          .seconds = 3e-3};
  WisdomRecord fast = slow;
  fast.schedule = "F";
  fast.seconds = 1e-3;
  WisdomRecord other = slow;
  other.problem = "other";
  store.add_wisdom({slow, fast, other});
  EXPECT_EQ(store.wisdom("p"), (std::vector{fast, slow}));
  WisdomRecord again = slow;
  again.seconds = 5e-4;
  store.add_wisdom({again});
  EXPECT_EQ(store.wisdom("p"), (std::vector{again, fast}));
}

TEST_F(StoreTest, WisdomIsAllOrNothing) {
  const WisdomRecord good{
      .machine = "m", .conditions = "c", .problem = "p", .schedule = "S", .seconds = 1.0};
  EXPECT_THROW(store.add_wisdom({good, WisdomRecord{.problem = "p"}}), WorldFailure);
  EXPECT_TRUE(store.wisdom("p").empty());
}

TEST_F(StoreTest, BestReadsConfirmedValuesOnly) {
  add("fast by luck", 1e-6);
  EXPECT_FALSE(store.best(key()).has_value());
  add_confirmed("slow", 3e-3);
  const auto fast = add_confirmed("fast", 2e-3);
  EXPECT_EQ(store.best(key())->id, fast);
  EXPECT_EQ(value("SELECT choice FROM best"), "fast");
}

TEST_F(StoreTest, BestIsNeverAWrongResult) {
  TrialRecord wrong = fixture_trial(campaign, "wrong", 1e-6);
  wrong.confirmed = {.n = 9, .median = 1e-6, .lo = 1e-6, .hi = 1e-6, .min = 1e-6, .processes = 3};
  wrong.outcome = "wrong_result";
  wrong.reason = "y[0] is 1, expected 2";
  store.add_trial(wrong);
  EXPECT_FALSE(store.best(key()).has_value());
  EXPECT_EQ(value("SELECT count(*) FROM best"), "0");
}

TEST_F(StoreTest, BestOfAnyBuildWhenNoneIsNamed) {
  const auto id = add_confirmed("A", 1e-3);
  Store::Key any = key();
  any.build = "";
  EXPECT_EQ(store.best(any)->id, id);
  any.build = "another build";
  EXPECT_FALSE(store.best(any).has_value());
}

TEST_F(StoreTest, BestUnconfirmedIsTheFastestOfASearch) {
  add_confirmed("confirmed", 1e-6);
  TrialRecord wrong = fixture_trial(campaign, "wrong", 1e-6);
  wrong.outcome = "wrong_result";
  wrong.reason = "y[0] is 1, expected 2";
  store.add_trial(wrong);
  EXPECT_FALSE(store.best_unconfirmed(key()).has_value());
  add("slow", 3e-3);
  const auto fast = add("fast", 2e-3);
  EXPECT_EQ(store.best_unconfirmed(key()).value().id, fast);
}

TEST_F(StoreTest, TiesGoToTheFirstChoiceByText) {
  add_confirmed("B", 1e-3);
  add_confirmed("A", 1e-3);
  EXPECT_EQ(store.best(key())->choice, "A");
  EXPECT_EQ(value("SELECT choice FROM best"), "A");
}

TEST_F(StoreTest, ConfirmingReplacesTheStatisticAndKeepsTheSearch) {
  const auto id = add("A", 1e-3);
  const auto confirm = [&](double seconds) {
    store.confirm(id, {.n = 1, .median = seconds, .lo = 1, .hi = 2, .min = 1, .processes = 1}, 4e11,
                  {{.start = 9, .seconds = seconds, .confirming = true}});
  };
  confirm(2e-3);
  confirm(3e-3);
  const TrialRecord out = store.trial(id).value();
  EXPECT_EQ(out.search.median, 1e-3);
  EXPECT_EQ(out.confirmed.median, 3e-3);
  EXPECT_EQ(out.peak_flops, 4e11);
  ASSERT_EQ(out.samples.size(), 4U);
  EXPECT_EQ(out.samples.back().seconds, 3e-3);
  EXPECT_EQ(value("SELECT count(*) FROM sample WHERE superseded"), "1");
}

TEST_F(StoreTest, ConfirmingAnUnknownTrialIsRefused) {
  EXPECT_THROW(store.confirm(17, {}, 0.0, {}), BadDatabase);
}

TEST_F(StoreTest, RefusesOutcomesItDoesNotKnow) {
  TrialRecord trial = fixture_trial(campaign, "A", 1e-3);
  trial.outcome = "fine";
  EXPECT_THROW(store.add_trial(trial), WorldFailure);
  trial.outcome = "crashed";  // and those without a reason
  EXPECT_THROW(store.add_trial(trial), WorldFailure);
  EXPECT_EQ(value("SELECT count(*) FROM trial"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM sample"), "0");
}

TEST_F(StoreTest, ATrialWhoseSamplesAreImpossibleLeavesNothingBehind) {
  TrialRecord trial = fixture_trial(campaign, "A", 1e-3);
  trial.samples.back().seconds = -1.0;
  EXPECT_THROW(store.add_trial(trial), WorldFailure);
  EXPECT_EQ(value("SELECT (SELECT count(*) FROM trial) + (SELECT count(*) FROM sample)"), "0");
  add("B", 1e-3);  // and the connection goes on
  EXPECT_EQ(value("SELECT count(*) FROM trial"), "1");
}

TEST_F(StoreTest, RefusesTrialsOfNoCampaignOrMachine) {
  EXPECT_THROW(store.add_trial(fixture_trial(campaign + 1, "A", 1e-3)), WorldFailure);
  TrialRecord trial = fixture_trial(campaign, "A", 1e-3);
  trial.machine = "unknown";
  EXPECT_THROW(store.add_trial(trial), WorldFailure);
}

TEST_F(StoreTest, TextsMayHoldAnything) {
  const std::string odd = "N'; DROP TABLE trial; -- \"\n\xc3\xa9";
  EXPECT_EQ(store.trial(add(odd, 1e-3))->choice, odd);
  EXPECT_EQ(store.query("SELECT count(*) FROM trial WHERE choice = ?", {odd}).rows[0][0], "1");
}

TEST_F(StoreTest, ALayerAddedAgainChangesItsCount) {
  store.add_layer({.suite = "resnet50", .layer = "4", .problem = "p", .count = 3});
  store.add_layer({.suite = "resnet50", .layer = "4", .problem = "p", .count = 4});
  EXPECT_EQ(value("SELECT group_concat(count) FROM layer"), "4");
}

TEST_F(StoreTest, SurvivesAPowerCutWhereThatIsAsked) {
  EXPECT_FALSE(store.survives_power_loss());
  store.survive_power_loss();
  EXPECT_TRUE(store.survives_power_loss());
  EXPECT_EQ(store.trial(add("A", 1e-3))->choice, "A");
}

TEST_F(StoreTest, WritesAheadWhereItCan) { EXPECT_EQ(store.journal_mode(), "wal"); }

TEST_F(StoreTest, ReadingChangesNoByteOfTheFile) {
  add("A", 1e-3);
  { const Store closing = std::move(store); }
  const auto bytes = [&] {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = bytes();
  { EXPECT_EQ(Store(file, Access::read).query("SELECT * FROM trial").rows.size(), 1U); }
  EXPECT_EQ(bytes(), before);
  Store reader(file, Access::read);
  EXPECT_THROW(reader.add_machine(fixture_machine()), BadDatabase);
  EXPECT_THROW(reader.end_campaign(campaign, "finished"), BadDatabase);
}

}  // namespace
}  // namespace loopbrick
