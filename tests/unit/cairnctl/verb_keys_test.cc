#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <iostream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "libs/base/limits.h"
#include "libs/base/rng.h"
#include "tests/unit/cairnctl/run_cairnctl.h"
#include "tools/cairnctl/json_text.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
namespace json = boost::json;

constexpr char kOwnVectors[] = "tests/data/keys.json";  // the tests run in the repository's root
constexpr char kSharedVectors[] = "../shared/design/vectors/keys.json";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

json::value Parsed(const std::string& text) { return ParseJson(text).value(); }

// The document without what the verb computes.
json::value InputsOf(json::value document) {
  for (json::value& value : document.at("cases").as_array()) {
    for (const char* name : {"fingerprint", "root", "keys", "digests", "state_keys"}) {
      value.as_object().erase(name);
    }
  }
  return document;
}

void ExpectVectorsMatch(const std::string& path) {
  const json::value expected = Parsed(ReadFile(path));
  const Ran ran = RunWith({"keys", "-"}, json::serialize(InputsOf(expected)));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json::value computed = Parsed(ran.out);
  ASSERT_EQ(computed.at("cases").as_array().size(), expected.at("cases").as_array().size());
  for (std::size_t i = 0; i < expected.at("cases").as_array().size(); ++i) {
    EXPECT_EQ(computed.at("cases").at(i), expected.at("cases").at(i))
        << expected.at("cases").at(i).at("name");
  }
  EXPECT_EQ(computed, expected);
}

TEST(VerbKeysTest, OwnVectorsMatch) { ExpectVectorsMatch(kOwnVectors); }

TEST(VerbKeysTest, OwnVectorsAreExactlyWhatTheVerbPrints) {
  const Ran ran = RunWith({"keys", kOwnVectors});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_TRUE(ran.out == ReadFile(kOwnVectors)) << "run: cairnctl keys " << kOwnVectors;
}

TEST(VerbKeysTest, SharedVectorsMatch) {
  if (!std::ifstream(kSharedVectors)) GTEST_SKIP() << kSharedVectors << " is not here: skipped";
  ExpectVectorsMatch(kSharedVectors);
}

// A valid case; tests replace one part of it.
constexpr char kCase[] =
    R"({"name": "c", "identity": {"model": "m", "weights_digest": "00", "arch": "a", )"
    R"("kv_layout": "k", "rope": "r", "adapter": "", "numerics": "n"}, "namespace": "ns", )"
    R"("salt": "s", "block_tokens": 4, "segments": [{"kind": "prefix", "tokens": [1, 2]}, )"
    R"({"kind": "span", "tokens": [3], "base": 7, )"
    R"("extras": [{"first": 0, "count": 1, "hash": "aa"}]}]})";

std::string Replaced(absl::string_view from, absl::string_view to) {
  const std::string out = absl::StrReplaceAll(kCase, {{from, to}});
  EXPECT_NE(out, kCase) << from;
  return out;
}

std::string Document(absl::string_view cases) { return absl::StrCat("{\"cases\": [", cases, "]}"); }

// The error printed for a document's only case, or "" if there is none.
std::string ErrorOf(const std::string& text) {
  const Ran ran = RunWith({"keys", "-"}, Document(text));
  const json::value document = Parsed(ran.out);
  const json::object& answer = document.at("cases").at(0).as_object();
  EXPECT_EQ(ran.exit_code, answer.contains("error") ? 1 : 0);
  return answer.contains("error") ? std::string(answer.at("error").as_string().c_str()) : "";
}

TEST(VerbKeysTest, AnInvalidCaseIsNamedAndTheOthersGoOn) {
  const Ran ran = RunWith(
      {"keys", "-"}, Document(absl::StrCat(kCase, ",", Replaced("[1, 2]", "[-1]"), ",", kCase)));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("1 of 3 cases are invalid"));
  const json::value document = Parsed(ran.out);
  EXPECT_EQ(document.at("cases").at(0), document.at("cases").at(2));
  EXPECT_TRUE(document.at("cases").at(0).as_object().contains("keys"));
  const json::object& failed = document.at("cases").at(1).as_object();
  EXPECT_EQ(failed.size(), 2u);
  EXPECT_EQ(failed.at("name"), "c");
  EXPECT_TRUE(failed.contains("error"));
}

