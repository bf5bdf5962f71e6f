#include <bit>

#include "kernels/sk/emu/block.h"
#include "kernels/sk/matrix.h"
#include "kernels/sk/number_soft.h"
#include "kernels/sk/warp.h"

// Operations in which the lanes of a warp meet: shuffles, votes, reductions, matrix operations.

namespace cairn::sk::emu {

void Block::Meet(const char* operation, std::uint32_t mask, void* arguments, void (*run)(Meeting&),
                 Site site, bool is_any_site) {
  Thread& self = Current();
  Warp& warp = *self.warp;
  const std::uint32_t bit = 1u << self.lane();
  if ((mask & bit) == 0) Fail(operation, site, "the mask does not name the lane that calls");

  Meeting* meeting = nullptr;
  for (Meeting& other : warp.meetings) {
    if ((other.mask & mask) == 0) continue;
    const Site first = other.sites[other.first_lane];
    const bool is_same_place = is_any_site || AreSame(first, site);
    if (other.mask != mask || other.operation != operation || !is_same_place) {
      Fail(operation, site,
           std::string("lanes that should meet are apart: lane ") +
               std::to_string(other.first_lane) + " is in " + other.operation + " at ",
           first);
    }
    meeting = &other;
  }
  if (meeting == nullptr) {
    warp.meetings.push_back({operation, mask, 0, {}, {}, self.lane()});
    meeting = &warp.meetings.back();
  }
  meeting->arguments[self.lane()] = arguments;
  meeting->sites[self.lane()] = site;
  meeting->arrived |= bit;
  if (meeting->arrived != mask) return WaitIn(operation, site);

  Meeting done = *meeting;
  warp.meetings.erase(warp.meetings.begin() + (meeting - warp.meetings.data()));
  run(done);
  for (std::uint32_t others = mask & ~bit; others != 0; others &= others - 1) {
    Wake(threads[warp.index * kWarpLanes + std::countr_zero(others)]);
  }  // no progress in the sense of pollers: a warp may meet in its polling loop
}

namespace {

// ---- Words: every lane brings one and takes one away --------------------------------------------

struct WordArguments {
  std::uint32_t value;   // in and out
  std::uint32_t choice;  // which lane, how far
};

WordArguments& Word(Meeting& meeting, std::uint32_t lane) {
  return *static_cast<WordArguments*>(meeting.arguments[lane]);
}

std::uint32_t MeetWords(const char* operation, std::uint32_t value, std::uint32_t choice,
                        std::uint32_t mask, void (*run)(Meeting&), Site site) {
  Thread& self = Current();
  if (IsSkipped(self, site, operation)) return value;
  WordArguments arguments{value, choice};
  self.block->Meet(operation, mask, &arguments, run, site);
  return arguments.value;
}

// Gives each lane the value of lane source(lane, choice), or its own where that is none of `mask`.
template <class Source>
void Exchange(Meeting& meeting, Source source) {
  std::uint32_t values[kWarpLanes];
  for (std::uint32_t left = meeting.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint32_t from = source(lane, Word(meeting, lane).choice);
    const bool is_there = from < kWarpLanes && (meeting.mask >> from & 1) != 0;
    // A lane outside the mask gives an undefined value: poison, not its own.
    values[lane] = from >= kWarpLanes ? Word(meeting, lane).value
                   : is_there         ? Word(meeting, from).value
                                      : kPoison;
  }
  for (std::uint32_t left = meeting.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    Word(meeting, lane).value = values[lane];
  }
}

template <class Fold>
void Reduce(Meeting& meeting, Fold fold) {
  std::uint32_t result = 0;
  bool is_first = true;
  for (std::uint32_t left = meeting.mask; left != 0; left &= left - 1) {
    const std::uint32_t value =
        Word(meeting, static_cast<std::uint32_t>(std::countr_zero(left))).value;
    result = is_first ? value : fold(result, value);
    is_first = false;
  }
  for (std::uint32_t left = meeting.mask; left != 0; left &= left - 1) {
    Word(meeting, static_cast<std::uint32_t>(std::countr_zero(left))).value = result;
  }
}

// ---- Matrices -----------------------------------------------------------------------------------

// Each row is read when the lane that names it arrives, and written when that lane goes on: these
// operations order no memory accesses among lanes, SyncWarp does.
struct MatrixArguments {
  std::uint32_t* registers;               // loads
  const std::uint32_t* stored_registers;  // stores
  int count;
  std::uint16_t row[8];  // of lanes below 8 * count
};

MatrixArguments& Matrix(Meeting& meeting, std::uint32_t lane) {
  return *static_cast<MatrixArguments*>(meeting.arguments[lane]);
}

void LoadRows(Meeting& meeting, bool is_transposed) {
  const int count = Matrix(meeting, 0).count;
  for (int j = 0; j < count; ++j) {
    const auto at = [&](std::uint32_t row, std::uint32_t column) {
      return Matrix(meeting, static_cast<std::uint32_t>(j) * 8 + row).row[column];
    };
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint32_t i = lane / 4, k = lane % 4 * 2;
      const std::uint16_t low = is_transposed ? at(k, i) : at(i, k);
      const std::uint16_t high = is_transposed ? at(k + 1, i) : at(i, k + 1);
      Matrix(meeting, lane).registers[j] = low | static_cast<std::uint32_t>(high) << 16;
    }
  }
}

void StoreRows(Meeting& meeting) {
  const int count = Matrix(meeting, 0).count;
  for (int j = 0; j < count; ++j) {
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      std::uint16_t* row = Matrix(meeting, static_cast<std::uint32_t>(j) * 8 + lane / 4).row;
      std::memcpy(row + lane % 4 * 2, &Matrix(meeting, lane).stored_registers[j], 4);
    }
  }
}

