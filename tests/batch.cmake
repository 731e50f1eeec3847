# With LANEWISE_BATCH several files of a test program are compiled as one. These stand by themselves: they give
# a helper the name that a neighbour's has, which is their right.
set(alone
  ir_passes ir_phases ir_structurise ir_uniformity ir_wave_order
  ptx_parse_corpus ptx_parse_errors ptx_parse_syntax ptx_run_convert
  sass_hostile sass_run gcn_hostile gcn_machine gcn_run gcn_text
  reference_convert reference_float reference_memory reference_relax_nans reference_wave
  spirv_emit_memory spirv_library_float spirv_library_quotient
  cache_litmus cache_litmus_more cache_rows script_vectors)
list(TRANSFORM alone PREPEND unit/)
foreach(name compile_only diff fault_reports standard_streams stream_scripts uninitialised)
  list(APPEND alone cli/${name})
endforeach()
list(APPEND alone kernels/sass_cctl)
list(TRANSFORM alone APPEND .cpp)
set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
