// SPDX-License-Identifier: Apache-2.0
// The commonest run-time errors, as docs/errors.md has them: each call throws the same on all ranks, and nothing
// changes.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <laconic/encode.hpp>
#include <laconic/reduce.hpp>
#include <string>
#include <vector>

namespace {

using namespace laconic;

// Rank 0 prints what the body throws, which is an Error.
template <class Error>
void fails(threads::member& comm, char const* type, auto body) {
    std::string why = "is not thrown";
    try {
        body();
    } catch (Error const& e) {
        why = e.what();
    }
    if (comm.rank() == 0) std::printf("%s: %s\n", type, why.c_str());
}

}  // namespace

int main() {
    threads::run(3, [](threads::member& comm) {
        bool const second = comm.rank() == 2;
        std::vector<float> gradient(100, 1.0f);
        error_feedback const how{top_k{0.1}};

        fails<argument_error>(comm, "argument_error",
                              [&] { reducer reduce(error_feedback{top_k{200}}, comm, gradient); });
        fails<agreement_error>(comm, "agreement_error",
                               [&] { reducer reduce(error_feedback{top_k{second ? 0.2 : 0.1}}, comm, gradient); });
        fails<agreement_error>(comm, "agreement_error", [&] {
            std::vector<float> other(second ? 101 : 100);
            reducer reduce(how, comm, other);
        });
        {
            reducer reduce(how, comm, gradient);
            fails<non_finite_error>(comm, "non_finite_error", [&] {
                auto broken = gradient;
                if (second) broken[7] = NAN;
                reduce(broken);
            });
            fails<compression_error>(comm, "compression_error", [&] {
                std::vector<float> other(second ? 99 : 100);
                reduce(other);
            });
        }
        fails<compression_error>(comm, "compression_error", [&] {
            reducer reduce(how, comm, {{"first", 60}, {"second", 40}});
            reduce.start(0, std::span(gradient).first(60));
            reduce.finish();
        });
        fails<agreement_error>(comm, "agreement_error", [&] {
            std::vector<float> other(second ? 99 : 100);
            sum(comm, other);
        });
        fails<wire_error>(comm, "wire_error", [&] { decode(top_k{0.1}, std::vector<std::byte>(3), gradient, key{1}); });
    });
}
