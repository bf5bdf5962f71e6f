# The layer law stops configure. Run: cmake -DROOT=<repository> -DWORK=<empty folder> -P layer_law_test.cmake
# Each case is a tiny project of libraries, told by their cairn_library lines.
cmake_minimum_required(VERSION 3.25)

# configure(LINES RC OUTPUT): configures a project made of LINES.
function(configure lines rc_out output_out)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/tests/support/pch.cc "")
  file(WRITE ${WORK}/a.cc "")
  file(WRITE ${WORK}/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
set(CMAKE_CXX_COMPILER_FORCED ON)
project(tiny LANGUAGES CXX)
add_library(GTest::gtest INTERFACE IMPORTED)
add_library(GTest::gmock INTERFACE IMPORTED)
include(${ROOT}/tools/cmake/CairnTargets.cmake)
enable_testing()
${lines}")
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${WORK} -B ${WORK}/build
    RESULT_VARIABLE rc OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # messages are wrapped
  set(${rc_out} ${rc} PARENT_SCOPE)
  set(${output_out} "${output}" PARENT_SCOPE)
endfunction()

function(expect_accepted lines)
  configure("${lines}" rc output)
  if(NOT rc EQUAL 0)
    message(SEND_ERROR "refused, but it obeys the law:\n${lines}\n${output}")
  endif()
endfunction()

function(expect_refused lines text)
  configure("${lines}" rc output)
  string(FIND "${output}" "${text}" at)
  if(rc EQUAL 0 OR at EQUAL -1)
    message(SEND_ERROR "expected a refusal that says '${text}', got exit code ${rc}:\n${lines}\n${output}")
  endif()
endfunction()

set(base "cairn_library(NAME base LAYER 0 SRCS a.cc)\n")
set(pin "cairn_library(NAME pin LAYER 1 SRCS a.cc DEPS cairn::base)\n")
set(loop "cairn_library(NAME loop_asio LAYER 3 SRCS a.cc)\n")

expect_accepted("${base}${pin}cairn_library(NAME headers LAYER 2 DEPS cairn::pin)\n")
expect_accepted("${base}${pin}${loop}cairn_binary(NAME cairn-node SRCS a.cc DEPS cairn::pin cairn::loop_asio)\n")
# Sideways, upward, and upward through PRIVATE_DEPS.
expect_refused("${base}${pin}cairn_library(NAME index LAYER 1 SRCS a.cc DEPS cairn::pin)\n"
  "cairn::index (layer 1) may not use cairn::pin (layer 1)")
expect_refused("cairn_library(NAME node LAYER 5 SRCS a.cc)\ncairn_library(NAME low LAYER 1 SRCS a.cc DEPS cairn::node)\n"
  "cairn::low (layer 1) may not use cairn::node (layer 5)")
expect_refused("${base}${pin}cairn_library(NAME low LAYER 0 SRCS a.cc PRIVATE_DEPS cairn::pin)\n"
  "cairn::low (layer 0) may not use cairn::pin (layer 1)")
# A link added past cairn_library, by either of the target's names.
expect_refused("${base}${pin}target_link_libraries(cairn_base PUBLIC cairn::pin)\n"
  "cairn::base (layer 0) may not use cairn::pin (layer 1)")
expect_refused("${base}${pin}target_link_libraries(cairn_base PRIVATE cairn_pin)\n"
  "cairn::base (layer 0) may not use cairn::pin (layer 1)")
# Layers 4 and 5 see ports only.
expect_refused("${loop}cairn_library(NAME node LAYER 5 SRCS a.cc DEPS cairn::loop_asio)\n"
  "cairn::node (layer 5) sees ports, never an adapter: cairn::loop_asio")
expect_refused("cairn_library(NAME pin LAYER 1 SRCS a.cc DEPS cairn::none)\n"
  "no such library cairn::none")
expect_refused("cairn_test(NAME t SRCS a.cc LABEL often)\n"
  "no label often")
