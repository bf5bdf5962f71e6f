# Every package the product uses, found in one place (Debian 12 versions: WORKSPACE.md).
find_package(Threads REQUIRED)
find_package(absl CONFIG REQUIRED)  # before gRPC: one Abseil for all
find_package(Protobuf REQUIRED)     # CMake's module: Debian ships no protobuf-config.cmake
find_package(gRPC CONFIG REQUIRED)
# re2, by gRPC, brings -pthread, which nothing here needs (glibc 2.34), and which defines a macro that the tests'
# precompiled header was made without.
set_property(TARGET re2::re2 PROPERTY INTERFACE_COMPILE_OPTIONS "")
find_package(ucx CONFIG REQUIRED)   # use the targets; its UCX_LIBRARIES variable is broken
find_package(Boost 1.81 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(GTest CONFIG REQUIRED)
find_package(benchmark CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(rocksdb REQUIRED IMPORTED_TARGET rocksdb)  # its CMake config wants what it was built with

# Boost.JSON is used header-only, as Debian's libboost1.81-dev has it: its code is compiled once, here.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/boost_json.cc CONTENT "#include <boost/json/src.hpp>\n")
add_library(boost_json STATIC ${PROJECT_BINARY_DIR}/boost_json.cc)
target_link_libraries(boost_json PUBLIC Boost::headers)
add_library(Boost::json_source ALIAS boost_json)
