// SPDX-License-Identifier: Apache-2.0
// No test: doctest's main(), compiled once.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
