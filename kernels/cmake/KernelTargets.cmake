# kernels_library, kernels_cuda, kernels_test: what both builds of kernels/ share.
get_filename_component(kernels_root ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)  # includes are "kernels/..."
set(kernels_ptxas_gate ${CMAKE_CURRENT_LIST_DIR}/ptxas_gate.sh)
set(kernels_ptxas_launcher ${kernels_ptxas_gate} ${CAIRN_CCACHE_COMMAND})  # ccache repeats what ptxas said

# kernels_library(NAME kernels_emu SRCS a.cc HDRS a.h DEPS cairn::x): cairn::NAME, layer 2 in the repository.
function(kernels_library)
  cmake_parse_arguments(A "" "NAME" "SRCS;HDRS;DEPS" ${ARGN})
  add_library(cairn_${A_NAME} STATIC ${A_SRCS})
  add_library(cairn::${A_NAME} ALIAS cairn_${A_NAME})
  target_sources(cairn_${A_NAME} PUBLIC FILE_SET HEADERS BASE_DIRS ${kernels_root} FILES ${A_HDRS})
  target_include_directories(cairn_${A_NAME} PUBLIC ${kernels_root})
  target_link_libraries(cairn_${A_NAME} PUBLIC ${A_DEPS} PRIVATE cairn_warnings)
  set_target_properties(cairn_${A_NAME} PROPERTIES CAIRN_LAYER 2 VERIFY_INTERFACE_HEADER_SETS ON)
  if(TARGET cairn_libraries)
    add_dependencies(cairn_libraries cairn_${A_NAME})
  endif()
endfunction()

# kernels_cuda(TARGET): its .cu files are compiled for sm_90a, and what ptxas says of them may fail the build.
function(kernels_cuda target)
  target_include_directories(${target} PRIVATE ${kernels_root})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;-Xptxas=-v;-Werror=all-warnings>)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY Static
    CUDA_ARCHITECTURES 90a-real CUDA_COMPILER_LAUNCHER "${kernels_ptxas_launcher}")
endfunction()

# kernels_interpreted(TARGET): its .cu files become PTX, for interpreter/.
function(kernels_interpreted target)
  target_include_directories(${target} PRIVATE ${kernels_root})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;--no-compress;-Werror=all-warnings>)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY None
    CUDA_ARCHITECTURES 90a-virtual CUDA_COMPILER_LAUNCHER "${CAIRN_CCACHE_COMMAND}")
endfunction()

# kernels_pair(NAME kernels_copy EMULATED gather_emu.cc CUDA gather.cu HDRS gather.h): kernels and their launchers, for
# the emulated device (cairn::kernels_copy_emu) and, with nvcc, for sm_90a (cairn::kernels_copy_cuda) and the interpreter
# (cairn::kernels_copy_ptx).
function(kernels_pair)
  cmake_parse_arguments(A "" "NAME" "EMULATED;CUDA;HDRS" ${ARGN})
  kernels_library(NAME ${A_NAME}_emu SRCS ${A_EMULATED} HDRS ${A_HDRS} DEPS cairn::kernels_emu)
  target_compile_options(cairn_${A_NAME}_emu PRIVATE -O2)
  if(CAIRN_CUDA_FOUND)
    kernels_library(NAME ${A_NAME}_cuda SRCS ${A_CUDA} DEPS cairn::kernels_cuda_runtime)
    kernels_cuda(cairn_${A_NAME}_cuda)
    kernels_library(NAME ${A_NAME}_ptx SRCS ${A_CUDA} DEPS cairn::kernels_ptx_runtime)
    kernels_interpreted(cairn_${A_NAME}_ptx)
  endif()
endfunction()

# kernels_test(NAME kernels_sk COMMAND ... [LABEL kernels] [TIMEOUT s] [SKIP]): SKIP: exit code 77 means skipped.
function(kernels_test)
  cmake_parse_arguments(A "SKIP" "NAME;TIMEOUT;LABEL" "COMMAND;NEEDS" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  if(NOT A_LABEL)
    set(A_LABEL kernels)
  endif()
  add_test(NAME ${A_NAME} COMMAND ${A_COMMAND})
  if(COMMAND cairn_label_test)
    cairn_label_test(${A_NAME} ${A_TIMEOUT} ${A_LABEL} ${A_NEEDS})
  else()
    if(CAIRN_SANITIZE)
      math(EXPR A_TIMEOUT "${A_TIMEOUT} * 3")
    endif()
    set_tests_properties(${A_NAME} PROPERTIES LABELS ${A_LABEL} TIMEOUT ${A_TIMEOUT})
  endif()
  if(A_SKIP)
    set_tests_properties(${A_NAME} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endfunction()
