#include "tests/support/json_file.h"

#include <boost/json/parse.hpp>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace cairn {

boost::json::value ReadJsonFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return boost::json::parse(text);
}

}  // namespace cairn
