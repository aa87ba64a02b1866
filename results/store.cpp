#include "results/store.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <map>

#include "results/database_file.h"
#include "results/reader.h"

namespace loopbrick {

namespace {

/// One use of a cached statement: bound from left to right, reset at the end whatever happens.
class Use {
 public:
  explicit Use(SQLite::Statement& statement) : statement_(statement) {}
  ~Use() {
    statement_.tryReset();
    statement_.clearBindings();
  }
  Use(const Use&) = delete;

  Use& operator<<(std::int64_t value) { return bind(value); }
  Use& operator<<(int value) { return bind(std::int64_t{value}); }
  Use& operator<<(double value) { return bind(value); }
  Use& operator<<(const std::string& text) { return bind(text); }

  /// Zero means not known: NULL.
  Use& known(double value) {
    if (value != 0.0) return bind(value);
    ++bound_;
    return *this;
  }
  Use& operator<<(const Measured& measured) {
    *this << measured.n;
    known(measured.median).known(measured.lo).known(measured.hi).known(measured.min);
    return *this << measured.processes;
  }

  bool step() { return statement_.executeStep(); }
  void run() { statement_.executeStep(); }

 private:
  template <class Value>
  Use& bind(const Value& value) {
    statement_.bind(++bound_, value);
    return *this;
  }

  SQLite::Statement& statement_;
  int bound_ = 0;
};

/// A row read from left to right; NULL is 0 or nothing.
class Row {
 public:
  explicit Row(SQLite::Statement& statement) : statement_(statement) {}

  Row& operator>>(std::int64_t& value) { return take(value, &SQLite::Column::getInt64); }
  Row& operator>>(int& value) { return take(value, &SQLite::Column::getInt); }
  Row& operator>>(double& value) { return take(value, &SQLite::Column::getDouble); }
  Row& operator>>(std::string& text) { return take(text, &SQLite::Column::getString); }
  Row& operator>>(Measured& measured) {
    return *this >> measured.n >> measured.median >> measured.lo >> measured.hi >> measured.min >>
           measured.processes;
  }

 private:
  template <class Value, class Getter>
  Row& take(Value& value, Getter get) {
    value = (statement_.getColumn(next_++).*get)();
    return *this;
  }

  SQLite::Statement& statement_;
  int next_ = 0;
};

constexpr auto kInsertTrial =
    "INSERT INTO trial(campaign, problem, implementation, choice, machine, conditions, build,"
    " outcome, reason, search_n, search_median, search_lo, search_hi, search_min, search_processes,"
    " confirmed_n, confirmed_median, confirmed_lo, confirmed_hi, confirmed_min,"
    " confirmed_processes, flops, executed_flops, peak_flops, predicted, prepare_seconds,"
    " workspace_bytes, ran, included, flag, version, volatile_facts, confirmed_taken, number)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "?,"
    " ?, ?, ?, CASE WHEN ?16 > 0 THEN strftime('%Y-%m-%dT%H:%M:%fZ') END,"
    " (SELECT coalesce(max(number), 0) + 1 FROM trial WHERE campaign = ?1))";

constexpr auto kSelectTrial =
    "SELECT id, campaign, problem, implementation, choice, machine, conditions, build, outcome,"
    " reason, search_n, search_median, search_lo, search_hi, search_min, search_processes,"
    " confirmed_n, confirmed_median, confirmed_lo, confirmed_hi, confirmed_min,"
    " confirmed_processes, flops, executed_flops, peak_flops, predicted, prepare_seconds,"
    " workspace_bytes, ran, included, flag, version, volatile_facts, taken FROM trial ";

constexpr auto kSelectCampaign =
    "SELECT id, command, machine, build, strategy, budget, trust, warnings, seed, peak_flops,"
    " l1_bandwidth, l2_bandwidth, l3_bandwidth, dram_bandwidth, clock_hz, noise_floor, started,"
    " coalesce(ended, ''), coalesce(how, '') FROM campaign ";

TrialRecord trial_from(SQLite::Statement& statement) {
  TrialRecord t;
  Row(statement) >> t.id >> t.campaign >> t.problem >> t.implementation >> t.choice >> t.machine >>
      t.conditions >> t.build >> t.outcome >> t.reason >> t.search >> t.confirmed >> t.flops >>
      t.executed_flops >> t.peak_flops >> t.predicted >> t.prepare_seconds >> t.workspace_bytes >>
      t.ran >> t.included >> t.flag >> t.version >> t.volatile_facts >> t.taken;
  return t;
}

CampaignRecord campaign_from(SQLite::Statement& statement) {
  CampaignRecord c;
  std::string seed;
  Row(statement) >> c.id >> c.command >> c.machine >> c.build >> c.strategy >> c.budget >>
      c.trust >> c.warnings >> seed >> c.peak_flops >> c.l1_bandwidth >> c.l2_bandwidth >>
      c.l3_bandwidth >> c.dram_bandwidth >> c.clock_hz >> c.noise_floor >> c.started >> c.ended >>
      c.how;
  c.seed = std::stoull(seed);
  return c;
}

WisdomRecord wisdom_from(SQLite::Statement& statement) {
  WisdomRecord w;
  Row(statement) >> w.machine >> w.build >> w.conditions >> w.problem >> w.schedule >> w.seconds;
  return w;
}

TimedSample sample_from(SQLite::Statement& statement) {
  TimedSample s;
  int confirming = 0;
  Row(statement) >> s.start >> s.seconds >> s.calls >> s.round >> s.process >> s.order >>
      confirming;
  s.confirming = confirming != 0;
  return s;
}

}  // namespace

class Store::Connection {
 public:
  Connection(const std::filesystem::path& file, Access access)
      : file_(file), database_(open_database(file, access)) {}

