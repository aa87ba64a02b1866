#include "results/merge.h"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <unistd.h>

#include "results/check.h"
#include "results/copy.h"
#include "results/database_file.h"
#include "results/schema.h"

namespace loopbrick {

namespace {

namespace fs = std::filesystem;

/// A copy of an older file, brought up to date; gone with the object.
class UpdatedCopy {
 public:
  UpdatedCopy(SQLite::Database& old, const fs::path& beside)
      : file_(fmt::format("{}.merging-{}", fs::absolute(beside).string(), getpid())) {
    SQLite::Database copy(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    copy_pages(old, copy);
    migrate(copy, migrations());
  }
  ~UpdatedCopy() {
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file_.string() + suffix, ignored);
  }
  UpdatedCopy(const UpdatedCopy&) = delete;
  UpdatedCopy& operator=(const UpdatedCopy&) = delete;

  const fs::path& file() const { return file_; }

 private:
  fs::path file_;
};

/// What the rows of a table hold besides the ids, which are of one file only.
std::string columns_of(SQLite::Database& database, const std::string& table,
                       const std::string& ids) {
  return database
      .execAndGet(fmt::format("SELECT group_concat(name, ', ') FROM pragma_table_info('{}')"
                              " WHERE name NOT IN ({})",
                              table, ids))
      .getString();
}

/// Rows are told apart by what outlives their file; the temporary tables say which of ours is which
/// of theirs.
class Merge {
 public:
  Merge(SQLite::Database& database, const fs::path& into, const fs::path& from)
      : database_(database), into_(into), from_(from) {}

  Merged run() {
    copy_shared("machine");
    copy_shared("build");
    copy_shared("layer");
    copy_shared("wisdom");
    copy_shared("space");
    match_campaigns();
    match_trials();
    renew_trials();
    merged_.comparisons = copy_comparisons();
    return merged_;
  }

 private:
  std::int64_t exec(const std::string& sql) { return database_.exec(sql); }

  /// Rows that are the same in every file: ours stay.
  void copy_shared(const std::string& table) {
    exec(fmt::format("INSERT OR IGNORE INTO main.{0} SELECT * FROM theirs.{0}", table));
  }

  void match_campaigns() {
    const std::string columns = columns_of(database_, "campaign", "'id'");
    merged_.campaigns =
        exec(fmt::format("INSERT INTO main.campaign({0}) SELECT {0} FROM theirs.campaign"
                         " WHERE key NOT IN (SELECT key FROM main.campaign) ORDER BY id",
                         columns));
    exec(
        "UPDATE main.campaign SET ended = other.ended, how = other.how"
        " FROM theirs.campaign AS other"
        " WHERE other.key = campaign.key AND campaign.ended IS NULL AND other.ended IS NOT NULL");
    exec("CREATE TEMP TABLE campaign_of(theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL)");
    exec(
        "INSERT INTO temp.campaign_of SELECT other.id, ours.id FROM theirs.campaign AS other"
        " JOIN main.campaign AS ours ON ours.key = other.key");
  }

  void match_trials() {
    exec(
        "CREATE TEMP TABLE trial_of(theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL,"
        " is_new INTEGER NOT NULL)");
    note_trials(false);
    refuse_impostors();
    const std::string columns = columns_of(database_, "trial", "'id', 'campaign'");
    merged_.trials = exec(fmt::format(
        "INSERT INTO main.trial(campaign, {0}) SELECT campaign_of.ours, {0} FROM theirs.trial"
        " JOIN temp.campaign_of ON campaign_of.theirs = trial.campaign"
        " WHERE id NOT IN (SELECT theirs FROM temp.trial_of) ORDER BY id",
        columns));
    note_trials(true);
    copy_samples("is_new", "true");
  }

  /// Adds to trial_of the trials that both have and that are not in it yet.
  void note_trials(bool is_new) {
    exec(
        fmt::format("INSERT OR IGNORE INTO temp.trial_of SELECT other.id, ours.id, {} FROM "
                    "theirs.trial AS other"
                    " JOIN temp.campaign_of ON campaign_of.theirs = other.campaign"
                    " JOIN main.trial AS ours"
                    " ON ours.campaign = campaign_of.ours AND ours.number = other.number",
                    is_new));
  }

  void refuse_impostors() {
    SQLite::Statement find(
        database_,
        "SELECT ours.id, other.id FROM temp.trial_of JOIN theirs.trial AS other ON other.id = "
        "theirs"
        " JOIN main.trial AS ours ON ours.id = trial_of.ours WHERE (ours.problem,"
        " ours.implementation, ours.choice, ours.machine, ours.conditions, ours.build, ours.taken)"
        " <> (other.problem, other.implementation, other.choice, other.machine, other.conditions,"
        " other.build, other.taken)");
    if (!find.executeStep()) return;
    throw BadDatabase(fmt::format(
        "trial {} of '{}' and trial {} of '{}' have one identity but differ: one file was changed"
        " by hand, or both are copies to which one campaign wrote",
        find.getColumn(0).getInt64(), into_.string(), find.getColumn(1).getInt64(),
        from_.string()));
  }

  /// Of the trials where `which` holds; those samples of theirs for which `condition` does.
  void copy_samples(const std::string& which, const std::string& condition) {
    const std::string columns = columns_of(database_, "sample", "'trial'");
    exec(
        fmt::format("INSERT INTO main.sample(trial, {0}) SELECT trial_of.ours, {0}"
                    " FROM temp.trial_of JOIN theirs.sample ON sample.trial = trial_of.theirs"
                    " WHERE {1} AND {2} ORDER BY sample.rowid",
                    columns, which, condition));
  }

