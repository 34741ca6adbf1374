# Which components go into which package: the .deb leaves the shared libraries to apt.
set(build ${CPACK_PACKAGE_DIRECTORY})
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_INSTALL_CMAKE_PROJECTS "${build};muster;program;/")
else()
  set(CPACK_INSTALL_CMAKE_PROJECTS "${build};muster;program;/" "${build};muster;libraries;/")
  set(CPACK_PACKAGING_INSTALL_PREFIX "/")
endif()
