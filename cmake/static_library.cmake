# muster_static_library(re2): the target static::re2 for the static library of a Debian -dev package.
function(muster_static_library name)
  find_library(static_${name} lib${name}.a REQUIRED)
  add_library(static::${name} STATIC IMPORTED)
  set_target_properties(static::${name} PROPERTIES IMPORTED_LOCATION ${static_${name}})
  target_link_libraries(static::${name} INTERFACE ${CMAKE_DL_LIBS} m)
endfunction()
