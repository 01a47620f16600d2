/* What needs no private key: digests, verification and encryption, by the BoringSSL inside swift-crypto. */
#ifndef KC_CIPHERS_H
#define KC_CIPHERS_H

#include <stddef.h>
#include <stdint.h>

typedef enum { KC_NO_HASH, KC_SHA1, KC_SHA224, KC_SHA256, KC_SHA384, KC_SHA512 } kc_hash;

typedef enum {
    KC_ECDSA, KC_ECDH, KC_EDDSA, KC_RSA_PKCS1, KC_RSA_PSS, KC_RSA_RAW, KC_RSA_OAEP, KC_ML_DSA, KC_ML_KEM,
    /* Of secret keys. */
    KC_AES_GCM, KC_AES_CBC, KC_AES_CBC_PADDED, KC_AES_WRAP, KC_AES_WRAP_PADDED, KC_HMAC
} kc_scheme;

typedef struct { const uint8_t *bytes; size_t count; } kc_bytes;

/* The padding of RSA, as BoringSSL numbers it. */
enum { KC_PADDING_PKCS1 = 1, KC_PADDING_NONE = 3, KC_PADDING_OAEP = 4, KC_PADDING_PSS = 6 };

struct env_md_st;

/* BoringSSL's hash function; NULL for KC_NO_HASH. */
const struct env_md_st *kc_hash_function(kc_hash hash);

typedef struct kc_digest kc_digest;

/* Returns NULL without memory. `kc_digest_end` frees it. */
kc_digest *kc_digest_begin(kc_hash hash);

/* Returns 1, or 0 if it failed. */
int kc_digest_add(kc_digest *digest, const void *bytes, size_t count);

/* Writes the digest, and returns its length in bytes, or 0 if it failed. */
int kc_digest_finish(kc_digest *digest, uint8_t out[64]);

void kc_digest_end(kc_digest *digest);

/*
 * Returns 1 if the signature is valid, else 0. The key is a SubjectPublicKeyInfo in DER. The data is a digest by `hash`;
 * with KC_NO_HASH what was signed as it is, and with KC_EDDSA the message. Signatures of ECDSA are r and s.
 */
int kc_is_valid(kc_scheme scheme, kc_hash hash, kc_bytes key, kc_bytes data, kc_bytes signature);

/*
 * Encrypts for an RSA key. `count` is the room at `out`, and then the number of bytes that were written. Returns 1, or 0
 * if the data is too long or `key` is no RSA key.
 */
int kc_encrypt(kc_scheme scheme, kc_hash hash, kc_bytes key, kc_bytes data, uint8_t *out, size_t *count);

#endif
