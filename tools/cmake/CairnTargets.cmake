# cairn_library, cairn_binary, cairn_test, cairn_script_test, cairn_fuzz, cairn_proto_library.
# The layer law (services/ARCHITECTURE.md): a library may use strictly lower layers only, and layers 4 and 5 see
# ports, never their adapters; anything else stops configure (tests/unit/tools/layer_law_test.cmake).

# Targets that gather others, so that a run builds only what it needs:
#   tests_<label>      the tests with that label, and the programs that they start
#   cairn_libraries    every library          cairn_programs    every program (layer 6)          fuzzers
set(CAIRN_TEST_LABELS unit contract sim e2e kernels gpu slow
  tsan   # also run under ThreadSanitizer by .ci/run (contract is anyway)
  tree)  # looks at the source tree only: left out of sanitizer runs
foreach(label IN LISTS CAIRN_TEST_LABELS)
  add_custom_target(tests_${label})
endforeach()
add_custom_target(cairn_libraries)
add_custom_target(cairn_programs)
add_custom_target(fuzzers)

add_library(cairn_warnings INTERFACE)
target_compile_options(cairn_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror;-Wno-unused-parameter;-Wnon-virtual-dtor;-Woverloaded-virtual;-Wimplicit-fallthrough>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds;-Wno-missing-field-initializers>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-missing-field-initializers>)
if(CAIRN_THREAD_SAFETY)
  target_compile_options(cairn_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)
endif()
if(CAIRN_DCHECKS)
  target_compile_definitions(cairn_warnings INTERFACE CAIRN_DCHECKS=1)
endif()

function(cairn_check_layers name layer)
  foreach(dep IN LISTS ARGN)
    if(dep MATCHES "^cairn::")
      if(NOT TARGET ${dep})
        message(FATAL_ERROR "cairn::${name}: no such library ${dep} (libraries are added from layer 0 up)")
      endif()
      get_target_property(real ${dep} ALIASED_TARGET)
      get_target_property(dep_layer ${real} CAIRN_LAYER)
      if(dep_layer GREATER_EQUAL layer)
        message(FATAL_ERROR "cairn::${name} (layer ${layer}) may not use ${dep} (layer ${dep_layer})")
      endif()
      if(layer MATCHES "^[45]$" AND dep MATCHES "^cairn::(transport|loop|memory|local|copier|store|device|membership)_")
        message(FATAL_ERROR "cairn::${name} (layer ${layer}) sees ports, never an adapter: ${dep} is chosen by a program")
      endif()
    endif()
  endforeach()
endfunction()

# Runs when all folders were read: links added past cairn_library (target_link_libraries) obey the same law.
function(cairn_check_all_links)
  get_property(names GLOBAL PROPERTY CAIRN_LIBRARY_NAMES)
  foreach(name IN LISTS names)
    get_target_property(layer cairn_${name} CAIRN_LAYER)
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(links cairn_${name} ${property})
      if(links)
        list(TRANSFORM links REPLACE "^cairn_([a-z0-9_]+)$" "cairn::\\1")
        list(REMOVE_ITEM links cairn::warnings cairn::pch_flags)
        cairn_check_layers(${name} ${layer} ${links})
      endif()
    endforeach()
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL cairn_check_all_links)

# What ccache needs to cache sources that use a precompiled header.
add_library(cairn_pch_flags INTERFACE)
target_compile_options(cairn_pch_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
  $<$<CXX_COMPILER_ID:Clang>:-Xclang;-fno-pch-timestamp>)

# Under sanitizers only, where headers are most of a build's time, libraries have one too. Elsewhere they do not, so that
# a missing #include is found. (Sources with compile options of their own say SKIP_PRECOMPILE_HEADERS.)
if(CAIRN_SANITIZE AND NOT CAIRN_FUZZ)
  add_library(cairn_library_pch STATIC ${PROJECT_SOURCE_DIR}/tools/cmake/library_pch.cc)
  target_link_libraries(cairn_library_pch PRIVATE absl::strings cairn_warnings cairn_pch_flags)
  target_precompile_headers(cairn_library_pch PRIVATE <algorithm> <array> <atomic> <cstdint> <cstring> <deque> <map>
    <memory> <optional> <string> <utility> <vector> <absl/container/flat_hash_map.h> <absl/functional/any_invocable.h>
    <absl/status/statusor.h> <absl/strings/str_cat.h> <absl/time/time.h> <absl/types/span.h>)
endif()

