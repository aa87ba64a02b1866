#include "results/file_system.h"

#include <algorithm>
#include <array>
#include <sys/vfs.h>

namespace loopbrick {

namespace {

struct Network {
  std::int64_t magic;
  const char* name;
};

constexpr std::array kNetworks{
    // statfs(2) and linux/magic.h; Lustre, GPFS, BeeGFS: their own headers
    Network{0x6969, "NFS"},        Network{0x517B, "SMB"},        Network{0xFF534D42, "CIFS"},
    Network{0xFE534D42, "SMB2"},   Network{0x0BD00BD0, "Lustre"}, Network{0x47504653, "GPFS"},
    Network{0x19830326, "BeeGFS"}, Network{0x00C36400, "Ceph"},   Network{0x5346414F, "AFS"},
    Network{0x6B414653, "kAFS"},   Network{0x73757245, "Coda"},   Network{0x01021997, "9P"},
    Network{0x7461636F, "OCFS2"},  Network{0x01161970, "GFS2"}};

}  // namespace

std::optional<std::int64_t> file_system_of(const std::filesystem::path& folder) {
  struct statfs facts {};
  if (statfs(folder.c_str(), &facts) != 0) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(facts.f_type));
}

std::optional<std::string> network_file_system(const std::filesystem::path& file,
                                               const FileSystemOf& ask) {
  const auto magic = ask(std::filesystem::absolute(file).parent_path());
  if (!magic) return std::nullopt;
  const auto* found = std::ranges::find(kNetworks, *magic, &Network::magic);
  if (found == kNetworks.end()) return std::nullopt;
  return found->name;
}

}  // namespace loopbrick
