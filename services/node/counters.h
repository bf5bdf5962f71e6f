#ifndef CAIRN_SERVICES_NODE_COUNTERS_H_
#define CAIRN_SERVICES_NODE_COUNTERS_H_

#include <cstdint>
#include <map>
#include <string>

#include "libs/node/stats.h"

namespace cairn {

// Every counter of a node by its public name: "hits", "hello_refused.bad_token", "slots.ready",
// "slot_bytes.ready". The one table from fields to names; a new field without a name does not
// compile.
std::map<std::string, std::uint64_t> CountersOf(const NodeStats& stats);

}  // namespace cairn
#endif  // CAIRN_SERVICES_NODE_COUNTERS_H_
