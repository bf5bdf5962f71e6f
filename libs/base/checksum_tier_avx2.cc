#define CAIRN_CHECKSUM_TIER SumAvx2
#include "libs/base/checksum_tier.cc"
