#ifndef CAIRN_KERNELS_SK_WARP_H_
#define CAIRN_KERNELS_SK_WARP_H_

#include "kernels/sk/target.h"

// Collectives of the lanes of one warp. `mask` names the lanes that take part: each of them must
// call the same operation at the same site (SyncWarp: at any site).

namespace cairn::sk {

// Orders memory accesses among the lanes of `mask`.
SK_OP void SyncWarp(std::uint32_t mask = kFullWarp, Site site = Site::Here());

// Each lane gets the value of lane (its own ^ lane_mask), of lane source % width of its group of
// `width` lanes, or of the lane `delta` below or above (its own value where there is none).
SK_OP std::uint32_t ShuffleXor(std::uint32_t value, std::uint32_t lane_mask,
                               std::uint32_t mask = kFullWarp, Site site = Site::Here());
SK_OP float ShuffleXor(float value, std::uint32_t lane_mask, std::uint32_t mask = kFullWarp,
                       Site site = Site::Here());
SK_OP std::uint32_t Shuffle(std::uint32_t value, std::uint32_t source_lane,
                            std::uint32_t mask = kFullWarp, Site site = Site::Here());
SK_OP float Shuffle(float value, std::uint32_t source_lane, std::uint32_t mask = kFullWarp,
                    Site site = Site::Here());
SK_OP std::uint32_t ShuffleUp(std::uint32_t value, std::uint32_t delta,
                              std::uint32_t mask = kFullWarp, Site site = Site::Here());
SK_OP std::uint32_t ShuffleDown(std::uint32_t value, std::uint32_t delta,
                                std::uint32_t mask = kFullWarp, Site site = Site::Here());

// Bit i: the predicate of lane i, for lanes of `mask`.
SK_OP std::uint32_t Ballot(bool predicate, std::uint32_t mask = kFullWarp,
                           Site site = Site::Here());

// redux.sync: integers only. Floats are reduced by ShuffleXor, whose order is fixed.
SK_OP std::uint32_t ReduceAdd(std::uint32_t value, std::uint32_t mask = kFullWarp,
                              Site site = Site::Here());
SK_OP std::uint32_t ReduceMax(std::uint32_t value, std::uint32_t mask = kFullWarp,
                              Site site = Site::Here());
SK_OP std::uint32_t ReduceMin(std::uint32_t value, std::uint32_t mask = kFullWarp,
                              Site site = Site::Here());

// True for exactly one lane of the full warp, the same one at every call of a kernel.
SK_OP bool ElectOne(Site site = Site::Here());

}  // namespace cairn::sk

#ifdef SK_TARGET_GPU
#include "kernels/sk/ptx/warp.h"
#endif

#endif  // CAIRN_KERNELS_SK_WARP_H_
