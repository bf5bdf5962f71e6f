#include "services/worker/completion_sink.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

// Keeps what a client would see.
class KeptReply : public HttpReply {
 public:
  void OnGone(absl::AnyInvocable<void()>) override {}
  void Send(int status, absl::string_view, std::string body) override {
    ++answers;
    this->status = status;
    this->body = std::move(body);
  }
  void BeginStream(absl::string_view) override { has_begun = true; }
  void StreamPiece(std::string bytes) override { body += bytes; }
  void EndStream() override { has_ended = true; }

  int answers = 0, status = 0;
  bool has_begun = false, has_ended = false;
  std::string body;
};

struct SinkTest : testing::Test {
  HttpCompletionSink Make(bool is_stream) {
    return HttpCompletionSink({.report = {.id = "cmpl-1", .model = "m"}, .is_stream = is_stream},
                              reply);
  }
  std::shared_ptr<KeptReply> reply = std::make_shared<KeptReply>();
};

TEST_F(SinkTest, AFailureIsAServerErrorThatSaysWhy) {
  for (const bool is_stream : {false, true}) {
    reply = std::make_shared<KeptReply>();
    HttpCompletionSink sink = Make(is_stream);
    sink.OnFinish(FinishReason::kFailed, "cuda: no room for 7 bytes of logits", {});
    EXPECT_EQ(reply->answers, 1);
    EXPECT_EQ(reply->status, 500);
    EXPECT_NE(reply->body.find("cuda: no room for 7 bytes of logits"), std::string::npos);
    EXPECT_NE(reply->body.find("server_error"), std::string::npos);
    EXPECT_FALSE(reply->has_begun);
  }
}

TEST_F(SinkTest, AFailureBehindTokensIsNoAnswerThatLooksWhole) {
  HttpCompletionSink sink = Make(false);
  sink.OnToken(5, "half");
  sink.OnFinish(FinishReason::kFailed, "it broke", {});
  EXPECT_EQ(reply->status, 500);
  EXPECT_EQ(reply->body.find("half"), std::string::npos);
}

TEST_F(SinkTest, AStreamThatFailsEndsWithTheError) {
  HttpCompletionSink sink = Make(true);
  sink.OnToken(5, "half");
  sink.OnFinish(FinishReason::kFailed, "it broke", {});
  EXPECT_TRUE(reply->has_ended);
  EXPECT_EQ(reply->answers, 0);
  const std::size_t half = reply->body.find("half"), error = reply->body.find("data: {\"error\":");
  EXPECT_LT(half, error);
  EXPECT_LT(error, reply->body.find("it broke"));
  EXPECT_NE(reply->body.find("it broke"), std::string::npos);
  EXPECT_EQ(reply->body.substr(reply->body.size() - 2), "\n\n");
  EXPECT_EQ(reply->body.find("[DONE]"), std::string::npos);
}

// A client tells a cut stream by its missing end.
TEST_F(SinkTest, AStreamThatIsCancelledIsCut) {
  HttpCompletionSink sink = Make(true);
  sink.OnToken(5, "half");
  sink.OnFinish(FinishReason::kCancelled, "", {});
  EXPECT_TRUE(reply->has_begun);
  EXPECT_FALSE(reply->has_ended);
  EXPECT_EQ(reply->answers, 0);
  EXPECT_EQ(reply->body.find("[DONE]"), std::string::npos);
}

TEST_F(SinkTest, AWholeStreamEnds) {
  HttpCompletionSink sink = Make(true);
  sink.OnToken(5, "all");
  sink.OnFinish(FinishReason::kStop, " of it", {});
  EXPECT_TRUE(reply->has_ended);
  EXPECT_NE(reply->body.find(" of it"), std::string::npos);
  EXPECT_NE(reply->body.find("[DONE]"), std::string::npos);
}

TEST_F(SinkTest, ACancelledRequestIs503) {
  HttpCompletionSink sink = Make(false);
  sink.OnToken(5, "half");
  sink.OnFinish(FinishReason::kCancelled, "", {});
  EXPECT_EQ(reply->status, 503);
}

}  // namespace
}  // namespace cairn