  /// Runs `work` and gives its value; SQLite's errors leave as ours.
  template <class Work>
  auto guarded(Work work) {
    using Value = decltype(work());
    if constexpr (std::is_void_v<Value>) {
      with_file_named(file_, database_.get(), work);
    } else {
      std::optional<Value> value;
      with_file_named(file_, database_.get(), [&] { value = work(); });
      return std::move(*value);
    }
  }

  SQLite::Statement& statement(const std::string& sql) {
    auto& cached = statements_[sql];
    if (!cached) cached = std::make_unique<SQLite::Statement>(*database_, sql);
    return *cached;
  }
  Use use(const char* sql) { return Use(statement(sql)); }

  template <class Value>
  std::vector<Value> all(const std::string& sql, Value (*read)(SQLite::Statement&),
                         const auto&... parameters) {
    SQLite::Statement& select = statement(sql);
    Use use(select);
    (use << ... << parameters);
    std::vector<Value> values;
    while (use.step()) values.push_back(read(select));
    return values;
  }
  template <class Value>
  std::optional<Value> first(const std::string& sql, Value (*read)(SQLite::Statement&),
                             const auto&... parameters) {
    SQLite::Statement& select = statement(sql);
    Use use(select);
    (use << ... << parameters);
    return use.step() ? std::optional<Value>(read(select)) : std::nullopt;
  }

