// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace race {

/// While it lives, the first SIGINT or SIGTERM asks the race to stop, so that what there is can be written; a second
/// one ends the program at once. A signal that was ignored before stays so.
class stop_by_signal {
  public:
    explicit stop_by_signal(bool aloud);  ///< whether the first one is answered on standard error
    ~stop_by_signal();
    stop_by_signal(stop_by_signal const&) = delete;
    stop_by_signal& operator=(stop_by_signal const&) = delete;
};

/// The signal that asked; 0 where none did.
int stop_signal();

}  // namespace race
