#ifndef CAIRN_KERNELS_SK_INDEX_H_
#define CAIRN_KERNELS_SK_INDEX_H_

#include "kernels/sk/target.h"

// Indices of loads and stores, marked so that tests of tests can move each of them by one.

namespace cairn::sk {

// `i`. Around an index whose neighbours are legal operands too (of elements, rows, 16-byte pieces;
// not bytes that must be aligned): out[sk::Index(at)] = x. One a line, like every operation of sk.
// Emulator: i + 1 at Options::up_site, i - 1 at Options::down_site.
template <class T>
SK_DEVICE T Index(T i, Site site = Site::Here());

}  // namespace cairn::sk

#ifdef SK_TARGET_GPU
namespace cairn::sk {
template <class T>
SK_DEVICE T Index(T i, Site) {
  return i;
}
}  // namespace cairn::sk
#else
namespace cairn::sk {
namespace emu {
int ShiftAt(Site site);
}
template <class T>
inline T Index(T i, Site site) {
  return i + static_cast<T>(emu::ShiftAt(site));
}
}  // namespace cairn::sk
#endif

#endif  // CAIRN_KERNELS_SK_INDEX_H_