# cairn_library(NAME span LAYER 1 SRCS a.cc HDRS a.h DEPS cairn::base PRIVATE_DEPS OpenSSL::Crypto)
function(cairn_library)
  cmake_parse_arguments(A "" "NAME;LAYER" "SRCS;HDRS;DEPS;PRIVATE_DEPS" ${ARGN})
  cairn_check_layers(${A_NAME} ${A_LAYER} ${A_DEPS} ${A_PRIVATE_DEPS})
  set_property(GLOBAL APPEND PROPERTY CAIRN_LIBRARY_NAMES ${A_NAME})
  if(A_SRCS)
    add_library(cairn_${A_NAME} STATIC ${A_SRCS})
    set(scope PUBLIC)
    target_link_libraries(cairn_${A_NAME} PUBLIC ${A_DEPS} PRIVATE ${A_PRIVATE_DEPS} cairn_warnings)
    if(TARGET cairn_library_pch)
      target_link_libraries(cairn_${A_NAME} PRIVATE cairn_pch_flags)
      target_precompile_headers(cairn_${A_NAME} REUSE_FROM cairn_library_pch)
    endif()
  else()
    add_library(cairn_${A_NAME} INTERFACE)
    set(scope INTERFACE)
    target_link_libraries(cairn_${A_NAME} INTERFACE ${A_DEPS})
  endif()
  add_library(cairn::${A_NAME} ALIAS cairn_${A_NAME})
  if(A_HDRS)
    target_sources(cairn_${A_NAME} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${A_HDRS})
  endif()
  target_include_directories(cairn_${A_NAME} ${scope} ${PROJECT_SOURCE_DIR})
  # VERIFY: target all_verify_interface_header_sets compiles every header alone.
  set_target_properties(cairn_${A_NAME} PROPERTIES CAIRN_LAYER ${A_LAYER} VERIFY_INTERFACE_HEADER_SETS ON)
  add_dependencies(cairn_libraries cairn_${A_NAME})
endfunction()

# cairn_binary(NAME cairn-node SRCS main.cc DEPS cairn::node [FOR_TESTS]): a program in build/<preset>/bin (layer 6).
# FOR_TESTS: nothing that users run, and so no part of cairn_programs.
function(cairn_binary)
  cmake_parse_arguments(A "FOR_TESTS" "NAME" "SRCS;DEPS" ${ARGN})
  add_executable(${A_NAME} ${A_SRCS})
  target_include_directories(${A_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${A_NAME} PRIVATE ${A_DEPS} cairn_warnings)
  if(NOT A_FOR_TESTS)
    add_dependencies(cairn_programs ${A_NAME})
  endif()
endfunction()

# One precompiled header (gtest, gmock) for all tests.
# Its carrier is a program, since a library's code is compiled with other flags (-fPIC, not -fPIE).
add_executable(cairn_test_pch ${PROJECT_SOURCE_DIR}/tests/support/pch.cc)
target_link_libraries(cairn_test_pch PRIVATE GTest::gtest GTest::gmock cairn_warnings)
target_precompile_headers(cairn_test_pch PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
# UBSan is for the product: a test's own assertions cost twice the time to compile with it, and find nothing.
add_library(cairn_test_flags INTERFACE)
target_link_libraries(cairn_test_flags INTERFACE cairn_pch_flags)
if(CAIRN_SANITIZE MATCHES "undefined" AND NOT CAIRN_FUZZ)
  target_compile_options(cairn_test_flags INTERFACE -fno-sanitize=undefined)
endif()
target_link_libraries(cairn_test_pch PRIVATE cairn_test_flags)

# Seconds: against hangs only. Twenty times what the longest test takes, for slow machines and busy ones.
set(CAIRN_TEST_TIMEOUT 900)
# Labels a ctest and makes what it runs part of tests_<label>; a sanitizer's run gets three times as long.
function(cairn_label_test name timeout labels)
  if(CAIRN_SANITIZE)
    math(EXPR timeout "${timeout} * 3")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout})
  foreach(label IN LISTS labels)
    if(NOT TARGET tests_${label})
      message(FATAL_ERROR "test ${name}: no label ${label}; there are ${CAIRN_TEST_LABELS}")
    endif()
    foreach(target IN LISTS ARGN)
      add_dependencies(tests_${label} ${target})
    endforeach()
  endforeach()
endfunction()

