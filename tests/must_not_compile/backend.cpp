// SPDX-License-Identifier: Apache-2.0
// What must not compile where the host cannot touch a backend's memory. See CMakeLists.txt here.
#include <cstddef>
#include <span>

#include "laconic/backend/host.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/message/bucketed.hpp"
#include "laconic/message/message.hpp"
#include "laconic/message/plain.hpp"
#include "laconic/run.hpp"
#include "laconic/wire/number.hpp"

using namespace laconic;

// As much of a backend as these look at; tests/support/apart.hpp is a whole one.
template <int Number>
struct elsewhere {
    template <class T>
    struct array {
        using value_type = T;
        T* data() const { return nullptr; }
        T* begin() const { return nullptr; }
        T* end() const { return nullptr; }
        std::size_t size() const { return 0; }
        void resize(std::size_t) {}
        bool operator==(array const&) const = default;
    };
};

inline auto control() {
    host here, there;
    messages::full_vector<double, host> m, copied;
    copy_message(here, m, there, copied);
    wire::bit_writer sink;
    put_numbers(sink, m.values);
    return sizeof(messages::full_vector<double, elsewhere<1>>);
}

#if defined(ELEMENT_OF_AN_ARRAY)
// expect ELEMENT_OF_AN_ARRAY: no match for .operator..|does not provide a subscript operator
inline auto wrong(messages::full_vector<double, elsewhere<1>> const& m) { return m.values[0]; }
#elif defined(COPY_TO_ANOTHER_KIND)
// expect COPY_TO_ANOTHER_KIND: this is no message of the same kind
inline void wrong(host& on, messages::quantized<double, host> const& m, messages::full_vector<double, host>& to) {
    copy_message(on, m, on, to);
}
#elif defined(COPY_BETWEEN_DEVICES)
// expect COPY_BETWEEN_DEVICES: a message goes by way of the host
inline void wrong(elsewhere<1>& a, messages::full_vector<double, elsewhere<1>> const& m, elsewhere<2>& b,
                  messages::full_vector<double, elsewhere<2>>& to) {
    copy_message(a, m, b, to);
}
#elif defined(NUMBERS_OF_A_DEVICE)
// expect NUMBERS_OF_A_DEVICE: a device.s messages are written by way of the host
inline void wrong(wire::bit_writer& sink, messages::full_vector<double, elsewhere<1>> const& m) {
    put_numbers(sink, m.values);
}
#elif defined(DESCEND_ON_A_DEVICE)
// expect DESCEND_ON_A_DEVICE: descend.. runs on the host
struct bowl {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const>, std::span<double>) const {}
};
inline void wrong(elsewhere<1>::array<double>& x, threads::member& comm) {
    descend(recursion<identity, memory<>>{}, bowl{}, x, comm);
}
#endif
