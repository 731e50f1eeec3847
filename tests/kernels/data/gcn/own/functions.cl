// Library functions of floats and doubles.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void narrow(global const float* in, global float* out) {
  const uint i = get_global_id(0);
  const float x = in[i], p = fabs(x) + 0.01f;
  global float* o = out + 12 * i;
  o[0] = sin(x);
  o[1] = cos(x);
  o[2] = exp(x);
  o[3] = log(p);
  o[4] = pow(p, x * 0.5f);
  o[5] = atan2(x, 2.0f);
  o[6] = tanh(x);
  o[7] = cbrt(x);
  o[8] = exp2(x);
  o[9] = log2(p);
  o[10] = hypot(x, 3.0f);
  o[11] = fmod(x, 0.7f);
}
kernel void wide(global const double* in, global double* out) {
  const uint i = get_global_id(0);
  const double x = in[i], p = fabs(x) + 0.01;
  global double* o = out + 8 * i;
  o[0] = sin(x);
  o[1] = cos(x);
  o[2] = exp(x);
  o[3] = log(p);
  o[4] = pow(p, x * 0.5);
  o[5] = atan(x);
  o[6] = sqrt(p);
  o[7] = rsqrt(p);
}
