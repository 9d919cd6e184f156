#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/* Much of OpenSSL's interface is macros over SSL_ctrl and SSL_CTX_ctrl, which Swift cannot see. Each function here
   is exactly the macro of its name. */

static inline int cordon_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_min_proto_version(context, version);
}
static inline int cordon_SSL_CTX_set_max_proto_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_max_proto_version(context, version);
}
static inline long cordon_SSL_CTX_set_mode(SSL_CTX *context, long mode) {
  return SSL_CTX_set_mode(context, mode);
}
static inline long cordon_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
  return SSL_CTX_set_session_cache_mode(context, mode);
}
static inline int cordon_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *groups) {
  return (int)SSL_CTX_set1_groups_list(context, groups);
}
static inline int cordon_SSL_CTX_add1_chain_cert(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}
static inline long cordon_SSL_CTX_set_tlsext_servername_callback(
    SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
  return SSL_CTX_set_tlsext_servername_callback(context, callback);
}
static inline long cordon_SSL_CTX_set_tlsext_servername_arg(SSL_CTX *context, void *argument) {
  return SSL_CTX_set_tlsext_servername_arg(context, argument);
}
static inline int cordon_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}
static inline int cordon_GENERAL_NAMES_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline GENERAL_NAME *cordon_GENERAL_NAMES_value(const GENERAL_NAMES *names, int place) {
  return sk_GENERAL_NAME_value(names, place);
}
static inline STACK_OF(X509) *cordon_sk_X509_new_null(void) { return sk_X509_new_null(); }
static inline int cordon_sk_X509_push(STACK_OF(X509) *list, X509 *certificate) { return sk_X509_push(list, certificate); }
static inline void cordon_sk_X509_free(STACK_OF(X509) *list) { sk_X509_free(list); }
static inline void cordon_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void cordon_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }

static const uint64_t cordon_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t cordon_SSL_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;
static const int cordon_ERR_RFLAG_FATAL = ERR_RFLAG_FATAL;
static const int cordon_EVP_PKEY_PUBLIC_KEY = EVP_PKEY_PUBLIC_KEY;
static const int cordon_EVP_PKEY_KEYPAIR = EVP_PKEY_KEYPAIR;

static inline EVP_PKEY *cordon_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }
static inline EVP_PKEY *cordon_EVP_RSA_gen(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline void cordon_OPENSSL_free(void *memory) { OPENSSL_free(memory); }
