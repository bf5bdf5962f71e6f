#ifndef CAIRN_LIBS_PORTS_OVERLAP_SINK_H_
#define CAIRN_LIBS_PORTS_OVERLAP_SINK_H_

#include "libs/overlap/overlap.h"

namespace cairn {

// Who learns from where prompts part: the placement service, in production. What gets lost here
// costs a little wisdom and nothing else. Threads: Report comes from one; it never waits.
class OverlapSink {
 public:
  virtual ~OverlapSink() = default;
  virtual void Report(const Overlap& overlap) = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_OVERLAP_SINK_H_