TEST(VerbKeysTest, ACaseWithoutANameIsNamedByItsPlace) {
  EXPECT_EQ(ErrorOf("3"), "cases[0]: must be an object, not 3");
  EXPECT_EQ(ErrorOf(Replaced(R"("name": "c", )", "")), "cases[0]: name: missing");
}

TEST(VerbKeysTest, ComputedFieldsInTheInputAreIgnored) {
  const std::string honest = RunWith({"keys", "-"}, Document(kCase)).out;
  const std::string lying =
      RunWith(
          {"keys", "-"},
          Document(Replaced("\"salt\"", "\"keys\": 3, \"root\": null, \"digests\": [], \"salt\"")))
          .out;
  EXPECT_EQ(honest, lying);
}

TEST(VerbKeysTest, AnyNoteIsKept) {
  EXPECT_THAT(RunWith({"keys", "-"}, R"({"note": {"x": [1.5]}, "cases": []})").out,
              HasSubstr("1.5"));
}

struct BadField {
  const char* from;
  const char* to;
  const char* error;  // a part of it
};

const BadField kBadFields[] = {
    {"[1, 2]", "[1, 4294967296]",
     "segments[0].tokens[1]: must be a whole number from 0 to 4294967295, not 4294967296"},
    {"[1, 2]", "[-1]",
     "segments[0].tokens[0]: must be a whole number from 0 to 4294967295, not -1"},
    {"[1, 2]", "[1.5]", "segments[0].tokens[0]: must be a whole number"},
    {"[1, 2]", "[1e2]", "segments[0].tokens[0]: must be a whole number"},
    {"[1, 2]", "[99999999999999999999]", "segments[0].tokens[0]: must be a whole number"},
    {"[1, 2]", "[\"1\"]",
     "segments[0].tokens[0]: must be a whole number from 0 to 4294967295, not a value of type "
     "string"},
    {"[1, 2]", "\"1\"", "segments[0].tokens: must be an array, not a value of type string"},
    {"\"tokens\": [3], ", "", "segments[1].tokens: missing"},
    {"\"prefix\"", "\"Prefix\"",
     "segments[0].kind: the kind of a segment is prefix, span or dependent"},
    {"\"kind\": \"prefix\", ", "", "segments[0].kind: missing"},
    {"\"base\": 7", "\"base\": -7", "segments[1].base: must be a whole number"},
    {"\"base\": 7", "\"base\": null", "segments[1].base: must be a whole number"},
    {"\"base\": 7", "\"base\": 9223372036854775807",
     "segment 1: position 9223372036854775807 and 1 tokens go beyond"},
    {"\"count\": 1", "\"count\": 0", "segment 1: extra 0 has count 0"},
    {"\"count\": 1", "\"count\": 2", "segment 1: extra 0 reaches outside"},
    {"\"count\": 1, ", "", "segments[1].extras[0].count: missing"},
    {"\"first\": 0", "\"first\": 4294967295", "segment 1: extra 0 reaches outside"},
    {"\"hash\": \"aa\"", "\"hash\": \"aaa\"",
     "segments[1].extras[0].hash: hex string of odd length 3"},
    {"\"hash\": \"aa\"", "\"hash\": \"zz\"", "segments[1].extras[0].hash: not a hex digit"},
    {"\"hash\"", "\"more\": 1, \"hash\"", "segments[1].extras[0]: unknown field \"more\""},
    {"\"weights_digest\": \"00\"", "\"weights_digest\": \"0\"", "identity.weights_digest: "},
    {"\"rope\": \"r\"", "\"rope\": 1", "identity.rope: must be a string, not 1"},
    {"\"rope\": \"r\", ", "", "identity.rope: missing"},
    {"\"rope\"", "\"ropes\": \"\", \"rope\"", "identity: unknown field \"ropes\""},
    {"\"namespace\": \"ns\"", "\"namespace\": null", "namespace: must be a string"},
    {"\"salt\": \"s\", ", "", "salt: missing"},
    {"\"block_tokens\": 4", "\"block_tokens\": 0", "block_tokens: must be at least 1"},
    {"\"block_tokens\": 4", "\"block_tokens\": 4.0", "block_tokens: must be a whole number"},
    {"\"salt\"", "\"max_tokens\": 0, \"salt\"", "unknown field \"max_tokens\""},
    {"\"segments\"", "\"stream\": {}, \"segments\"", "either segments or stream"},
    {"\"name\": \"c\"", "\"name\": 5", "name: must be a string, not 5"},
};

