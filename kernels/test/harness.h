#ifndef CAIRN_KERNELS_TEST_HARNESS_H_
#define CAIRN_KERNELS_TEST_HARNESS_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/sk/emu/machine.h"

// A test harness of a page: kernels/ builds where there is no GoogleTest.
//
//   SK_TEST(BarrierOrdersStores) {
//     SK_EXPECT_EQ(Sum(), 3u);
//   }
//
// A program with these tests is kernels/test/main.cc; it takes parts of names as arguments.

namespace cairn::test {

// What main.cc read from the command line and the environment, for whole runs.
struct Settings {
  std::uint64_t first_seed = 1;  // SK_SEED
  std::uint32_t seeds = 0;       // SK_SEEDS: runs of each schedule test; 0: what the test asks for
  std::string skip_site;         // SK_SKIP
  std::string less_site;         // SK_LESS
  std::string up_site;           // SK_UP
  std::string down_site;         // SK_DOWN
  bool is_verbose = false;       // --verbose
};
Settings& RunSettings();

// The seeds that a test should try: `wanted` of them, or as many as SK_SEEDS says.
std::vector<std::uint64_t> Seeds(std::uint32_t wanted);

// Options of a machine, or of a device, with this run's mutations.
template <class Options>
Options OptionsOf(std::uint64_t seed) {
  Options options;
  options.seed = seed;
  options.skip_site = RunSettings().skip_site;
  options.less_site = RunSettings().less_site;
  options.up_site = RunSettings().up_site;
  options.down_site = RunSettings().down_site;
  return options;
}
// Runs a grid on a machine of its own; its sites count among those of the program. "" or an error.
std::string RunGrid(const sk::emu::Grid& grid, std::uint64_t seed,
                    const std::function<void()>& kernel);
void AddSites(const std::vector<sk::emu::SiteUse>& uses);
// Every site that this program's machines reached.
std::vector<sk::emu::SiteUse> AllSites();

// Registers a test; the macro's business. Returns the number of tests so far.
int AddTest(const char* name, void (*body)());
// Fails the running test with a line of text; the test goes on.
void Fail(const char* file, int line, const std::string& what);
void Print(const std::string& line);
// Whether values are the same bit for bit: of 0 and -0, and of NaNs, too.
bool AreBitsEqual(const std::vector<float>& a, const std::vector<float>& b);
// Runs the tests whose names contain one of `filters` (all, if none). Returns how many failed.
int RunTests(const std::vector<std::string>& filters);

template <class T>
std::string Show(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<long long>(value));
  } else {
    return '"' + std::string(value) + '"';
  }
}

template <class A, class B>
void ExpectEqual(const A& a, const B& b, const char* text, const char* file, int line) {
  if (a == b) return;
  Fail(file, line, std::string(text) + ": " + Show(a) + " and " + Show(b));
}

inline void ExpectContains(std::string_view text, std::string_view part, const char* file,
                           int line) {
  if (text.find(part) != std::string_view::npos) return;
  Fail(file, line, "\"" + std::string(part) + "\" is not in \"" + std::string(text) + "\"");
}

}  // namespace cairn::test

#define SK_TEST(name)                                                                   \
  static void name();                                                                   \
  [[maybe_unused]] static const int name##_number = cairn::test::AddTest(#name, &name); \
  static void name()

#define SK_EXPECT(condition)                                             \
  do {                                                                   \
    if (!(condition)) cairn::test::Fail(__FILE__, __LINE__, #condition); \
  } while (false)
#define SK_EXPECT_EQ(a, b) cairn::test::ExpectEqual((a), (b), #a " == " #b, __FILE__, __LINE__)
#define SK_EXPECT_CONTAINS(text, part) \
  cairn::test::ExpectContains((text), (part), __FILE__, __LINE__)

#endif  // CAIRN_KERNELS_TEST_HARNESS_H_
