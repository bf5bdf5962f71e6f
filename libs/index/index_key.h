#ifndef CAIRN_LIBS_INDEX_INDEX_KEY_H_
#define CAIRN_LIBS_INDEX_INDEX_KEY_H_

#include <compare>
#include <utility>

#include "libs/base/ids.h"

namespace cairn {

// What an entry is found by: a session reaches only the keys of its own root.
struct IndexKey {
  RootId root;
  Key key;
  friend auto operator<=>(const IndexKey&, const IndexKey&) = default;
  // All 32 bytes: a session may send keys that are no SHA-256 and agree in any 8 of them.
  template <class H>
  friend H AbslHashValue(H h, const IndexKey& k) {
    h = H::combine(std::move(h), k.root);
    return H::combine_contiguous(std::move(h), k.key.bytes.data(), k.key.bytes.size());
  }
};

}  // namespace cairn
#endif  // CAIRN_LIBS_INDEX_INDEX_KEY_H_
