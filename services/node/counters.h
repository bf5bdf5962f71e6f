#ifndef CAIRN_SERVICES_NODE_COUNTERS_H_
#define CAIRN_SERVICES_NODE_COUNTERS_H_

#include <cstdint>
#include <map>
#include <string>

#include "libs/node/stats.h"
#include "libs/placement_rpc/overlap_sender.h"
#include "libs/transport_ucx/ucx_transport.h"

namespace cairn {

// What a node's adapters count.
struct AdapterStats {
  UcxStats transports;           // the sum
  OverlapSenderStats placement;  // zeros if nobody is told where prompts part
};
// What a node's process counts.
struct ProcessStats {
  NodeStats node;
  AdapterStats adapters;
};
void Add(const UcxStats& one, UcxStats* sum);

// Every counter by its public name: "hits", "hello_refused.bad_token", "slots.ready",
// "slot_bytes.ready", "transport.strangers_dropped", "placement.sent". The one table from fields to
// names; a new field without a name does not compile.
std::map<std::string, std::uint64_t> CountersOf(const ProcessStats& stats);

}  // namespace cairn
#endif  // CAIRN_SERVICES_NODE_COUNTERS_H_
