# Install rules: headers, TableGen files, libraries, tools and a CMake package `MLIRTS`, so that
# another compiler can find_package(MLIRTS) and link the dialect or the whole pipeline.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
get_property(_libs GLOBAL PROPERTY TS_LIBRARIES)
get_property(_tools GLOBAL PROPERTY TS_TOOLS)
install(TARGETS ${_libs} EXPORT MLIRTSTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${_tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ts DESTINATION include
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/ts DESTINATION include FILES_MATCHING PATTERN "*.inc")
install(EXPORT MLIRTSTargets NAMESPACE MLIRTS:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mlirts)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/MLIRTSConfig.cmake.in
  ${PROJECT_BINARY_DIR}/MLIRTSConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mlirts)
install(FILES ${PROJECT_BINARY_DIR}/MLIRTSConfig.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mlirts)