  void insert_samples(std::int64_t trial, const std::vector<TimedSample>& samples) {
    for (const TimedSample& s : samples) {
      Use insert =
          use("INSERT INTO sample(trial, start, seconds, calls, round, process, ord, confirming)"
              " VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
      insert << trial << s.start << s.seconds << s.calls << s.round << s.process << s.order
             << int{s.confirming};
      insert.run();
    }
  }

  SQLite::Database& reader() {
    if (!reader_) {
      reader_ = open_reader(file_);
      allow_reading_only(*reader_);
    }
    return *reader_;
  }

  SQLite::Database& database() { return *database_; }
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::unique_ptr<SQLite::Database> database_;
  std::map<std::string, std::unique_ptr<SQLite::Statement>> statements_;
  std::unique_ptr<SQLite::Database> reader_;
};

Store::Store(const std::filesystem::path& file, Access access)
    : connection_(std::make_unique<Connection>(file, access)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;

void Store::survive_power_loss() {
  connection_->guarded([&] { connection_->database().exec("PRAGMA synchronous = FULL"); });
}

bool Store::survives_power_loss() const {
  constexpr int kFull = 2;
  return connection_->guarded(
      [&] { return connection_->database().execAndGet("PRAGMA synchronous").getInt() >= kFull; });
}

void Store::add_machine(const MachineRecord& m) {
  connection_->guarded([&] {
    Use insert = connection_->use(
        "INSERT INTO machine(id, cpu, isa, cores, threads, sockets, l1d_bytes, l2_bytes, l3_bytes,"
        " memory_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO NOTHING");
    insert << m.id << m.cpu << m.isa << m.cores << m.threads << m.sockets << m.l1d_bytes
           << m.l2_bytes << m.l3_bytes << m.memory_bytes;
    insert.run();
  });
}

void Store::add_build(const BuildRecord& b) {
  connection_->guarded([&] {
    Use insert = connection_->use(
        "INSERT INTO build(id, version, revision, compiler, build_type, generator)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO NOTHING");
    insert << b.id << b.version << b.commit << b.compiler << b.build_type << b.generator;
    insert.run();
  });
}

std::int64_t Store::add_campaign(const CampaignRecord& c) {
  return connection_->guarded([&] {
    Use insert = connection_->use(
        "INSERT INTO campaign(command, machine, build, strategy, budget, trust, warnings, seed,"
        " peak_flops, l1_bandwidth, l2_bandwidth, l3_bandwidth, dram_bandwidth, clock_hz,"
        " noise_floor, key)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, lower(hex(randomblob(16))))");
    insert << c.command << c.machine << c.build << c.strategy << c.budget << c.trust << c.warnings
           << std::to_string(c.seed);
    insert.known(c.peak_flops).known(c.l1_bandwidth).known(c.l2_bandwidth).known(c.l3_bandwidth);
    insert.known(c.dram_bandwidth).known(c.clock_hz).known(c.noise_floor);
    insert.run();
    return connection_->database().getLastInsertRowid();
  });
}

void Store::end_campaign(std::int64_t campaign, std::string_view how) {
  connection_->guarded([&] {
    Use update = connection_->use(
        "UPDATE campaign SET ended = strftime('%Y-%m-%dT%H:%M:%fZ'), how = ? WHERE id = ?");
    update << std::string(how) << campaign;
    update.run();
  });
}

std::int64_t Store::add_trial(const TrialRecord& t) {
  return connection_->guarded([&] {
    SQLite::Transaction transaction(connection_->database(),
                                    SQLite::TransactionBehavior::IMMEDIATE);
    Use insert = connection_->use(kInsertTrial);
    insert << t.campaign << t.problem << t.implementation << t.choice << t.machine << t.conditions
           << t.build << t.outcome << t.reason << t.search << t.confirmed << t.flops;
    insert.known(t.executed_flops).known(t.peak_flops).known(t.predicted);
    insert << t.prepare_seconds << t.workspace_bytes << t.ran << t.included << t.flag << t.version
           << t.volatile_facts;
    insert.run();
    const std::int64_t id = connection_->database().getLastInsertRowid();
    connection_->insert_samples(id, t.samples);
    transaction.commit();
    return id;
  });
}

void Store::confirm(std::int64_t trial, const Measured& confirmed, double peak_flops,
                    const std::vector<TimedSample>& samples) {
  connection_->guarded([&] {
    SQLite::Transaction transaction(connection_->database(),
                                    SQLite::TransactionBehavior::IMMEDIATE);
    Use update = connection_->use(
        "UPDATE trial SET confirmed_n = ?, confirmed_median = ?, confirmed_lo = ?,"
        " confirmed_hi = ?, confirmed_min = ?, confirmed_processes = ?, peak_flops = ?,"
        " confirmed_taken = strftime('%Y-%m-%dT%H:%M:%fZ') WHERE id = ?");
    (update << confirmed).known(peak_flops) << trial;
    update.run();
    if (connection_->database().getChanges() == 0) {
      throw BadDatabase(
          fmt::format("database '{}' has no trial {}", connection_->file().string(), trial));
    }
    Use retire = connection_->use(
        "UPDATE sample SET superseded = 1 WHERE trial = ? AND confirming = 1 AND superseded = 0");
    retire << trial;
    retire.run();
    connection_->insert_samples(trial, samples);
    transaction.commit();
  });
}

void Store::add_comparison(const ComparisonRecord& c) {
  connection_->guarded([&] {
    Use insert = connection_->use(
        "INSERT INTO comparison(campaign, trial, other, ratio, lo, hi, rounds, verdict)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    insert << c.campaign << c.trial << c.other << c.ratio << c.lo << c.hi << c.rounds << c.verdict;
    insert.run();
  });
}

void Store::add_layer(const LayerRecord& l) {
  connection_->guarded([&] {
    Use insert = connection_->use(
        "INSERT INTO layer(suite, layer, problem, count) VALUES (?, ?, ?, ?)"
        " ON CONFLICT(suite, layer, problem) DO UPDATE SET count = excluded.count");
    insert << l.suite << l.layer << l.problem << l.count;
    insert.run();
  });
}

void Store::add_wisdom(const std::vector<WisdomRecord>& entries) {
  connection_->guarded([&] {
    SQLite::Transaction transaction(connection_->database(),
                                    SQLite::TransactionBehavior::IMMEDIATE);
    for (const WisdomRecord& w : entries) {
      Use insert = connection_->use(
          "INSERT OR REPLACE INTO wisdom(problem, conditions, machine, schedule, build, seconds)"
          " VALUES (?, ?, ?, ?, ?, ?)");
      insert << w.problem << w.conditions << w.machine << w.schedule << w.build << w.seconds;
      insert.run();
    }
    transaction.commit();
  });
}

std::vector<WisdomRecord> Store::wisdom(std::string_view problem) const {
  return connection_->guarded([&] {
    return connection_->all(
        "SELECT machine, build, conditions, problem, schedule, seconds FROM wisdom"
        " WHERE problem = ? ORDER BY seconds, schedule, machine, conditions",
        wisdom_from, std::string(problem));
  });
}

void Store::add_space(const SpaceRecord& s) {
  connection_->guarded([&] {
    Use insert = connection_->use(
        "INSERT INTO space(problem, machine, conditions, schedules) VALUES (?, ?, ?, ?)"
        " ON CONFLICT(problem, machine, conditions) DO UPDATE SET schedules = excluded.schedules");
    insert << s.problem << s.machine << s.conditions << s.schedules;
    insert.run();
  });
}

std::vector<TrialRecord> Store::trials(const Key& key) const {
  return connection_->guarded([&] {
    return connection_->all(
        std::string(kSelectTrial) +
            "WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER"
            " (PARTITION BY choice ORDER BY taken DESC, id DESC) AS place FROM trial"
            " WHERE problem = ? AND implementation = ? AND machine = ? AND conditions = ?"
            " AND build = ?) WHERE place = 1) ORDER BY id",
        trial_from, key.problem, key.implementation, key.machine, key.conditions, key.build);
  });
}

std::optional<TrialRecord> Store::best(const Key& key) const {
  return connection_->guarded([&] {
    return connection_->first(
        std::string(kSelectTrial) +
            "WHERE problem = ? AND implementation = ? AND machine = ? AND conditions = ?"
            " AND (?5 = '' OR build = ?5) AND outcome = 'ok' AND confirmed_n > 0"
            " ORDER BY confirmed_median, choice, id LIMIT 1",
        trial_from, key.problem, key.implementation, key.machine, key.conditions, key.build);
  });
}

std::optional<TrialRecord> Store::best_unconfirmed(const Key& key) const {
  return connection_->guarded([&] {
    return connection_->first(
        std::string(kSelectTrial) +
            "WHERE problem = ? AND implementation = ? AND machine = ? AND conditions = ?"
            " AND (?5 = '' OR build = ?5) AND outcome = 'ok' AND confirmed_n = 0 AND search_n > 0"
            " ORDER BY search_median, choice, id LIMIT 1",
        trial_from, key.problem, key.implementation, key.machine, key.conditions, key.build);
  });
}

std::optional<TrialRecord> Store::trial(std::int64_t id) const {
  return connection_->guarded([&] {
    auto found = connection_->first(std::string(kSelectTrial) + "WHERE id = ?", trial_from, id);
    if (found) {
      found->samples = connection_->all(
          "SELECT start, seconds, calls, round, process, ord, confirming FROM sample"
          " WHERE trial = ? AND superseded = 0 ORDER BY rowid",
          sample_from, id);
    }
    return found;
  });
}

std::optional<CampaignRecord> Store::campaign(std::int64_t id) const {
  return connection_->guarded([&] {
    return connection_->first(std::string(kSelectCampaign) + "WHERE id = ?", campaign_from, id);
  });
}

std::optional<CampaignRecord> Store::latest_campaign(std::string_view machine) const {
  return connection_->guarded([&] {
    return connection_->first(
        std::string(kSelectCampaign) + "WHERE machine = ? ORDER BY started DESC, id DESC LIMIT 1",
        campaign_from, std::string(machine));
  });
}

Table Store::query(const std::string& sql, const std::vector<std::string>& parameters) const {
  return connection_->guarded([&] { return read_table(connection_->reader(), sql, parameters); });
}

std::string Store::journal_mode() const {
  return connection_->guarded(
      [&] { return connection_->database().execAndGet("PRAGMA journal_mode").getString(); });
}

}  // namespace loopbrick
