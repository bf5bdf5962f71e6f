#include "tools/cairnctl/message_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <memory>

#include "cairn/node/v1/admin.pb.h"
#include "cairn/placement/v1/placement.pb.h"

namespace cairn {
namespace {

std::string Text(const boost::json::value& value) { return boost::json::serialize(value); }

TEST(MessageJsonTest, EveryFieldIsThereSetOrNot) {
  const boost::json::object status = JsonOf(node::v1::StatusResponse());
  const auto& descriptor = *node::v1::StatusResponse::descriptor();
  EXPECT_EQ(status.size(), static_cast<std::size_t>(descriptor.field_count()));
  EXPECT_EQ(Text(status.at("arena_bytes")), "0");
  EXPECT_EQ(Text(status.at("sessions")), "[]");
  EXPECT_EQ(Text(status.at("counters")), "{}");
  EXPECT_EQ(Text(status.at("uptime_seconds")), "null");
}

TEST(MessageJsonTest, ValuesHaveFormsThatScriptsCanRead) {
  node::v1::Entry entry;
  entry.set_key(std::string("\x00\xff", 2));
  entry.set_checksum(0xfedcba9876543210);
  entry.set_bytes(UINT64_MAX);
  entry.mutable_age()->set_seconds(2);
  entry.mutable_age()->set_nanos(500'000'000);
  entry.set_is_held(true);
  const boost::json::object json = JsonOf(entry);
  EXPECT_EQ(Text(json.at("key")), "\"00ff\"");
  EXPECT_EQ(Text(json.at("checksum")), "\"fedcba9876543210\"");
  EXPECT_EQ(Text(json.at("bytes")), "18446744073709551615");
  EXPECT_EQ(json.at("age_seconds").as_double(), 2.5);
  EXPECT_EQ(Text(json.at("is_held")), "true");
}

TEST(MessageJsonTest, AMapIsAnObjectInOrder) {
  node::v1::StatusResponse status;
  for (const char* name : {"c", "a", "b"}) (*status.mutable_counters())[name] = 1;
  EXPECT_EQ(Text(JsonOf(status).at("counters")), R"({"a":1,"b":1,"c":1})");
}

TEST(MessageJsonTest, ListsOfBytesAndMessagesNest) {
  node::v1::ExplainResponse answer;
  answer.add_keys()->add_present_under("\x01");
  answer.add_others()->add_differs_in("rope");
  const boost::json::object json = JsonOf(answer);
  EXPECT_EQ(Text(json.at("keys").at(0).at("present_under")), R"(["01"])");
  EXPECT_EQ(Text(json.at("keys").at(0).at("entry")), "null");
  EXPECT_EQ(Text(json.at("others").at(0).at("differs_in")), R"(["rope"])");
}

TEST(MessageJsonTest, NumbersOfEveryKindAreNumbers) {
  placement::v1::PlanResponse plan;
  plan.add_positions(64);
  plan.add_positions(UINT64_MAX);
  plan.set_expected_recompute(0.5);
  const boost::json::object json = JsonOf(plan);
  EXPECT_EQ(Text(json.at("positions")), "[64,18446744073709551615]");
  EXPECT_EQ(json.at("expected_recompute").as_double(), 0.5);
}

// A field of a kind that JsonOf does not know would end the program in a user's hands.
TEST(MessageJsonTest, EveryAnswerOfEveryRpcCanBePrinted) {
  for (const google::protobuf::FileDescriptor* file :
       {node::v1::StatusResponse::descriptor()->file(),
        placement::v1::StatusResponse::descriptor()->file()}) {
    for (int i = 0; i < file->message_type_count(); ++i) {
      const google::protobuf::Descriptor* type = file->message_type(i);
      const std::unique_ptr<google::protobuf::Message> message(
          google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
      for (int f = 0; f < type->field_count(); ++f) {
        const google::protobuf::FieldDescriptor& field = *type->field(f);
        if (!field.is_repeated() || field.is_map()) continue;
        const google::protobuf::Reflection& reflection = *message->GetReflection();
        if (field.cpp_type() == field.CPPTYPE_MESSAGE) {
          reflection.AddMessage(message.get(), &field);
        } else if (field.cpp_type() == field.CPPTYPE_UINT64) {
          reflection.AddUInt64(message.get(), &field, 1);
        } else {
          ASSERT_EQ(field.cpp_type(), field.CPPTYPE_STRING) << field.full_name();
          reflection.AddString(message.get(), &field, "x");
        }
      }
      EXPECT_EQ(JsonOf(*message).size(), static_cast<std::size_t>(type->field_count()));
    }
  }
}

}  // namespace
}  // namespace cairn
