#include "runtime/events/derive/places.hpp"

#include "runtime/layout/addresses.hpp"

namespace lanewise::events {
namespace {

/// Coordinate `axis` places behind another one; 0 where the launch has one place along it.
Form coordinate(const Extents& extents, Coordinate first, unsigned axis = 0) {
  const auto c = static_cast<Coordinate>(static_cast<unsigned>(first) + axis);
  Form form;
  if (extents.count(c) > 1) form.factor[static_cast<size_t>(c)] = 1;
  return form;
}
uint64_t count(const Extents& extents, Coordinate c) {
  return static_cast<uint64_t>(extents.count(c));
}

Form tid_x(const Extents& extents) {
  return sum(coordinate(extents, Coordinate::x),
             scaled(coordinate(extents, Coordinate::wave), count(extents, Coordinate::x)));
}
/// Of the lane's row in the block.
Form row(const Extents& extents) {
  return sum(coordinate(extents, Coordinate::y),
             scaled(coordinate(extents, Coordinate::z), count(extents, Coordinate::y)));
}
Form linear_tid(const LaunchRequest& request, const Extents& extents) {
  return sum(tid_x(extents), scaled(row(extents), request.block.x));
}

/// Every wave lies in one row.
bool waves_in_rows(const LaunchRequest& request) {
  return request.block.x % request.program->wave_lanes == 0;
}
bool one_wave(const LaunchRequest& request) {
  return request.block.total() <= request.program->wave_lanes;
}
Value laneid(const LaunchRequest& request, const Extents& extents) {
  if (waves_in_rows(request)) return Value::of(coordinate(extents, Coordinate::x));
  return one_wave(request) ? Value::of(linear_tid(request, extents)) : Value();
}
Value warpid(const LaunchRequest& request, const Extents& extents) {
  if (waves_in_rows(request))
    return Value::of(sum(coordinate(extents, Coordinate::wave),
                         scaled(row(extents), count(extents, Coordinate::wave))));
  return one_wave(request) ? Value::of(Form()) : Value();
}

/// tid, ntid, ctaid, nctaid: three of each in this order.
Value size_or_coordinate(ir::SReg r, const LaunchRequest& request, const Extents& extents) {
  const Dim3 &block = request.block, &grid = request.grid;
  const uint32_t sizes[2][3] = {{block.x, block.y, block.z}, {grid.x, grid.y, grid.z}};
  const auto number = static_cast<unsigned>(r);
  const unsigned which = number / 6, axis = number % 3;
  if (number % 6 >= 3) return Value::of(Form::of(sizes[which][axis]));
  if (r == ir::SReg::tid_x) return Value::of(tid_x(extents));
  return Value::of(coordinate(extents, which == 0 ? Coordinate::x : Coordinate::ctaid_x, axis));
}

}  // namespace

Extents extents_of(const LaunchRequest& request) {
  const Dim3 &block = request.block, &grid = request.grid;
  const uint32_t lanes = request.program->wave_lanes;
  const uint32_t row = block.x % lanes == 0 ? lanes : block.x;
  return Extents({row, block.y, block.z, block.x / row, grid.x, grid.y, grid.z});
}

Value special_register(ir::SReg which, const LaunchRequest& request, const Extents& extents) {
  if (which <= ir::SReg::nctaid_z) return size_or_coordinate(which, request, extents);
  switch (which) {
    case ir::SReg::linear_tid:
      return Value::of(linear_tid(request, extents));
    case ir::SReg::laneid:
      return laneid(request, extents);
    case ir::SReg::warpid:
      return warpid(request, extents);
    case ir::SReg::param_base:
      return Value::of(Form::of(request.param_address));
    case ir::SReg::shared_window:
      return Value::of(Form::of(guest::kSharedWindow));
    case ir::SReg::local_window:
      return Value::of(Form::of(guest::kLocalWindow));
    default:
      return {};
  }
}

}  // namespace lanewise::events
