/* Keys of one program for as long as a session lives, by the BoringSSL inside swift-crypto. The vault has no part in them. */
#ifndef KC_KEYS_H
#define KC_KEYS_H

#include "Ciphers.h"

typedef struct kc_key kc_key;

/* All return NULL if the key cannot be made of this. `kc_key_free` takes it back. */
kc_key *kc_key_make_rsa(unsigned bits);
kc_key *kc_key_make_curve(unsigned bits);
kc_key *kc_key_make_edwards(void);
/* Modulus, exponent, private exponent, both primes, both exponents, and the coefficient (RFC 8017), big-endian. */
kc_key *kc_key_from_numbers(const kc_bytes numbers[8]);
kc_key *kc_key_from_scalar(unsigned bits, kc_bytes scalar);
kc_key *kc_key_from_seed(kc_bytes seed);
void kc_key_free(kc_key *key);

/* The longest that the functions below write. */
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

/* As `kc_is_valid` has data and signature. */
size_t kc_key_sign(const kc_key *key, kc_scheme scheme, kc_hash hash, kc_bytes data, uint8_t *out);
size_t kc_key_decrypt(const kc_key *key, kc_scheme scheme, kc_hash hash, kc_bytes data, uint8_t *out, int *is_done);
size_t kc_key_agree(const kc_key *key, kc_bytes point, uint8_t *out);

/*
 * Makes a secret and a capsule of it (FIPS 203, ML-KEM-768 with 768 and ML-KEM-1024 with 1024). The key is as FIPS 203 has
 * it. Returns the length of the capsule, or 0 if the key is none. The secret has 32 bytes.
 */
size_t kc_encapsulate(unsigned set, kc_bytes key, uint8_t *capsule, uint8_t secret[32]);

/* Returns 1 for a signature of ML-DSA (FIPS 204) by a key as FIPS 204 has it, with 65 or 87. */
int kc_is_valid_mldsa(unsigned set, kc_bytes key, kc_bytes message, kc_bytes context, kc_bytes signature);

#endif
