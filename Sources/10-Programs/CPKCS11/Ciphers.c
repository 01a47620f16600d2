#include "Ciphers.h"

#include <string.h>

/* Declared as in openssl/evp.h, digest.h, ecdsa.h, rsa.h and bytestring.h, with the prefix of swift-crypto's copy. */
#define NAMED(name) CCryptoBoringSSL_##name
typedef struct env_md_st EVP_MD;
typedef struct env_md_ctx_st EVP_MD_CTX;
typedef struct engine_st ENGINE;
typedef struct evp_pkey_st EVP_PKEY;
typedef struct evp_pkey_ctx_st EVP_PKEY_CTX;
typedef struct ec_key_st EC_KEY;
typedef struct rsa_st RSA;
typedef struct { const uint8_t *data; size_t length; } CBS;

extern const EVP_MD *NAMED(EVP_sha1)(void), *NAMED(EVP_sha224)(void), *NAMED(EVP_sha256)(void);
extern const EVP_MD *NAMED(EVP_sha384)(void), *NAMED(EVP_sha512)(void);
extern EVP_MD_CTX *NAMED(EVP_MD_CTX_new)(void);
extern void NAMED(EVP_MD_CTX_free)(EVP_MD_CTX *context);
extern int NAMED(EVP_MD_CTX_copy_ex)(EVP_MD_CTX *out, const EVP_MD_CTX *in);
extern int NAMED(EVP_DigestInit_ex)(EVP_MD_CTX *context, const EVP_MD *type, ENGINE *engine);
extern int NAMED(EVP_DigestUpdate)(EVP_MD_CTX *context, const void *data, size_t length);
extern int NAMED(EVP_DigestFinal_ex)(EVP_MD_CTX *context, uint8_t *out, unsigned *length);
extern EVP_PKEY *NAMED(EVP_parse_public_key)(CBS *bytes);
extern void NAMED(EVP_PKEY_free)(EVP_PKEY *key);
extern EC_KEY *NAMED(EVP_PKEY_get0_EC_KEY)(const EVP_PKEY *key);
extern RSA *NAMED(EVP_PKEY_get0_RSA)(const EVP_PKEY *key);
extern EVP_PKEY_CTX *NAMED(EVP_PKEY_CTX_new)(EVP_PKEY *key, ENGINE *engine);
extern void NAMED(EVP_PKEY_CTX_free)(EVP_PKEY_CTX *context);
extern int NAMED(EVP_PKEY_verify_init)(EVP_PKEY_CTX *context);
extern int NAMED(EVP_PKEY_verify)(EVP_PKEY_CTX *context, const uint8_t *signature, size_t signature_length,
    const uint8_t *digest, size_t digest_length);
extern int NAMED(EVP_PKEY_encrypt_init)(EVP_PKEY_CTX *context);
extern int NAMED(EVP_PKEY_encrypt)(
    EVP_PKEY_CTX *context, uint8_t *out, size_t *out_length, const uint8_t *in, size_t in_length);
extern int NAMED(EVP_PKEY_CTX_set_rsa_padding)(EVP_PKEY_CTX *context, int padding);
extern int NAMED(EVP_PKEY_CTX_set_rsa_pss_saltlen)(EVP_PKEY_CTX *context, int length);
extern int NAMED(EVP_PKEY_CTX_set_rsa_mgf1_md)(EVP_PKEY_CTX *context, const EVP_MD *type);
extern int NAMED(EVP_PKEY_CTX_set_rsa_oaep_md)(EVP_PKEY_CTX *context, const EVP_MD *type);
extern int NAMED(EVP_PKEY_CTX_set_signature_md)(EVP_PKEY_CTX *context, const EVP_MD *type);
extern int NAMED(ECDSA_verify_p1363)(const uint8_t *digest, size_t digest_length, const uint8_t *signature,
    size_t signature_length, const EC_KEY *key);
extern int NAMED(RSA_verify_raw)(RSA *rsa, size_t *out_length, uint8_t *out, size_t most, const uint8_t *in,
    size_t in_length, int padding);
extern int NAMED(ED25519_verify)(
    const uint8_t *message, size_t length, const uint8_t signature[64], const uint8_t public_key[32]);
extern void NAMED(ERR_clear_error)(void);

const EVP_MD *kc_hash_function(kc_hash hash) {
    switch (hash) {
    case KC_SHA1: return NAMED(EVP_sha1)();
    case KC_SHA224: return NAMED(EVP_sha224)();
    case KC_SHA256: return NAMED(EVP_sha256)();
    case KC_SHA384: return NAMED(EVP_sha384)();
    case KC_SHA512: return NAMED(EVP_sha512)();
    case KC_NO_HASH: break;
    }
    return NULL;
}

kc_digest *kc_digest_begin(kc_hash hash) {
    const EVP_MD *type = kc_hash_function(hash);
    EVP_MD_CTX *context = type ? NAMED(EVP_MD_CTX_new)() : NULL;
    if (context && NAMED(EVP_DigestInit_ex)(context, type, NULL)) return (kc_digest *)context;
    kc_digest_end((kc_digest *)context);
    return NULL;
}

int kc_digest_add(kc_digest *digest, const void *bytes, size_t count) {
    return NAMED(EVP_DigestUpdate)((EVP_MD_CTX *)digest, bytes, count);
}

int kc_digest_finish(kc_digest *digest, uint8_t out[64]) {
    unsigned length = 0;
    return NAMED(EVP_DigestFinal_ex)((EVP_MD_CTX *)digest, out, &length) ? (int)length : 0;
}

