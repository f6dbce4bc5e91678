# tilevp_plugin(NAME SOURCE...)
#
# A shared library NAME.so for `tilevp --plugin NAME.so`.
function(tilevp_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE TileVP::plugin)
  set_target_properties(${name} PROPERTIES PREFIX "")
endfunction()
