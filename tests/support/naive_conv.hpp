#pragma once
// A convolution by its definition, over integers. It includes no header of the product.
#include <cstdint>
#include <vector>

namespace tilevp::test {

struct ConvShape {
  long N = 1, C = 1, H = 1, W = 1, O = 1, Hf = 1, Wf = 1;
  long sh = 1, sw = 1, pt = 0, pb = 0, pl = 0, pr = 0, dh = 1, dw = 1;
  long g = 1, bg = 1;  // groups of channels, of images; filters are shared out among them
  long filter_c() const { return C / g; }
  long out_n() const { return N / bg; }
  long out_h() const { return (H + pt + pb - ((Hf - 1) * dh + 1)) / sh + 1; }
  long out_w() const { return (W + pl + pr - ((Wf - 1) * dw + 1)) / sw + 1; }
};

// x[n][c][h][w], f[o][c of its group][i][j] -> y[n of its group][o][a][b].
inline std::vector<std::int32_t> naive_conv(const ConvShape& s, const std::vector<std::int8_t>& x,
                                            const std::vector<std::int8_t>& f) {
  std::vector<std::int32_t> y(static_cast<std::size_t>(s.out_n() * s.O * s.out_h() * s.out_w()), 0);
  for (long n = 0; n < s.out_n(); ++n)
    for (long o = 0; o < s.O; ++o) {
      std::int32_t* plane = y.data() + (n * s.O + o) * s.out_h() * s.out_w();
      const long image = o / (s.O / s.bg) * s.out_n() + n;
      const long channel = o / (s.O / s.g) * s.filter_c();
      for (long c = 0; c < s.filter_c(); ++c)
        for (long i = 0; i < s.Hf; ++i)
          for (long j = 0; j < s.Wf; ++j) {
            const std::int32_t weight = f[static_cast<std::size_t>(((o * s.filter_c() + c) * s.Hf + i) * s.Wf + j)];
            for (long a = 0; a < s.out_h(); ++a) {
              const long row = a * s.sh + i * s.dh - s.pt;
              if (row < 0 || row >= s.H) continue;
              const std::int8_t* in = x.data() + ((image * s.C + channel + c) * s.H + row) * s.W;
              for (long b = 0; b < s.out_w(); ++b) {
                const long column = b * s.sw + j * s.dw - s.pl;
                if (column >= 0 && column < s.W) plane[a * s.out_w() + b] += weight * in[column];
              }
            }
          }
    }
  return y;
}

}  // namespace tilevp::test
