// SPDX-License-Identifier: Apache-2.0
// What must not compile, and what the compiler must say. See CMakeLists.txt here.
#include <Eigen/Core>
#include <vector>

#include "laconic/compress/natural.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/short_float.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef21.hpp"

using namespace laconic;

inline auto control() {
    std::vector<double> const x{1, 2, 3};
    Eigen::VectorXd const v = Eigen::VectorXd::Zero(3);
    auto const m = compress(top_k{1} | quantize{8}, x, key{1});
    auto const terms = m.terms();
    auto const biased = ef21{top_k{1} | natural{}};
    auto const unbiased = diana{rand_k{1} | quantize{8}};
    return to_string(biased).size() + to_string(unbiased).size() + terms.size() + detail::view(x).size() +
           detail::view(v).size();
}

#if defined(QUANTIZER_BEFORE_SPARSIFIER)
// expect QUANTIZER_BEFORE_SPARSIFIER: the left side ends in a quantizer, which leaves no plain numbers to the right one
inline auto wrong = quantize{8} | top_k{3};
#elif defined(PIPE_AFTER_ITS_END)
// expect PIPE_AFTER_ITS_END: the left side ends in a quantizer, which leaves no plain numbers to the right one
inline auto wrong = top_k{3} | natural{} | rand_k{2};
#elif defined(VIEW_OF_A_TEMPORARY)
// expect VIEW_OF_A_TEMPORARY: no matching function for call to .view
inline auto wrong = detail::view(std::vector<double>{1, 2});
#elif defined(VIEW_OF_A_BLOCK)
// expect VIEW_OF_A_BLOCK: no matching function for call to .view
inline Eigen::MatrixXd matrix(2, 2);
inline auto block = matrix.topRows(1);
inline auto wrong = detail::view(block);
#elif defined(VIEW_OF_A_ROW)
// expect VIEW_OF_A_ROW: no matching function for call to .view
inline Eigen::MatrixXd matrix(2, 2);
inline auto row = matrix.row(0);
inline auto wrong = detail::view(row);
#elif defined(COMPRESS_A_BLOCK)
// expect COMPRESS_A_BLOCK: no matching function for call to .compress
inline auto wrong = compress(identity{}, Eigen::MatrixXd(2, 2).topRows(1), key{1});
#elif defined(COMPRESS_INTEGERS)
// expect COMPRESS_INTEGERS: no matching function for call to .compress
inline auto wrong = compress(identity{}, std::vector<int>{1, 2}, key{1});
#elif defined(TERMS_OF_A_TEMPORARY)
// expect TERMS_OF_A_TEMPORARY: deleted
inline auto const values = std::vector<double>{1, 2};
inline auto wrong = compress(top_k{1}, values, key{1}).terms();
#elif defined(DIANA_OF_TOP_K)
// expect DIANA_OF_TOP_K: this method needs an unbiased compressor
inline auto wrong = diana{top_k{3}};
#elif defined(DIANA_OF_TOP_K_IN_A_PIPE)
// expect DIANA_OF_TOP_K_IN_A_PIPE: this method needs an unbiased compressor
inline auto wrong = diana{rand_k{10} | top_k{3}};
#elif defined(EF21_OF_RAND_K)
// expect EF21_OF_RAND_K: ef21 needs a contractive compressor
inline auto wrong = ef21{rand_k{3}};
#elif defined(EF21_OF_HALF)
// expect EF21_OF_HALF: ef21 needs a contractive compressor
inline auto wrong = ef21{fp16{}};
#elif defined(SCALED_DOWN_OF_TOP_K)
// expect SCALED_DOWN_OF_TOP_K: scaled_down needs an unbiased compressor
inline auto wrong = scaled_down{top_k{3}};
#elif defined(OMEGA_OF_TOP_K)
// expect OMEGA_OF_TOP_K: no member named .omega
inline auto wrong = top_k{3}.omega(10);
#elif defined(DELTA_OF_TOP_K_OF_THRESHOLD)
// expect DELTA_OF_TOP_K_OF_THRESHOLD: (no matching function for call to|invalid reference to function) .*delta
inline auto wrong = (top_k{3} | threshold{1}).delta(10);
#endif
