#include "libs/tokenizer/stream_decoder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "libs/base/bytes.h"
#include "libs/base/rng.h"
#include "libs/gguf/gguf_file.h"
#include "libs/tokenizer/utf8.h"
#include "tests/support/small_vocabulary.h"

namespace cairn {
namespace {

class StreamDecoderTest : public ::testing::Test {
 protected:
  StreamDecoderTest() {
    GgufWriter w;
    SmallVocabulary().WriteTo(w);
    const std::string file = std::move(w).Finish();
    tokenizer_ = *Tokenizer::Create(GgufFile::Parse(AsBytes(file))->metadata());
  }
  std::string Push(StreamDecoder& decoder, char byte) {
    return decoder.Push(SmallVocabulary::ByteId(byte));
  }

  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(StreamDecoderTest, CutCharacterWaitsForItsRest) {
  StreamDecoder decoder(*tokenizer_);
  EXPECT_EQ(Push(decoder, 'a'), "a");
  EXPECT_EQ(Push(decoder, '\xF0'), "");
  EXPECT_EQ(Push(decoder, '\x9F'), "");
  EXPECT_EQ(Push(decoder, '\x98'), "");
  EXPECT_EQ(Push(decoder, '\x80'), "\U0001F600");
  EXPECT_EQ(decoder.Flush(), "");
}

TEST_F(StreamDecoderTest, BrokenBytesAreReplacedAsSoonAsTheyAreKnown) {
  StreamDecoder decoder(*tokenizer_);
  EXPECT_EQ(Push(decoder, '\xFF'), kReplacementCharacter);
  EXPECT_EQ(Push(decoder, '\xC3'), "");
  EXPECT_EQ(Push(decoder, 'x'), std::string(kReplacementCharacter) + "x");
  EXPECT_EQ(Push(decoder, '\xE2'), "");
  EXPECT_EQ(decoder.Flush(), kReplacementCharacter);
  EXPECT_EQ(decoder.Flush(), "") << "flushed once";
}

TEST_F(StreamDecoderTest, PushesTogetherEqualTheWhole) {
  Rng rng(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint32_t> ids(rng.Below(12));
    for (std::uint32_t& id : ids) {
      // Mostly bytes that characters of several bytes are made of; also control and unknown ids.
      id = rng.Chance(1, 10) ? static_cast<std::uint32_t>(rng.Below(300))
                             : SmallVocabulary::ByteId(static_cast<char>(rng.Between(0x78, 0xFF)));
    }
    StreamDecoder decoder(*tokenizer_);
    std::string streamed;
    for (std::uint32_t id : ids) {
      const std::string part = decoder.Push(id);
      ASSERT_EQ(Utf8PrefixBytes(part), part.size());
      streamed += part;
    }
    streamed += decoder.Flush();
    ASSERT_EQ(streamed, ToUtf8(tokenizer_->Decode(ids)));
  }
}

}  // namespace
}  // namespace cairn
