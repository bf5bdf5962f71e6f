#ifndef CAIRN_KERNELS_REFERENCE_ATTEND_REF_H_
#define CAIRN_KERNELS_REFERENCE_ATTEND_REF_H_

#include <cmath>
#include <cstddef>
#include <vector>

// Attention of one query in double. Plain loops, for tests.

namespace cairn::reference {

// softmax(scale * keys . q) . values; zeros if there are no keys.
inline std::vector<double> Attend(const std::vector<double>& q,
                                  const std::vector<std::vector<double>>& keys,
                                  const std::vector<std::vector<double>>& values, double scale) {
  std::vector<double> scores, out(q.size(), 0.0);
  double most = -INFINITY, sum = 0;
  for (const std::vector<double>& key : keys) {
    double dot = 0;
    for (std::size_t i = 0; i < q.size(); ++i) dot += q[i] * key[i];
    scores.push_back(dot * scale);
    most = std::fmax(most, scores.back());
  }
  for (double& score : scores) sum += score = std::exp(score - most);
  for (std::size_t t = 0; t < keys.size(); ++t) {
    for (std::size_t i = 0; i < q.size(); ++i) out[i] += scores[t] / sum * values[t][i];
  }
  return out;
}

}  // namespace cairn::reference

#endif  // CAIRN_KERNELS_REFERENCE_ATTEND_REF_H_
