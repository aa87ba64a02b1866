// The worker of the tests: serves the table of fakes.
#include <cstdlib>

#include "trials/bench.h"
#include "trials/fake_gemm.h"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  return loopbrick::worker_main(std::atoi(arguments[2]), loopbrick::fake_table());
}
