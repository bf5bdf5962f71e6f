# One place says how CUDA is found: kernels/, which builds alone as well.
include(${PROJECT_SOURCE_DIR}/kernels/cmake/Cuda.cmake)
