#include "libs/base/sha256.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Sha256Test, EqualsThePublishedVectors) {
  EXPECT_EQ(Sha256Of("abc").ToHex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Of("").ToHex(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256Test, FinishStartsTheNextMessage) {
  Sha256 hash;
  hash.Update("xyz").Finish();
  EXPECT_EQ(hash.Update("a").Update("bc").Finish(), Sha256Of("abc"));
}

TEST(Sha256Test, IntegersAreLittleEndianAndLengthsPrefixed) {
  const Digest256 by_parts =
      Sha256().UpdateU8(1).UpdateU32(0x05040302).UpdateU64(6).UpdateLengthPrefixed("q").Finish();
  EXPECT_EQ(by_parts,
            Sha256Of(std::string("\x01\x02\x03\x04\x05\x06\0\0\0\0\0\0\0\x01\0\0\0q", 18)));
}

TEST(Sha256Test, HmacEqualsRfc4231Case2) {
  EXPECT_EQ(HmacSha256("Jefe", "what do ya want for nothing?").ToHex(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Sha256Test, ConstantTimeCompareSeesEveryByte) {
  Digest256 a = Sha256Of("a");
  Digest256 b = a;
  EXPECT_TRUE(EqualConstantTime(a, b));
  b.bytes[31] ^= 1;
  EXPECT_FALSE(EqualConstantTime(a, b));
}

TEST(Sha256Test, RandomBytesDiffer) { EXPECT_NE(RandomBytes(32), RandomBytes(32)); }

}  // namespace
}  // namespace cairn
