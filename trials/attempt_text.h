#pragma once
#include "trials/bench.h"
#include "trials/message.h"

namespace loopbrick {

/// An Attempt as a message of verb "attempt", and back: read_attempt(attempt_message(a)) equals a.
Message attempt_message(const Attempt& attempt);
Attempt read_attempt(const Message& message);

}  // namespace loopbrick
