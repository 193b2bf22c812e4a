#include <basal/remote/tls.hpp>

#include <basal/actors/detail/keep_logger.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/openssl/manager.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>

namespace basal::remote {

namespace {

using context_ptr = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

/// OpenSSL's words for what failed last, which it is then to forget.
std::string openssl_reason() {
  const auto code = ERR_peek_last_error();
  const char* words = ERR_reason_error_string(code);
  std::string result = words != nullptr ? words : "error " + std::to_string(code);
  ERR_clear_error();
  return result;
}

std::string unreadable(const char* what, const std::string& path) {
  return std::string{what} + " '" + path + "' cannot be used: " + openssl_reason();
}

const char* or_null(const std::string& path) {
  return path.empty() ? nullptr : path.c_str();
}

} // namespace

bool asks_for_tls(const caf::actor_system_config& config) noexcept {
  return !config.openssl_certificate.empty() || !config.openssl_key.empty()
         || !config.openssl_passphrase.empty() || !config.openssl_capath.empty()
         || !config.openssl_cafile.empty();
}

std::string certificate_problem(const caf::actor_system_config& config) {
  if (!asks_for_tls(config))
    return {};
  const auto& certificate = config.openssl_certificate;
  const auto& key = config.openssl_key;
  const bool has_authority = !config.openssl_cafile.empty() || !config.openssl_capath.empty();
  if (certificate.empty() || key.empty() || !has_authority)
    return "TLS needs all three: openssl.certificate, openssl.key and openssl.cafile";
  std::error_code ignored;
  if (const auto& folder = config.openssl_capath;
      !folder.empty() && !std::filesystem::is_directory(folder, ignored)) // OpenSSL takes any
    return "the folder of authorities '" + folder + "' is no folder";
  const context_ptr context{SSL_CTX_new(TLS_method()), &SSL_CTX_free};
  if (!context)
    throw std::bad_alloc{};
  ERR_clear_error();
  // CAF's module does the same at each connection, on a thread where an exception ends the program.
  SSL_CTX_set_default_passwd_cb_userdata(context.get(),
                                         const_cast<char*>(config.openssl_passphrase.c_str()));
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1)
    return unreadable("the certificate", certificate);
  if (SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
    return unreadable("the key", key); // also where it belongs to another certificate
  if (SSL_CTX_load_verify_locations(context.get(), or_null(config.openssl_cafile),
                                    or_null(config.openssl_capath))
      != 1)
    return unreadable("the authority's certificate", config.openssl_cafile + config.openssl_capath);
  const auto* own = SSL_CTX_get0_certificate(context.get());
  if (X509_cmp_current_time(X509_get0_notAfter(own)) < 0)
    return "the certificate '" + certificate + "' is out of date: have a new one signed";
  if (X509_cmp_current_time(X509_get0_notBefore(own)) > 0)
    return "the certificate '" + certificate + "' is not valid yet: is this machine's clock right?";
  return {};
}

caf::actor_system::module* tls::make(caf::actor_system& system, caf::detail::type_list<>) {
  auto problem = system.has_middleman() ? certificate_problem(system.config())
                                        : "load caf::io::middleman before basal::remote::tls";
  if (!problem.empty()) {
    actors::detail::keep_logger(system);
    throw std::invalid_argument(problem);
  }
  return caf::openssl::manager::make(system, {});
}

} // namespace basal::remote
