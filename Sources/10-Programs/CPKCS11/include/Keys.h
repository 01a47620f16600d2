/* Keys of one program for as long as a session lives, by the BoringSSL inside swift-crypto. The vault has no part in them. */
#ifndef KC_KEYS_H
#define KC_KEYS_H

#include "Ciphers.h"

typedef struct kc_key kc_key;

/* All return NULL if they cannot make the key, or if the bytes are no such key. `kc_key_free` frees it. */
kc_key *kc_key_make_rsa(unsigned bits);
kc_key *kc_key_make_curve(unsigned bits);
kc_key *kc_key_make_edwards(void);
/* Modulus, exponent, private exponent, both primes, both exponents, and the coefficient (RFC 8017), big-endian. */
kc_key *kc_key_from_numbers(const kc_bytes numbers[8]);
kc_key *kc_key_from_scalar(unsigned bits, kc_bytes scalar);
kc_key *kc_key_from_seed(kc_bytes seed);
void kc_key_free(kc_key *key);

/* The most bytes that the functions below write. */
enum { KC_LONGEST = 16384 };

/* They return how many bytes they wrote to `out`, which has room for KC_LONGEST, or 0 if they cannot. */

/* The public half as a SubjectPublicKeyInfo in DER. */
size_t kc_key_info(const kc_key *key, uint8_t *out);
size_t kc_rsa_info(kc_bytes modulus, kc_bytes exponent, uint8_t *out);
size_t kc_curve_info(unsigned bits, kc_bytes point, uint8_t *out);

/* The private half as SecKey has it: RSAPrivateKey in DER, 04 and X and Y and K, or the seed. */
size_t kc_key_secret(const kc_key *key, uint8_t *out);

/* The modulus, or with 1 the exponent, of an RSA key. */
size_t kc_key_number(const kc_key *key, int which, uint8_t *out);

/* `data` and the signature have the forms that `kc_is_valid` describes. */
size_t kc_key_sign(const kc_key *key, kc_scheme scheme, kc_hash hash, kc_bytes data, uint8_t *out);
size_t kc_key_decrypt(const kc_key *key, kc_scheme scheme, kc_hash hash, kc_bytes data, uint8_t *out, int *is_done);
size_t kc_key_agree(const kc_key *key, kc_bytes point, uint8_t *out);

/*
 * Makes a secret of 32 bytes and its capsule (FIPS 203). `set` is 768 for ML-KEM-768 and 1024 for ML-KEM-1024. `key` is
 * encoded as in FIPS 203. Returns the length of the capsule, or 0 if `key` is no such key.
 */
size_t kc_encapsulate(unsigned set, kc_bytes key, uint8_t *capsule, uint8_t secret[32]);

/* Returns 1 if the signature is valid. `set` is 65 for ML-DSA-65, 87 for ML-DSA-87; `key` is encoded as in FIPS 204. */
int kc_is_valid_mldsa(unsigned set, kc_bytes key, kc_bytes message, kc_bytes context, kc_bytes signature);

#endif
