// What stands for the images of containers on a node whose pods have root file systems of their own
// (docs/oci.md). Nothing is ever pulled: the operator says which folder an image is.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"

namespace muster::agent {

struct Images {
  std::string oci_program;  // crun or runc; empty: this node ignores images
  // A root file system, or an OCI bundle (a folder with a config.json), by the image's name as
  // containers write it.
  std::map<std::string, std::string, std::less<>> folders;
  std::string other;  // the folder of all others; empty: there are none

  bool ignored() const { return oci_program.empty(); }
};

struct Image {
  std::string rootfs;
  // What the bundle says; a plain root file system says nothing.
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=value
  std::string working_directory = "/";
  std::optional<runtime::User> user;
};

// kNotFound if there is no such image, in the words of a kubelet that must not pull; other errors
// are those of an image that cannot be read. Reads the disk.
Result<Image> find_image(const Images& images, std::string_view name);

// The config.json of a bundle that lies in `folder`. Pure.
Result<Image> image_from_config(std::string_view config, const std::string& folder);

}  // namespace muster::agent