# cairn_test(NAME span_keys SRCS keys_test.cc DEPS cairn::span LABEL unit [tsan] [ARGS ...] [NEEDS cairn-node]
#            [NO_MAIN] [TIMEOUT s]): binary test_<NAME>; NEEDS names programs that it starts.
function(cairn_test)
  cmake_parse_arguments(A "NO_MAIN" "NAME;TIMEOUT" "SRCS;DEPS;LABEL;ARGS;NEEDS" ${ARGN})
  add_executable(test_${A_NAME} ${A_SRCS})
  target_include_directories(test_${A_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(test_${A_NAME} PRIVATE ${A_DEPS} GTest::gtest GTest::gmock cairn_warnings cairn_test_flags)
  if(NOT A_NO_MAIN)
    target_link_libraries(test_${A_NAME} PRIVATE GTest::gtest_main)
  endif()
  target_precompile_headers(test_${A_NAME} REUSE_FROM cairn_test_pch)
  set_target_properties(test_${A_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(CAIRN_FUZZ)  # this preset builds fuzzers only, and its test preset runs nothing else
    set_target_properties(test_${A_NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT ${CAIRN_TEST_TIMEOUT})
  endif()
  add_test(NAME ${A_NAME} COMMAND test_${A_NAME} ${A_ARGS} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  cairn_label_test(${A_NAME} ${A_TIMEOUT} "${A_LABEL}" test_${A_NAME} ${A_NEEDS})
endfunction()

# cairn_script_test(NAME demo COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/demo_test.py LABEL e2e [NEEDS cairn-node]
#                   [TIMEOUT s]): a test that is not a C++ program. It runs in the repository's root.
function(cairn_script_test)
  cmake_parse_arguments(A "" "NAME;TIMEOUT" "COMMAND;LABEL;NEEDS" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT ${CAIRN_TEST_TIMEOUT})
  endif()
  add_test(NAME ${A_NAME} COMMAND ${A_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  cairn_label_test(${A_NAME} ${A_TIMEOUT} "${A_LABEL}" ${A_NEEDS})
endfunction()

# cairn_fuzz(NAME wire SRCS wire_fuzz.cc DEPS cairn::wire CORPUS corpus/wire): a libFuzzer program under preset
# fuzz; in every other preset a ctest (label unit) that replays the checked-in corpus.
function(cairn_fuzz)
  cmake_parse_arguments(A "" "NAME;CORPUS" "SRCS;DEPS" ${ARGN})
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/${A_CORPUS})
  if(CAIRN_FUZZ)
    add_executable(fuzz_${A_NAME} ${A_SRCS})
    target_link_options(fuzz_${A_NAME} PRIVATE -fsanitize=fuzzer)
    set_target_properties(fuzz_${A_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    add_test(NAME fuzz_${A_NAME} COMMAND fuzz_${A_NAME} -max_total_time=30 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
      ${PROJECT_BINARY_DIR}/fuzz/found_${A_NAME} ${corpus})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz/found_${A_NAME})
    set_tests_properties(fuzz_${A_NAME} PROPERTIES LABELS fuzz TIMEOUT 120)
  else()
    add_executable(fuzz_${A_NAME} ${A_SRCS} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
    set_target_properties(fuzz_${A_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME fuzz_replay_${A_NAME} COMMAND fuzz_${A_NAME} ${corpus})
    cairn_label_test(fuzz_replay_${A_NAME} 120 unit fuzz_${A_NAME})
  endif()
  target_include_directories(fuzz_${A_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(fuzz_${A_NAME} PRIVATE ${A_DEPS} cairn_warnings)
  add_dependencies(fuzzers fuzz_${A_NAME})
endfunction()

# cairn_proto_library(NAME node_proto PROTOS cairn/node/v1/node.proto [GRPC] [DEPS cairn::common_proto]): paths from proto/.
function(cairn_proto_library)
  cmake_parse_arguments(A "GRPC" "NAME" "PROTOS;DEPS" ${ARGN})
  set(gen ${PROJECT_BINARY_DIR}/proto_gen)
  file(MAKE_DIRECTORY ${gen})
  add_library(cairn_${A_NAME} STATIC)
  add_library(cairn::${A_NAME} ALIAS cairn_${A_NAME})
  set_target_properties(cairn_${A_NAME} PROPERTIES CAIRN_LAYER 0)
  target_include_directories(cairn_${A_NAME} SYSTEM PUBLIC ${gen})
  target_link_libraries(cairn_${A_NAME} PUBLIC protobuf::libprotobuf ${A_DEPS})
  if(CAIRN_SANITIZE)  # generated code over a library that is not instrumented either
    target_compile_options(cairn_${A_NAME} PRIVATE -fno-sanitize=all)
  endif()
  protobuf_generate(TARGET cairn_${A_NAME} LANGUAGE cpp PROTOC_OUT_DIR ${gen}
    IMPORT_DIRS ${PROJECT_SOURCE_DIR}/proto PROTOS ${A_PROTOS})
  if(A_GRPC)
    target_link_libraries(cairn_${A_NAME} PUBLIC gRPC::grpc++)
    protobuf_generate(TARGET cairn_${A_NAME} LANGUAGE grpc PROTOC_OUT_DIR ${gen}
      GENERATE_EXTENSIONS .grpc.pb.h .grpc.pb.cc PLUGIN "protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>"
      IMPORT_DIRS ${PROJECT_SOURCE_DIR}/proto PROTOS ${A_PROTOS})
  endif()
endfunction()
