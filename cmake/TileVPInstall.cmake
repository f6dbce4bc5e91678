# What `cmake --install` puts under the prefix, and what find_package(TileVP) finds there.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The library of one folder and its headers, which are included under the same names as in the source tree.
function(tilevp_install_library name id root)
  set_target_properties(tilevp_${id} PROPERTIES EXPORT_NAME ${id})
  target_include_directories(tilevp_${id} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS tilevp_${id} EXPORT TileVPTargets ARCHIVE)
  set_property(GLOBAL APPEND PROPERTY TILEVP_LIBRARIES tilevp_${id})
  set_property(GLOBAL APPEND PROPERTY TILEVP_INCLUDE_ROOTS ${root})
  file(GLOB_RECURSE headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.hpp)
  foreach(header ${headers})
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilevp/${name}/${folder})
  endforeach()
endfunction()

# What a plug-in is compiled with: the headers of all libraries, and none of their code. That is in the command, once, and
# the dynamic linker binds the plug-in to it.
function(tilevp_plugin_target)
  add_library(tilevp_plugin INTERFACE)
  add_library(TileVP::plugin ALIAS tilevp_plugin)
  get_property(roots GLOBAL PROPERTY TILEVP_INCLUDE_ROOTS)
  target_include_directories(tilevp_plugin INTERFACE "$<BUILD_INTERFACE:${roots}>"
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(tilevp_plugin INTERFACE cxx_std_20)
  target_compile_options(tilevp_plugin INTERFACE -ffp-contract=off)  # as the libraries: TileVPOptions.cmake
  target_link_libraries(tilevp_plugin INTERFACE SystemC::systemc Boost::json Boost::headers)
  set_target_properties(tilevp_plugin PROPERTIES EXPORT_NAME plugin)
  install(TARGETS tilevp_plugin EXPORT TileVPTargets)
endfunction()

# A program that can load plug-ins: it holds all of the libraries, needed by itself or not, and exports their symbols.
function(tilevp_serves_plugins target)
  get_property(libraries GLOBAL PROPERTY TILEVP_LIBRARIES)
  set(archives "")
  foreach(library ${libraries})
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND archives $<TARGET_FILE:${library}>)
    endif()
  endforeach()
  # As options, which stand first: CMake's WHOLE_ARCHIVE feature (3.25) names an archive twice where others depend on it, and
  # the linker then finds everything twice. What follows on the line finds it there.
  target_link_options(${target} PRIVATE LINKER:--whole-archive ${archives} LINKER:--no-whole-archive)
  target_link_libraries(${target} PRIVATE ${libraries})
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
endfunction()

function(tilevp_install_package)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/TileVP)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TileVPConfig.cmake.in TileVPConfig.cmake
    INSTALL_DESTINATION ${folder})
  # The classes in the headers may change with every version.
  write_basic_package_version_file(TileVPConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(EXPORT TileVPTargets NAMESPACE TileVP:: DESTINATION ${folder})
  install(FILES ${PROJECT_BINARY_DIR}/TileVPConfig.cmake ${PROJECT_BINARY_DIR}/TileVPConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/TileVPPlugin.cmake ${PROJECT_SOURCE_DIR}/cmake/FindSystemC.cmake DESTINATION ${folder})
endfunction()
