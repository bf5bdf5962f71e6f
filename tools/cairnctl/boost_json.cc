// The one translation unit that compiles Boost.JSON, which is used header-only.
#include <boost/json/src.hpp>
