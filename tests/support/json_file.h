#ifndef CAIRN_TESTS_SUPPORT_JSON_FILE_H_
#define CAIRN_TESTS_SUPPORT_JSON_FILE_H_

#include <boost/json/value.hpp>
#include <string>

namespace cairn {

// The JSON of a file; throws (and so fails the test) if it cannot be read or parsed.
boost::json::value ReadJsonFile(const std::string& path);

}  // namespace cairn
#endif  // CAIRN_TESTS_SUPPORT_JSON_FILE_H_
