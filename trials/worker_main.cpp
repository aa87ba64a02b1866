#include "trials/bench.h"
#include "trials/implementations.h"
#include "trials/worker.h"

namespace loopbrick {

int worker_main(int socket) { return serve(socket, find_implementation); }

}  // namespace loopbrick
