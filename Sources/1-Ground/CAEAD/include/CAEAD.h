// AES-256-GCM, ChaCha20-Poly1305, HMAC-SHA256, and AES-256-CBC with HMAC, of the BoringSSL inside swift-crypto, with a key
// that is prepared once; messages whose own key is wrapped; AES and HMAC keys of any size; HKDF; and powers modulo a
// number, which swift-crypto keeps to itself.
// swift-crypto's own interface prepares the key and allocates memory for each message, which takes longer than
// encrypting a small message.
//
// The linker finds BoringSSL's functions. If a program's swift-crypto has them under other names, they are missing and
// no key can be made.
#ifndef C_AEAD_H
#define C_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct aead_key aead_key;

typedef enum { AEAD_AES_256_GCM, AEAD_CHACHA20_POLY1305 } aead_algorithm;

/// Prepares a key of 32 bytes. Returns NULL without BoringSSL or memory. Any number of threads may use the key at once.
aead_key *_Nullable aead_key_prepare(aead_algorithm algorithm, const void *_Nonnull key);

/// Wipes and frees the key.
void aead_key_free(aead_key *_Nonnull key);

/// The size in bytes of the memory for `aead_key_place`, which must be aligned to 16 bytes.
enum { AEAD_KEY_ROOM = 1024 };

/// Prepares a key of 32 bytes in `room`, so that the caller decides what memory it is in. The caller wipes it. Returns NULL
/// without BoringSSL.
aead_key *_Nullable aead_key_place(aead_algorithm algorithm, const void *_Nonnull key, void *_Nonnull room);

/// Encrypts `text` to `sealed`, which may be the same, and may not overlap in part. The nonce has 12 bytes, the tag 16.
bool aead_seal(const aead_key *_Nonnull key, const void *_Nonnull text, size_t count, const void *_Nonnull nonce,
    const void *_Nonnull binding, size_t binding_count, void *_Nonnull sealed, void *_Nonnull tag);

/// Decrypts `sealed` to `text`, which may be the same, and may not overlap in part. If the tag does not match, the
/// contents of `text` must not be used.
bool aead_open(const aead_key *_Nonnull key, const void *_Nonnull sealed, size_t count, const void *_Nonnull nonce,
    const void *_Nonnull binding, size_t binding_count, const void *_Nonnull tag, void *_Nonnull text);

/// What came of opening a message whose own key is wrapped.
typedef enum { WRAPPED_OPENED, WRAPPED_WRONG_KEY, WRAPPED_WRONG_TAG, WRAPPED_UNAVAILABLE } wrapped_result;

/// Unwraps the 32 bytes in `wrapped`, which has 40 (RFC 3394), with a key of 32 bytes, and decrypts `sealed` to `text` with
/// them as `aead_open` does with AES-256-GCM. The unwrapped key is in no memory afterwards.
wrapped_result aead_open_wrapped(const void *_Nonnull wrapping_key, const void *_Nonnull wrapped, const void *_Nonnull sealed,
    size_t count, const void *_Nonnull nonce, const void *_Nonnull binding, size_t binding_count, const void *_Nonnull tag,
    void *_Nonnull text);

/// The reverse, with a new key of the caller's, 32 random bytes. Returns false without BoringSSL.
bool aead_seal_wrapped(const void *_Nonnull wrapping_key, const void *_Nonnull key, void *_Nonnull wrapped,
    const void *_Nonnull text, size_t count, const void *_Nonnull nonce, const void *_Nonnull binding, size_t binding_count,
    void *_Nonnull sealed, void *_Nonnull tag);

/// HMAC-SHA256 (RFC 2104).
typedef struct hmac_key hmac_key;

/// Prepares a key. Returns NULL without BoringSSL or memory. Any number of threads may use it at once.
hmac_key *_Nullable hmac_key_prepare(const void *_Nonnull key, size_t count);

/// Wipes and frees the key.
void hmac_key_free(hmac_key *_Nonnull key);

/// Computes the code of a message; `code` has room for 32 bytes. Returns false without memory.
bool hmac_authenticate(
    const hmac_key *_Nonnull key, const void *_Nonnull message, size_t count, void *_Nonnull code);

/// Derives `count` bytes with HKDF-SHA256 (RFC 5869), at most 8,160. Returns false without BoringSSL or memory.
bool hkdf_derive(const void *_Nonnull material, size_t material_count, const void *_Nonnull salt, size_t salt_count,
    const void *_Nonnull info, size_t info_count, void *_Nonnull derived, size_t count);