struct MmaArguments {
  float* c;
  const std::uint32_t* a;
  const std::uint32_t* b;
};

template <class ToFloat>
void Multiply(Meeting& meeting, ToFloat to_float) {
  float a[16][16], b[16][8], c[16][8];
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    const auto& arguments = *static_cast<MmaArguments*>(meeting.arguments[lane]);
    const std::uint32_t g = lane / 4, t = lane % 4;
    for (std::uint32_t half = 0; half < 2; ++half) {  // the lower and the upper 16 bits
      const std::uint32_t shift = half * 16, k = 2 * t + half;
      a[g][k] = to_float(arguments.a[0] >> shift & 0xffff);
      a[g + 8][k] = to_float(arguments.a[1] >> shift & 0xffff);
      a[g][k + 8] = to_float(arguments.a[2] >> shift & 0xffff);
      a[g + 8][k + 8] = to_float(arguments.a[3] >> shift & 0xffff);
      b[k][g] = to_float(arguments.b[0] >> shift & 0xffff);
      b[k + 8][g] = to_float(arguments.b[1] >> shift & 0xffff);
      c[g][k] = arguments.c[half];
      c[g + 8][k] = arguments.c[2 + half];
    }
  }
  // Onto c, in ascending k: not wgmma's order.
  for (int m = 0; m < 16; ++m) {
    for (int k = 0; k < 16; ++k) {
      for (int n = 0; n < 8; ++n) c[m][n] += a[m][k] * b[k][n];
    }
  }
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    float* out = static_cast<MmaArguments*>(meeting.arguments[lane])->c;
    const std::uint32_t g = lane / 4, t = lane % 4;
    out[0] = c[g][2 * t];
    out[1] = c[g][2 * t + 1];
    out[2] = c[g + 8][2 * t];
    out[3] = c[g + 8][2 * t + 1];
  }
}

}  // namespace

void LoadMatrices(std::uint32_t* registers, int count, bool is_transposed, SharedAddress row,
                  Site site) {
  Thread& self = Current();
  const char* operation = is_transposed ? "LoadMatrixTransposed" : "LoadMatrix";
  MatrixArguments arguments{registers, nullptr, count, {}};
  if (self.lane() < static_cast<std::uint32_t>(count) * 8) {
    std::memcpy(arguments.row, self.block->At(row, 16, 16, operation, site), 16);
  }
  self.block->Meet(
      operation, kFullWarp, &arguments,
      is_transposed ? [](Meeting& meeting) { LoadRows(meeting, true); }
                    : [](Meeting& meeting) { LoadRows(meeting, false); },
      site);
}

void StoreMatrices(SharedAddress row, const std::uint32_t* registers, int count, Site site) {
  Thread& self = Current();
  MatrixArguments arguments{nullptr, registers, count, {}};
  const bool is_owner = self.lane() < static_cast<std::uint32_t>(count) * 8;
  std::byte* place = is_owner ? self.block->At(row, 16, 16, "StoreMatrix", site) : nullptr;
  self.block->Meet("StoreMatrix", kFullWarp, &arguments, StoreRows, site);
  if (is_owner) std::memcpy(place, arguments.row, 16);
}

}  // namespace cairn::sk::emu

