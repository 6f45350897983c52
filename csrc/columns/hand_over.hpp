#pragma once

#include <stdexcept>

namespace nsysan::columns {

/// Raised where a file leaves what this reader is sure of: SQLite itself shall read it then, and be
/// its judge.
class HandOver : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace nsysan::columns
