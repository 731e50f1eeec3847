# With LANEWISE_BATCH the files of a test program are compiled as one. These are compiled as a second one: they give
# a helper the name that a neighbour's has, which is their right.
set(second_batch
  ir/passes ir/phases ir/structurise ir/uniformity ir/wave_order
  ptx/litmus ptx/parse_corpus ptx/parse_errors ptx/parse_syntax ptx/run_convert
  sass/half sass/hostile sass/run sass/textures gcn/hostile gcn/images gcn/litmus gcn/machine gcn/run gcn/text
  reference/convert reference/float reference/memory reference/relax_nans reference/wave
  spirv/emit_memory spirv/library_dot spirv/library_float spirv/library_quotient
  cache/litmus cache/litmus_more cache/rows script/vectors)
list(TRANSFORM second_batch PREPEND unit/)
list(APPEND second_batch kernels/sass_cctl kernels/matrix kernels/matrix_memory kernels/matrix_sparse kernels/mbarrier kernels/tensor
  kernels/waiting kernels/sass_textures kernels/gcn_opencl_images)
list(TRANSFORM second_batch APPEND .cpp)
list(TRANSFORM second_batch PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)

function(lanewise_batches program)
  get_target_property(sources ${program} SOURCES)
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP first)
  set_source_files_properties(${second_batch} PROPERTIES UNITY_GROUP second)
  set_target_properties(${program} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()
