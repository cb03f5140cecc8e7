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

// Rank 0 prints what the body throws.
void fails(threads::member& comm, auto body) {
    std::string why = "nothing was thrown";
    try {
        body();
    } catch (std::exception const& e) {
        why = e.what();
    }
    if (comm.rank() == 0) std::printf("%s\n", why.c_str());
}

}  // namespace

int main() {
    threads::run(3, [](threads::member& comm) {
        bool const second = comm.rank() == 2;
        std::vector<float> gradient(100, 1.0f);
        error_feedback const how{top_k{0.1}};

        fails(comm, [&] { reducer reduce(error_feedback{top_k{200}}, comm, gradient); });
        fails(comm, [&] { reducer reduce(error_feedback{top_k{second ? 0.2 : 0.1}}, comm, gradient); });
        fails(comm, [&] {
            std::vector<float> other(second ? 101 : 100);
            reducer reduce(how, comm, other);
        });
        {
            reducer reduce(how, comm, gradient);
            fails(comm, [&] {
                auto broken = gradient;
                if (second) broken[7] = NAN;
                reduce(broken);
            });
            fails(comm, [&] {
                std::vector<float> other(second ? 99 : 100);
                reduce(other);
            });
        }
        fails(comm, [&] {
            reducer reduce(how, comm, {{"first", 60}, {"second", 40}});
            reduce.start(0, std::span(gradient).first(60));
            reduce.finish();
        });
        fails(comm, [&] {
            std::vector<float> other(second ? 99 : 100);
            sum(comm, other);
        });
        fails(comm, [&] { decode(top_k{0.1}, std::vector<std::byte>(3), gradient, key{1}); });
    });
}