  /// Where both have a trial, its later confirmation counts; earlier samples stay as superseded.
  void renew_trials() {
    constexpr auto kConfirmed =
        "confirmed_taken, confirmed_n, confirmed_median, confirmed_lo, confirmed_hi, confirmed_min,"
        " confirmed_processes, peak_flops";
    exec("CREATE TEMP TABLE renewed(theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL)");
    merged_.renewed = exec(
        "INSERT INTO temp.renewed SELECT theirs, ours FROM temp.trial_of"
        " JOIN theirs.trial AS other ON other.id = theirs JOIN main.trial AS mine ON mine.id = ours"
        " WHERE NOT is_new AND other.confirmed_taken IS NOT NULL AND"
        " (coalesce(mine.confirmed_taken, ''), coalesce(mine.confirmed_median, 0.0))"
        " < (other.confirmed_taken, other.confirmed_median)");
    exec(
        "UPDATE main.sample SET superseded = 1 WHERE confirming = 1 AND superseded = 0"
        " AND trial IN (SELECT ours FROM temp.renewed)");
    exec(
        fmt::format("UPDATE main.trial SET ({0}) = (SELECT {0} FROM theirs.trial WHERE id ="
                    " (SELECT theirs FROM temp.renewed WHERE ours = main.trial.id))"
                    " WHERE id IN (SELECT ours FROM temp.renewed)",
                    kConfirmed));
    copy_missing_samples();
  }

  /// Theirs count where the trial was renewed, else ours do.
  void copy_missing_samples() {
    constexpr auto kSame =
        "mine.trial = trial_of.ours AND mine.start = other.start AND mine.seconds = other.seconds"
        " AND mine.calls = other.calls AND mine.round = other.round AND mine.process = "
        "other.process"
        " AND mine.ord = other.ord AND mine.confirming = other.confirming";
    exec(fmt::format(
        "INSERT INTO main.sample(trial, start, seconds, calls, round, process, ord, confirming,"
        " superseded) SELECT ours, start, seconds, calls, round, process, ord, confirming,"
        " CASE WHEN ours IN (SELECT ours FROM temp.renewed) THEN superseded ELSE confirming END"
        " FROM temp.trial_of JOIN theirs.sample AS other ON other.trial = theirs"
        " WHERE NOT is_new AND NOT EXISTS (SELECT 1 FROM main.sample AS mine WHERE {})"
        " ORDER BY other.rowid",
        kSame));
  }

  std::int64_t copy_comparisons() {
    const std::string values = "other.ratio, other.lo, other.hi, other.rounds, other.verdict";
    return exec(fmt::format(
        "INSERT INTO main.comparison(campaign, trial, other, ratio, lo, hi, rounds, verdict)"
        " SELECT campaign_of.ours, a.ours, b.ours, {0} FROM theirs.comparison AS other"
        " JOIN temp.campaign_of ON campaign_of.theirs = other.campaign"
        " JOIN temp.trial_of AS a ON a.theirs = other.trial"
        " JOIN temp.trial_of AS b ON b.theirs = other.other"
        " WHERE NOT EXISTS (SELECT 1 FROM main.comparison AS mine"
        "   WHERE mine.campaign = campaign_of.ours AND mine.trial = a.ours AND mine.other = b.ours"
        "   AND (mine.ratio, mine.lo, mine.hi, mine.rounds, mine.verdict) = ({0}))"
        " ORDER BY other.id",
        values));
  }

  SQLite::Database& database_;
  fs::path into_, from_;
  Merged merged_;
};

void refuse_damaged(SQLite::Database& database, const fs::path& file) {
  for (const Finding& finding : check_structure(database)) {
    if (finding.faults == 0) continue;
    throw BadDatabase(fmt::format("database '{}' is damaged ({}): see 'loopbrick db check'",
                                  file.string(), finding.example));
  }
}

Merged merge_todays(const fs::path& into, const fs::path& from, const fs::path& named) {
  const auto database = open_database(into, Access::write);
  Merged merged;
  with_file_named(into, database.get(), [&] {
    database->exec("PRAGMA temp_store = MEMORY");
    SQLite::Statement attach(*database, "ATTACH ? AS theirs");
    attach.bind(1, reading_uri(from));
    attach.exec();
    SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
    merged = Merge(*database, into, named).run();
    transaction.commit();
  });
  return merged;
}

}  // namespace

Merged merge(const fs::path& into, const fs::path& from) {
  const auto reader = open_reader(from, Schemas::older_too);
  std::optional<UpdatedCopy> copy;
  with_file_named(from, reader.get(), [&] {
    if (fs::exists(into) && fs::equivalent(into, from)) {
      throw BadDatabase(
          fmt::format("database '{}' can't be merged into itself: name another", from.string()));
    }
    if (schema_version(*reader) < static_cast<std::int64_t>(migrations().size())) {
      copy.emplace(*reader, into);
    }
  });
  const fs::path todays = copy ? copy->file() : from;
  with_file_named(from, nullptr, [&] { refuse_damaged(*open_reader(todays), from); });
  return merge_todays(into, todays, from);
}

}  // namespace loopbrick
