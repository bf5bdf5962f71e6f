#ifndef CAIRN_KERNELS_GPU_CUBLAS_H_
#define CAIRN_KERNELS_GPU_CUBLAS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/sk/rt/runtime.h"

namespace cairn::gpu {

// cuBLAS as a ceiling, if this machine has it: opened at run time, and no part of the product.
class Cublas {
 public:
  // `path` "": the usual names of its library; "-": not wanted.
  static rt::Result<std::unique_ptr<Cublas>> Open(const std::string& path);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // y [rows][n] = x [rows][k] times W [n][k] transposed, bf16, sums in fp32. Queued on the legacy
  // default stream: Device::Synchronize waits for it.
  rt::Status Multiply(const std::uint16_t* x, const std::uint16_t* w, std::uint16_t* y,
                      std::uint32_t rows, std::uint32_t n, std::uint32_t k);
  const std::string& name() const { return name_; }

 private:
  Cublas() = default;
  void* library_ = nullptr;
  void* context_ = nullptr;
  void* gemm_ = nullptr;
  std::string name_;
};

}  // namespace cairn::gpu

#endif  // CAIRN_KERNELS_GPU_CUBLAS_H_
