#pragma once
#include <string>
#include <vector>

namespace loopbrick {

/// One argument of a command, for those who write about it.
struct ArgumentFacts {
  std::string name;  ///< "--seed"; of a positional one "file"
  std::string help;
  std::string type;      ///< "FILE"; empty for a flag
  std::string standard;  ///< what holds where it is not given; empty: nothing
  bool is_positional = false;
  bool is_required = false;
  std::vector<std::string> choices;  ///< all that it takes; empty: anything of its type
};

struct CommandFacts {
  std::string name;
  std::string sentence;
  std::vector<ArgumentFacts> arguments;
  std::vector<std::string> examples;  ///< whole lines, "loopbrick tune ..."
};

}  // namespace loopbrick
