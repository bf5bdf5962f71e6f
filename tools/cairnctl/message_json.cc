#include "tools/cairnctl/message_json.h"

#include <google/protobuf/duration.pb.h>

#include <boost/json/array.hpp>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/hex.h"

namespace cairn {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsDuration(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         field.message_type() == google::protobuf::Duration::descriptor();
}

double SecondsOf(const Message& message) {
  const auto& duration = static_cast<const google::protobuf::Duration&>(message);
  return static_cast<double>(duration.seconds()) + 1e-9 * duration.nanos();
}

boost::json::value TextOf(const FieldDescriptor& field, const std::string& text) {
  return boost::json::string(field.type() == FieldDescriptor::TYPE_BYTES ? ToHex(text) : text);
}

boost::json::value Number64(const FieldDescriptor& field, std::uint64_t number) {
  if (field.type() != FieldDescriptor::TYPE_FIXED64) return number;
  return boost::json::string(std::string(absl::StrCat(absl::Hex(number, absl::kZeroPad16))));
}

boost::json::value SingleValue(const FieldDescriptor& field, const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Number64(field, reflection.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_STRING:
      return TextOf(field, reflection.GetString(message, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (!reflection.HasField(message, &field)) return nullptr;
      if (IsDuration(field)) return SecondsOf(reflection.GetMessage(message, &field));
      return JsonOf(reflection.GetMessage(message, &field));
    default:
      CAIRN_CHECK(false) << "no value of this kind yet: " << field.full_name();
      return nullptr;
  }
}

boost::json::value MapValue(const FieldDescriptor& field, const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  std::map<std::string, boost::json::value> sorted;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    sorted[entry.GetReflection()->GetString(entry, &key)] = SingleValue(value, entry);
  }
  boost::json::object out;
  for (auto& [name, one] : sorted) out[name] = std::move(one);
  return out;
}

boost::json::value ListValue(const FieldDescriptor& field, const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  boost::json::array out;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        out.push_back(JsonOf(reflection.GetRepeatedMessage(message, &field, i)));
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        out.push_back(TextOf(field, reflection.GetRepeatedString(message, &field, i)));
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        out.push_back(Number64(field, reflection.GetRepeatedUInt64(message, &field, i)));
        break;
      default:
        CAIRN_CHECK(false) << "no list of this kind yet: " << field.full_name();
    }
  }
  return out;
}

}  // namespace

boost::json::object JsonOf(const Message& message) {
  boost::json::object out;
  const auto& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    std::string name = field.name();
    if (field.is_map()) {
      out[name] = MapValue(field, message);
    } else if (field.is_repeated()) {
      out[name] = ListValue(field, message);
    } else {
      if (IsDuration(field)) name += "_seconds";
      out[name] = SingleValue(field, message);
    }
  }
  return out;
}

}  // namespace cairn