/// AES-256-CBC without padding, and HMAC over what was encrypted.
typedef struct cbc_key cbc_key;

typedef enum { CBC_WITHOUT_CODE, CBC_HMAC_SHA1, CBC_HMAC_SHA512 } cbc_code;

/// Prepares two keys of 32 bytes. Returns NULL without BoringSSL or memory. Any number of threads may use them at once.
cbc_key *_Nullable cbc_key_prepare(cbc_code code, const void *_Nonnull key, const void *_Nullable code_key);

/// Wipes and frees the keys.
void cbc_key_free(cbc_key *_Nonnull key);

/// Encrypts `text` to `sealed`, which may be the same, and may not overlap in part. `count` is a multiple of 16; the
/// initialization vector has 16 bytes.
void cbc_encrypt(const cbc_key *_Nonnull key, const void *_Nonnull text, size_t count, const void *_Nonnull vector,
    void *_Nonnull sealed);

/// The reverse of `cbc_encrypt`.
void cbc_decrypt(const cbc_key *_Nonnull key, const void *_Nonnull sealed, size_t count, const void *_Nonnull vector,
    void *_Nonnull text);

/// Computes the HMAC over `count` bytes and 4 more. `code` has room for 64 bytes. Returns false without memory, or if
/// the keys have no HMAC.
bool cbc_authenticate(cbc_key *_Nonnull key, const void *_Nonnull bytes, size_t count,
    const void *_Nonnull number, void *_Nonnull code);

/// Encrypts or decrypts `count` bytes where they are, a multiple of 16, with AES-CBC and a key of 16 bytes. `vector` has 16
/// bytes. Returns false without BoringSSL.
bool cbc_transform(
    const void *_Nonnull key, const void *_Nonnull vector, void *_Nonnull bytes, size_t count, bool encrypts);

/// Computes `base` to the power of `exponent` modulo `modulus`, an odd number that is larger than `base`, in a time that
/// depends on the sizes alone. All are big-endian and have `count` bytes. Returns false without BoringSSL or memory.
bool modular_power(const void *_Nonnull base, const void *_Nonnull exponent, const void *_Nonnull modulus, size_t count,
    void *_Nonnull power);

/// Bytes of the caller. `bytes` may be NULL if `count` is 0.
typedef struct {
    const uint8_t *_Nullable bytes;
    size_t count;
} secret_bytes;

/// What an AES key does: GCM (NIST SP 800-38D), CBC without and with the padding of PKCS #7, key wrap (RFC 3394), and key
/// wrap with padding (RFC 5649).
typedef enum {
    SECRET_AES_GCM, SECRET_AES_CBC, SECRET_AES_CBC_PADDED, SECRET_AES_WRAP, SECRET_AES_WRAP_PADDED
} secret_cipher;

typedef enum { SECRET_SHA1, SECRET_SHA224, SECRET_SHA256, SECRET_SHA384, SECRET_SHA512 } secret_hash;

typedef struct {
    /// What is encrypted or decrypted; with GCM, what was encrypted ends with the tag.
    secret_bytes text;
    /// The nonce of GCM, 16 bytes for CBC, none for key wrap.
    secret_bytes vector;
    /// What GCM authenticates besides.
    secret_bytes binding;
    /// The length of the tag of GCM, 4 to 16 bytes.
    size_t tag_count;
} secret_message;

typedef enum {
    SECRET_DONE,
    /// The text, the vector, the tag or the key has a length that the cipher does not take.
    SECRET_REFUSED,
    /// The ciphertext was not made so with this key, or was changed.
    SECRET_DAMAGED,
    SECRET_UNAVAILABLE
} secret_result;

/// The most bytes by which a ciphertext is longer than its text.
enum { SECRET_GROWTH = 16 };

/// Encrypts or decrypts with an AES key of 16, 24 or 32 bytes. `out` has room for `count` bytes, at least the text and
/// SECRET_GROWTH, and must not overlap the text. `count` becomes the number of bytes that were written.
secret_result secret_key_transform(secret_cipher cipher, bool encrypts, secret_bytes key,
    const secret_message *_Nonnull message, void *_Nonnull out, size_t *_Nonnull count);

/// Computes the HMAC of a message (RFC 2104) with a key of any length. `code` has room for 64 bytes. Returns its length,
/// or 0 without BoringSSL.
size_t secret_key_authenticate(secret_hash hash, secret_bytes key, const void *_Nullable message, size_t count,
    void *_Nonnull code);

#endif
