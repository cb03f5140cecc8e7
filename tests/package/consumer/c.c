/* SPDX-License-Identifier: Apache-2.0 */
/* A program in C of another project encodes a vector, and decodes it. */
#include <laconic_c.h>
#include <stdio.h>

int main(void) {
    float const x[3] = {1, -5, 2};
    float y[3];
    laconic_bytes* bytes = NULL;
    if (laconic_encode("top_k(k=1)", x, 3, LACONIC_FLOAT32, 0, 0, &bytes) != LACONIC_OK ||
        laconic_decode("top_k(k=1)", laconic_bytes_data(bytes), laconic_bytes_size(bytes), y, 3, LACONIC_FLOAT32, 0,
                       0) != LACONIC_OK) {
        puts(laconic_last_error());
        return 1;
    }
    laconic_bytes_free(bytes);
    printf("%g %g %g\n", y[0], y[1], y[2]);
    return 0;
}