namespace cairn::sk {

using emu::Meeting;
using emu::MeetWords;

void SyncWarp(std::uint32_t mask, Site site) {
  emu::Thread& self = emu::Current();
  if (emu::IsSkipped(self, site, "SyncWarp")) return;
  self.block->Meet(
      "SyncWarp", mask, nullptr, [](Meeting&) {}, site, /*is_any_site=*/true);
}

std::uint32_t ShuffleXor(std::uint32_t value, std::uint32_t lane_mask, std::uint32_t mask,
                         Site site) {
  constexpr auto kRun = [](Meeting& meeting) {
    emu::Exchange(meeting, [](std::uint32_t lane, std::uint32_t choice) {
      return lane ^ (choice % kWarpLanes);
    });
  };
  return MeetWords("ShuffleXor", value, lane_mask, mask, kRun, site);
}
float ShuffleXor(float value, std::uint32_t lane_mask, std::uint32_t mask, Site site) {
  return soft::FromBits(ShuffleXor(soft::Bits(value), lane_mask, mask, site));
}
std::uint32_t Shuffle(std::uint32_t value, std::uint32_t source_lane, std::uint32_t mask,
                      Site site) {
  constexpr auto kRun = [](Meeting& meeting) {
    emu::Exchange(meeting, [](std::uint32_t, std::uint32_t choice) { return choice % kWarpLanes; });
  };
  return MeetWords("Shuffle", value, source_lane, mask, kRun, site);
}
float Shuffle(float value, std::uint32_t source_lane, std::uint32_t mask, Site site) {
  return soft::FromBits(Shuffle(soft::Bits(value), source_lane, mask, site));
}
std::uint32_t ShuffleUp(std::uint32_t value, std::uint32_t delta, std::uint32_t mask, Site site) {
  constexpr auto kRun = [](Meeting& meeting) {
    emu::Exchange(meeting, [](std::uint32_t lane, std::uint32_t choice) {
      return choice > lane ? kWarpLanes : lane - choice;
    });
  };
  return MeetWords("ShuffleUp", value, delta, mask, kRun, site);
}
std::uint32_t ShuffleDown(std::uint32_t value, std::uint32_t delta, std::uint32_t mask, Site site) {
  constexpr auto kRun = [](Meeting& meeting) {
    emu::Exchange(meeting, [](std::uint32_t lane, std::uint32_t choice) {
      return choice >= kWarpLanes ? kWarpLanes : lane + choice;
    });
  };
  return MeetWords("ShuffleDown", value, delta, mask, kRun, site);
}

std::uint32_t Ballot(bool predicate, std::uint32_t mask, Site site) {
  constexpr auto kRun = [](Meeting& meeting) {
    std::uint32_t votes = 0;
    for (std::uint32_t left = meeting.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      votes |= emu::Word(meeting, lane).value << lane;
    }
    for (std::uint32_t left = meeting.mask; left != 0; left &= left - 1) {
      emu::Word(meeting, static_cast<std::uint32_t>(std::countr_zero(left))).value = votes;
    }
  };
  return MeetWords("Ballot", predicate ? 1 : 0, 0, mask, kRun, site);
}

std::uint32_t ReduceAdd(std::uint32_t value, std::uint32_t mask, Site site) {
  constexpr auto kRun = [](Meeting& meeting) {
    emu::Reduce(meeting, [](std::uint32_t a, std::uint32_t b) { return a + b; });
  };
  return MeetWords("ReduceAdd", value, 0, mask, kRun, site);
}
std::uint32_t ReduceMax(std::uint32_t value, std::uint32_t mask, Site site) {
  constexpr auto kRun = [](Meeting& meeting) {
    emu::Reduce(meeting, [](std::uint32_t a, std::uint32_t b) { return a > b ? a : b; });
  };
  return MeetWords("ReduceMax", value, 0, mask, kRun, site);
}
std::uint32_t ReduceMin(std::uint32_t value, std::uint32_t mask, Site site) {
  constexpr auto kRun = [](Meeting& meeting) {
    emu::Reduce(meeting, [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; });
  };
  return MeetWords("ReduceMin", value, 0, mask, kRun, site);
}

bool ElectOne(Site site) {
  // Any lane, but always the same one of a block: PTX's choice is deterministic, not stated.
  emu::Thread& self = emu::Current();
  const auto elected = static_cast<std::uint32_t>(self.block->seed % kWarpLanes);
  self.block->Meet(
      "ElectOne", kFullWarp, nullptr, [](Meeting&) {}, site);
  return self.lane() == elected;
}

void MmaBf16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], Site site) {
  emu::MmaArguments arguments{c, a, b};
  constexpr auto kRun = [](Meeting& meeting) { emu::Multiply(meeting, soft::FromBf16); };
  emu::Current().block->Meet("MmaBf16", kFullWarp, &arguments, kRun, site);
}
void MmaF16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], Site site) {
  emu::MmaArguments arguments{c, a, b};
  constexpr auto kRun = [](Meeting& meeting) { emu::Multiply(meeting, soft::FromF16); };
  emu::Current().block->Meet("MmaF16", kFullWarp, &arguments, kRun, site);
}

}  // namespace cairn::sk
