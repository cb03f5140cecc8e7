// SPDX-License-Identifier: Apache-2.0
// What sum(), mean(), reduce_scatter(), encode() and decode() do not take, and the line that says so. See
// CMakeLists.txt here.
#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/encode.hpp"
#include "laconic/sum.hpp"

// expect SUM_OF_CONST (30): x is const: this function replaces its numbers
// expect SUM_OF_A_SPAN_OF_CONST: x is const: this function replaces its numbers
// expect SUM_OF_A_TEMPORARY: x is a temporary that owns its numbers
// expect SUM_OF_AN_EXPRESSION (30): what is summed is a vector whose numbers lie one after another in memory
// expect SUM_OF_A_NUMBER: what is summed is a vector whose numbers lie one after another in memory
// expect SUM_OF_BOOL: x holds numbers that cannot be summed
// expect SUM_THAT_LEAVES_OUT (40): this collective leaves terms out of the sum
// expect SUM_BY_NO_COLLECTIVE (60): the last argument is no collective for these numbers
// expect MEAN_OF_INTEGERS (30): the mean of integers is no integer
// expect PART_OF_A_TEMPORARY: x is a temporary that owns its numbers
// expect PERSISTENT_SUM_OF_A_TEMPORARY: x is a temporary that owns its numbers
// expect DECODE_INTO_CONST (30): x is const: this function replaces its numbers
// expect DECODE_INTO_A_TEMPORARY: x is a temporary that owns its numbers
// expect DECODE_INTO_INTEGERS: x holds neither float nor double nor numbers of 16 bits
// expect ENCODE_INTEGERS (40): x holds neither float nor double nor numbers of 16 bits
// expect ENCODE_WITHOUT_COMPRESSOR: C is not a compressor

using namespace laconic;

void of_sums(threads::member& comm) {
    std::vector<float> x(3);
    std::vector<float> const same(3);
    std::vector<int> whole(3);
    Eigen::VectorXf vector(3);
    std::vector<std::byte> bytes;
    persistent_sum again(comm, x);
#if defined(SUM_OF_CONST)
    sum(comm, same);
#elif defined(SUM_OF_A_SPAN_OF_CONST)
    sum(comm, std::span(same));
#elif defined(SUM_OF_A_TEMPORARY)
    sum(comm, std::vector<float>(3));
#elif defined(SUM_OF_AN_EXPRESSION)
    sum(comm, 2 * vector);
#elif defined(SUM_OF_A_NUMBER)
    sum(comm, x[0]);
#elif defined(SUM_OF_BOOL)
    bool flags[2] = {true, false};
    sum(comm, std::span(flags));
#elif defined(SUM_THAT_LEAVES_OUT)
    sum(comm, x, gtop_k{1});
#elif defined(SUM_BY_NO_COLLECTIVE)
    sum(comm, x, top_k{1});
#elif defined(MEAN_OF_INTEGERS)
    mean(comm, whole);
#elif defined(PART_OF_A_TEMPORARY)
    reduce_scatter(comm, std::array<float, 3>{});
#elif defined(PERSISTENT_SUM_OF_A_TEMPORARY)
    again(std::array<float, 4>{});
#elif defined(DECODE_INTO_CONST)
    decode(top_k{1}, bytes, std::as_const(vector));
#elif defined(DECODE_INTO_A_TEMPORARY)
    decode(top_k{1}, bytes, std::array<float, 5>{});
#elif defined(DECODE_INTO_INTEGERS)
    decode(top_k{1}, bytes, whole);
#elif defined(ENCODE_INTEGERS)
    encode(top_k{1}, whole);
#elif defined(ENCODE_WITHOUT_COMPRESSOR)
    encode(3, x);
#else
    sum(comm, x);
    again(std::span(x));
    decode(top_k{1}, encode(top_k{1}, same), vector);
#endif
}
