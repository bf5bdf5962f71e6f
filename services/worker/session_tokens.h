#ifndef CAIRN_SERVICES_WORKER_SESSION_TOKENS_H_
#define CAIRN_SERVICES_WORKER_SESSION_TOKENS_H_

#include <string>

#include "libs/client/client_options.h"

namespace cairn {

// Dev mode: the node's token lies in `<node_run_dir>/token`, readable by its owner; it is read anew
// at each attempt, since a restarted node writes another one.
TokenSource DevTokenSource(const std::string& node_run_dir);

}  // namespace cairn
#endif  // CAIRN_SERVICES_WORKER_SESSION_TOKENS_H_