TEST(VerbKeysTest, EveryBadFieldIsNamedWithItsFault) {
  for (const BadField& bad : kBadFields) {
    EXPECT_THAT(ErrorOf(Replaced(bad.from, bad.to)), HasSubstr(bad.error)) << bad.to;
  }
}

TEST(VerbKeysTest, AnOverlongIdentityIsRefusedByName) {
  const std::string text(limits::kIdentityFieldBytesMax + 1, 'x');
  EXPECT_THAT(ErrorOf(Replaced("\"rope\": \"r\"", absl::StrCat("\"rope\": \"", text, "\""))),
              HasSubstr("identity: rope: 4097 bytes"));
}

std::string StreamCase(absl::string_view stream) {
  const std::string text = kCase;
  return absl::StrCat(text.substr(0, text.find("\"segments\"")), "\"stream\": ", stream, "}");
}

TEST(VerbKeysTest, StreamsAreCheckedToo) {
  EXPECT_EQ(ErrorOf(StreamCase(R"({"tokens": [9, 1], "ssep": 9, "pdep": 8})")), "");
  EXPECT_EQ(ErrorOf(StreamCase(R"({"tokens": [9, 1], "ssep": 9})")), "stream.pdep: missing");
  EXPECT_EQ(ErrorOf(StreamCase(R"({"tokens": [9, 1], "ssep": 9, "pdep": 9})")),
            "stream: ssep and pdep are both 9");
  EXPECT_EQ(ErrorOf(StreamCase(R"({"tokens": [], "ssep": 9, "pdep": 8, "pad": 0})")),
            "stream: unknown field \"pad\"");
  EXPECT_THAT(ErrorOf(StreamCase("[]")), HasSubstr("stream: must be an object"));
}

TEST(VerbKeysTest, ABadDocumentIsOneError) {
  for (const std::string& text :
       {std::string("["), std::string("[]"), std::string("{}"), std::string(R"({"cases": {}})"),
        std::string(R"({"cases": [], "case": 1})")}) {
    const Ran ran = RunWith({"keys", "-"}, text);
    EXPECT_EQ(ran.exit_code, 1) << text;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("cairnctl keys: standard input: "));
  }
}

TEST(VerbKeysTest, AMissingFileOrFolderIsAnError) {
  EXPECT_THAT(RunWith({"keys", "tests/data/no_such_file"}).err,
              HasSubstr("tests/data/no_such_file: cannot be opened"));
  const Ran folder = RunWith({"keys", "tests/data"});
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_THAT(folder.err, HasSubstr("tests/data: cannot be read"));
}

TEST(VerbKeysTest, ATooLargeInputIsRefused) {
  const Ran ran = RunWith({"keys", "-"}, std::string(limits::kKeysFileBytesMax + 1, ' '));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("larger than 67108864 bytes"));
}

// Whatever is thrown at it, the verb ends with 0 or 1, prints JSON or one error, and never crashes.
TEST(VerbKeysTest, GarbageIsAnError) {
  const std::string pieces[] = {"{",        "}",         "[",       "]",
                                ",",        ":",         "\"",      "null",
                                "-1",       "1e999",     "\\u0000", "4294967295",
                                "\"span\"", "\"base\":", "\xff",    "18446744073709551615"};
  const std::string start = Document(kCase);
  Rng rng(11);
  int answered = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = start;
    for (std::uint64_t edits = rng.Between(1, 3); edits > 0; --edits) {
      const std::size_t at = rng.Below(text.size());
      switch (rng.Below(4)) {
        case 0:
          text[at] = static_cast<char>(rng.Below(256));
          break;
        case 1:
          text.erase(at, rng.Between(1, 8));
          break;
        case 2:
          text.insert(at, pieces[rng.Below(std::size(pieces))]);
          break;
        default:
          text.insert(at, text.substr(rng.Below(text.size()), 20));
          break;
      }
    }
    const Ran ran = RunWith({"keys", "-"}, text);
    ASSERT_TRUE(ran.exit_code == 0 || ran.exit_code == 1) << text;
    ASSERT_EQ(ran.err.empty(), ran.exit_code == 0) << text;
    ASSERT_TRUE(ran.out.empty() || ParseJson(ran.out).ok()) << text;
    if (!ran.out.empty()) ++answered;
  }
  EXPECT_GT(answered, 1000) << "the garbage never gets past the parser";
}

}  // namespace
}  // namespace cairn
