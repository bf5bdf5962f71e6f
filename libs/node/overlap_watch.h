#ifndef CAIRN_LIBS_NODE_OVERLAP_WATCH_H_
#define CAIRN_LIBS_NODE_OVERLAP_WATCH_H_

#include <cstddef>
#include <cstdint>

#include "libs/node/node_session.h"
#include "libs/node/stats.h"
#include "libs/overlap/overlap_book.h"
#include "libs/ports/overlap_sink.h"
#include "libs/wire/messages.h"

namespace cairn {

// OverlapWatch sees where the prompts of all sessions part, and tells a sink. It looks at the keys
// that are asked for, not at what is stored: what it says stays true when entries are evicted.
// A client that lies about its blocks' ends misleads those of its own root only.
// Threads: the front's loop.
class OverlapWatch {
 public:
  // Entries are numbered from `seed` on. All references outlive it.
  OverlapWatch(std::size_t blocks_max, std::uint64_t seed, OverlapSink& sink, FrontStats& stats);

  struct Seen {
    Overlap overlap;
    std::uint32_t blocks = 0;  // the first keys of the ACQUIRE, which are what agrees
  };
  // Before an ACQUIRE is answered. Zeros if it is not a prompt's first.
  Seen See(const NodeSession& session, const wire::Acquire& message);
  // Of what See saw: adds what the sender is to know to the answer that it gets, and tells the
  // sink.
  void Tell(const Seen& seen, bool is_hybrid, wire::Acquired& answer);

 private:
  OverlapBook book_;
  OverlapSink& sink_;
  FrontStats& stats_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_OVERLAP_WATCH_H_
