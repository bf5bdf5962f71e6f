# Compiler settings that hold for the whole tree. Warnings live in the target cairn_warnings (CairnTargets).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

set(CAIRN_SANITIZE "" CACHE STRING "Comma-separated sanitizers, e.g. address,undefined")
option(CAIRN_THREAD_SAFETY "Clang's -Wthread-safety as errors" OFF)
option(CAIRN_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(CAIRN_DCHECKS "CAIRN_DCHECK is on" OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CAIRN_CCACHE ccache)
if(CAIRN_CCACHE)
  # Paths relative to the tree, so that clones share the cache; the sloppiness lets precompiled headers be cached.
  set(CAIRN_CCACHE_COMMAND ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CAIRN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CAIRN_CCACHE_COMMAND})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CAIRN_CCACHE_COMMAND})
else()
  message(STATUS "ccache: not found, every build compiles everything")
endif()

find_program(CAIRN_MOLD mold)
if(CAIRN_MOLD)
  add_link_options(-fuse-ld=mold)
else()
  message(STATUS "mold: not found, using the default linker")
endif()

# One rounding a written operation, on every compiler: promise 4 is about bits.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)

if(CAIRN_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${CAIRN_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>)
  add_link_options(-fsanitize=${CAIRN_SANITIZE})
endif()
if(CAIRN_FUZZ)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>)
endif()
