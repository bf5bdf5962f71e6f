#include "kernels/gpu/cublas.h"

#include <dlfcn.h>

#include <vector>

namespace cairn::gpu {
namespace {

// Of cublas_api.h and library_types.h, whose numbers are part of the library's binary interface.
constexpr int kTransposed = 1, kAsItIs = 0, kBf16 = 14, kComputeF32 = 68, kDefaultAlgorithm = -1;
using Create = int (*)(void** context);
using Destroy = int (*)(void* context);
using GemmEx = int (*)(void* context, int a_is, int b_is, int m, int n, int k, const void* alpha,
                       const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
                       const void* beta, void* c, int c_type, int ldc, int compute, int algorithm);

rt::Status Failed(const char* call, int status) {
  return rt::Status(std::string(call) + ": status " + std::to_string(status));
}

}  // namespace

rt::Result<std::unique_ptr<Cublas>> Cublas::Open(const std::string& path) {
  if (path == "-") return rt::Status("cuBLAS is not wanted");
  std::vector<std::string> names = {path};
  if (path.empty()) {
    names = {"libcublas.so.13", "libcublas.so", "/usr/local/cuda/lib64/libcublas.so.13",
             "/usr/local/cuda/lib64/libcublas.so"};
  }
  std::unique_ptr<Cublas> opened(new Cublas);  // tidy: allow(new) a private constructor
  for (const std::string& name : names) {
    opened->library_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    opened->name_ = name;
    if (opened->library_ != nullptr) break;
  }
  if (opened->library_ == nullptr) return rt::Status("no cuBLAS: " + names[0] + " does not open");
  const auto create = reinterpret_cast<Create>(dlsym(opened->library_, "cublasCreate_v2"));
  opened->gemm_ = dlsym(opened->library_, "cublasGemmEx");
  if (create == nullptr || opened->gemm_ == nullptr) {
    return rt::Status(opened->name_ + " has no cublasCreate_v2 or cublasGemmEx");
  }
  if (const int status = create(&opened->context_); status != 0) {
    opened->context_ = nullptr;
    return Failed("cublasCreate", status);
  }
  return opened;
}

Cublas::~Cublas() {
  if (context_ != nullptr) {
    const auto destroy = reinterpret_cast<Destroy>(dlsym(library_, "cublasDestroy_v2"));
    if (destroy != nullptr) (void)destroy(context_);
  }
  if (library_ != nullptr) (void)dlclose(library_);
}

rt::Status Cublas::Multiply(const std::uint16_t* x, const std::uint16_t* w, std::uint16_t* y,
                            std::uint32_t rows, std::uint32_t n, std::uint32_t k) {
  // Columns first, in its words: y^T [n x rows] = W^T's transpose times x^T.
  const float one = 1, zero = 0;
  const auto gemm = reinterpret_cast<GemmEx>(gemm_);
  const auto as_int = [](std::uint32_t value) { return static_cast<int>(value); };
  const int status = gemm(context_, kTransposed, kAsItIs, as_int(n), as_int(rows), as_int(k), &one,
                          w, kBf16, as_int(k), x, kBf16, as_int(k), &zero, y, kBf16, as_int(n),
                          kComputeF32, kDefaultAlgorithm);
  return status == 0 ? rt::Status() : Failed("cublasGemmEx", status);
}

}  // namespace cairn::gpu
