#include "cli/build_facts.h"

#include <fmt/format.h>

#include "cli/commit.h"
#include "loops/plan.h"

namespace loopbrick {

BuildRecord build_facts() {
  BuildRecord build{.version = LOOPBRICK_VERSION,
                    .commit = LOOPBRICK_COMMIT,
                    .compiler = LOOPBRICK_COMPILER,
                    .build_type = LOOPBRICK_BUILD_KIND,
                    .generator = kGeneratorVersion};
  build.id = fmt::format("{} {} {} {} gen{}", build.version, build.commit, build.compiler,
                         build.build_type, build.generator);
  return build;
}

std::string version_line() { return "loopbrick " + build_facts().id; }

}  // namespace loopbrick
