# With LANEWISE_BATCH several files of a test program are compiled as one. These stand by themselves: they give
# a helper the name that a neighbour's has, which is their right.
set(alone
  ir/passes ir/phases ir/structurise ir/uniformity ir/wave_order
  ptx/litmus ptx/parse_corpus ptx/parse_errors ptx/parse_syntax ptx/run_convert
  sass/half sass/hostile sass/run sass/textures gcn/hostile gcn/images gcn/litmus gcn/machine gcn/run gcn/text
  reference/convert reference/float reference/memory reference/relax_nans reference/wave
  spirv/emit_memory spirv/library_dot spirv/library_float spirv/library_quotient
  cache/litmus cache/litmus_more cache/rows script/vectors)
list(TRANSFORM alone PREPEND unit/)
list(APPEND alone kernels/sass_cctl kernels/matrix kernels/matrix_memory kernels/matrix_sparse kernels/mbarrier kernels/tensor
  kernels/waiting kernels/sass_textures kernels/gcn_opencl_images)
list(TRANSFORM alone APPEND .cpp)
set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
