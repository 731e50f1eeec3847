#include "lanewise/error_detail.hpp"

namespace lanewise {

ErrorDetail detail_of(const Error& error) {
  if (const auto* own = dynamic_cast<const DetailedError*>(&error)) return own->detail();
  if (dynamic_cast<const CompileError*>(&error) != nullptr) return ErrorDetail::rejected;
  switch (error.kind()) {
    case ErrorKind::guest:
      return ErrorDetail::unsupported;
    case ErrorKind::usage:
      return ErrorDetail::invalid_value;
    case ErrorKind::device:
      return ErrorDetail::driver;
    case ErrorKind::budget:
      return ErrorDetail::timeout;
  }
  return ErrorDetail::none;
}

}  // namespace lanewise
