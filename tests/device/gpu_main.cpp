// SPDX-License-Identifier: Apache-2.0
// Runs all tests of the device backend where there is a GPU, else only the one for that case, as a skip for CTest.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cstdio>

int main(int count, char** arguments) {
    doctest::Context tests(count, arguments);
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return tests.run();
    tests.addFilter("test-case", "*a device that is not there*");
    if (int const failed = tests.run(); failed != 0) return failed;
    std::puts("no GPU here: the other tests of the device backend are skipped");
    return 77;
}
