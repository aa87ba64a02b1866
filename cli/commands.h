#pragma once

namespace loopbrick {

class CommandLine;

/// Each adds one subcommand to `line`, which must outlive it.
void add_machine_command(CommandLine& line);
void add_suites_command(CommandLine& line);
void add_space_command(CommandLine& line);
void add_check_command(CommandLine& line);
void add_tune_command(CommandLine& line);
void add_compare_command(CommandLine& line);
void add_run_command(CommandLine& line);
void add_explain_command(CommandLine& line);
void add_query_command(CommandLine& line);
void add_db_command(CommandLine& line);
void add_replay_command(CommandLine& line);
void add_table_command(CommandLine& line);
void add_rehearse_command(CommandLine& line);
void add_export_command(CommandLine& line);
void add_import_command(CommandLine& line);
void add_man_command(CommandLine& line);
void add_completion_command(CommandLine& line);
void add_worker_command(CommandLine& line);  ///< hidden: trials/ starts it

}  // namespace loopbrick
