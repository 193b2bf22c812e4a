#include <basal/cluster/detail/hash.hpp>
#include <basal/cluster/detail/message.hpp>

namespace basal::cluster::detail {

std::string batch_id::text() const {
  return content_hash{run, content}.text();
}

std::string function_key::text() const {
  return name + '-' + std::to_string(version) + '-' + content_hash{signature, 0}.text().substr(16);
}

} // namespace basal::cluster::detail
