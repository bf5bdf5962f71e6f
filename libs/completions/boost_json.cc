// Boost.JSON is header-only with its code in this one source.
#include <boost/json/src.hpp>
