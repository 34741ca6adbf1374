# `cpack` in the build folder makes a .deb, whose dependencies apt installs, and a tar bundle, whose few shared libraries lie beside
# the binary and which runs on any Linux with the same or a newer C library.
install(TARGETS muster RUNTIME DESTINATION bin COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/muster COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION share/doc/muster COMPONENT program)
set_target_properties(muster PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")

install(CODE [[
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "$<TARGET_FILE:muster>" RESOLVED_DEPENDENCIES_VAR libraries
    POST_EXCLUDE_REGEXES "/lib(c|m|dl|rt|pthread|resolv)\\.so" "/ld-linux")
  foreach(library ${libraries})
    file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/lib" TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN FILES "${library}")
  endforeach()
]] COMPONENT libraries)

set(CPACK_PACKAGE_NAME muster)
set(CPACK_PACKAGE_VENDOR "The muster authors")
set(CPACK_PACKAGE_CONTACT "The muster authors <muster@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Runs groups of processes that only make sense together")
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_contents.cmake)
include(CPack)
