#ifndef CAIRN_LIBS_NODE_ACQUIRE_CUT_H_
#define CAIRN_LIBS_NODE_ACQUIRE_CUT_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/wire/messages.h"

namespace cairn {

// What an ACQUIRE asks for beside its keys.
struct CutRequest {
  bool is_hybrid = false;
  std::uint64_t resume_depth_max = 0;
  std::uint32_t block_tokens = 0;  // of the session
  std::uint64_t budget = 0;        // keys that the session may still pin
};

struct Cut {
  std::vector<std::uint32_t> kept;  // positions in `hits`, ascending; the others are to be released
  std::uint64_t resume_depth = 0;
  std::uint32_t capped = 0;  // hits given up because of `budget`
};

// Chooses, among what all shards have pinned for one ACQUIRE, what is answered as hits. `hits` is
// ascending by index, `kinds` is the request's.
//   plain:  every hit, in prompt order, as far as the budget goes.
//   hybrid: the deepest d <= resume_depth_max with KV for all of [0, d) and a state at exactly d;
//           exactly those blocks and that state; nothing if there is no such d (keys.md, Resume
//           points). A depth that exceeds the budget is passed over for a smaller one.
// Since everything in `hits` is pinned, the answer is one consistent cut.
Cut ChooseCut(const CutRequest& request, absl::Span<const EntryKind> kinds,
              absl::Span<const wire::Descriptor> hits);

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_ACQUIRE_CUT_H_