void kc_digest_end(kc_digest *digest) {
    if (digest) NAMED(EVP_MD_CTX_free)((EVP_MD_CTX *)digest);
}

static EVP_PKEY *parse(const uint8_t *key, size_t count) {
    CBS bytes = {key, count};
    EVP_PKEY *parsed = NAMED(EVP_parse_public_key)(&bytes);
    if (parsed && bytes.length == 0) return parsed;
    NAMED(EVP_PKEY_free)(parsed);
    return NULL;
}

/* A signature of bytes as they are: what is in the padding has to be the data. */
static int is_padded(RSA *rsa, int padding, kc_bytes data, kc_bytes signature) {
    uint8_t found[2048];
    size_t length = 0;
    if (!rsa || signature.count > sizeof found) return 0;
    if (!NAMED(RSA_verify_raw)(rsa, &length, found, sizeof found, signature.bytes, signature.count, padding)) return 0;
    /* Without padding, leading zeros may be left out. */
    if (padding == KC_PADDING_NONE && data.count < length) {
        size_t zeros = length - data.count;
        for (size_t index = 0; index < zeros; index++) {
            if (found[index]) return 0;
        }
        return memcmp(found + zeros, data.bytes, data.count) == 0;
    }
    return length == data.count && (length == 0 || memcmp(found, data.bytes, length) == 0);
}

static int is_hashed(EVP_PKEY *key, int padding, kc_hash hash, kc_bytes digest, kc_bytes signature) {
    const EVP_MD *type = kc_hash_function(hash);
    EVP_PKEY_CTX *context = type ? NAMED(EVP_PKEY_CTX_new)(key, NULL) : NULL;
    int is_valid = context && NAMED(EVP_PKEY_verify_init)(context)
        && NAMED(EVP_PKEY_CTX_set_rsa_padding)(context, padding)
        && (padding != KC_PADDING_PSS
            || (NAMED(EVP_PKEY_CTX_set_rsa_mgf1_md)(context, type)
                /* As long as the digest. */
                && NAMED(EVP_PKEY_CTX_set_rsa_pss_saltlen)(context, -1)))
        && NAMED(EVP_PKEY_CTX_set_signature_md)(context, type)
        && NAMED(EVP_PKEY_verify)(context, signature.bytes, signature.count, digest.bytes, digest.count);
    if (context) NAMED(EVP_PKEY_CTX_free)(context);
    return is_valid;
}

int kc_is_valid(kc_scheme scheme, kc_hash hash, kc_bytes key, kc_bytes data, kc_bytes signature) {
    EVP_PKEY *parsed = parse(key.bytes, key.count);
    if (!parsed) return 0;
    int is_valid = 0;
    EC_KEY *curve = NULL;
    switch (scheme) {
    case KC_ECDSA:
        curve = NAMED(EVP_PKEY_get0_EC_KEY)(parsed);
        is_valid = curve
            && NAMED(ECDSA_verify_p1363)(data.bytes, data.count, signature.bytes, signature.count, curve) == 1;
        break;
    case KC_EDDSA:
        /* The key is the end of its encoding (RFC 8410). */
        is_valid = signature.count == 64 && key.count == 44
            && NAMED(ED25519_verify)(data.bytes, data.count, signature.bytes, key.bytes + 12);
        break;
    case KC_RSA_PKCS1:
        is_valid = hash == KC_NO_HASH ? is_padded(NAMED(EVP_PKEY_get0_RSA)(parsed), KC_PADDING_PKCS1, data, signature)
                                      : is_hashed(parsed, KC_PADDING_PKCS1, hash, data, signature);
        break;
    case KC_RSA_PSS: is_valid = is_hashed(parsed, KC_PADDING_PSS, hash, data, signature); break;
    case KC_RSA_RAW: is_valid = is_padded(NAMED(EVP_PKEY_get0_RSA)(parsed), KC_PADDING_NONE, data, signature); break;
    default: break;
    }
    NAMED(EVP_PKEY_free)(parsed);
    NAMED(ERR_clear_error)();
    return is_valid == 1;
}

int kc_encrypt(kc_scheme scheme, kc_hash hash, kc_bytes key, kc_bytes data, uint8_t *out, size_t *count) {
    EVP_PKEY *parsed = parse(key.bytes, key.count);
    EVP_PKEY_CTX *context = parsed ? NAMED(EVP_PKEY_CTX_new)(parsed, NULL) : NULL;
    int padding = scheme == KC_RSA_OAEP ? KC_PADDING_OAEP : scheme == KC_RSA_RAW ? KC_PADDING_NONE : KC_PADDING_PKCS1;
    const EVP_MD *type = kc_hash_function(hash);
    int is_done = context && NAMED(EVP_PKEY_encrypt_init)(context)
        && NAMED(EVP_PKEY_CTX_set_rsa_padding)(context, padding)
        && (padding != KC_PADDING_OAEP
            || (type && NAMED(EVP_PKEY_CTX_set_rsa_oaep_md)(context, type)
                && NAMED(EVP_PKEY_CTX_set_rsa_mgf1_md)(context, type)))
        && NAMED(EVP_PKEY_encrypt)(context, out, count, data.bytes, data.count);
    if (context) NAMED(EVP_PKEY_CTX_free)(context);
    NAMED(EVP_PKEY_free)(parsed);
    NAMED(ERR_clear_error)();
    return is_done;
}
