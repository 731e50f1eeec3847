// The bindings of shaders/INTERFACE.md, written out for kernels that test the host side.
layout(std430, binding = 0) buffer Arena { uint arena[]; };
layout(std430, binding = 1) readonly buffer Launch { uint launch[]; };
layout(std430, binding = 2) coherent buffer Faults { uint faults[]; };
layout(std430, binding = 3) buffer Backing { uint backing[]; };
layout(std430, binding = 4) readonly buffer Allocations { uint allocations[]; };
layout(push_constant) uniform Push { uint push[32]; };

const uint PARAMETERS = 192u;  // word of the launch block

uvec3 group() { return gl_WorkGroupID + uvec3(push[4], push[5], push[6]); }
uint group_index() {
  const uvec3 g = group();
  return g.x + launch[4] * (g.y + launch[5] * g.z);
}
