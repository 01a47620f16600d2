// AES-256-GCM and ChaCha20-Poly1305 by the BoringSSL that is part of swift-crypto, under a key that is prepared once. What
// swift-crypto itself offers prepares the key and takes memory for each message, which takes longer than a small message does.
//
// The functions of BoringSSL are found when the program is linked. In a program whose swift-crypto has them by other names
// there are none, and no key can be made.
#ifndef C_AEAD_H
#define C_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct aead_key aead_key;

typedef enum { AEAD_AES_256_GCM, AEAD_CHACHA20_POLY1305 } aead_algorithm;

/// A key of 32 bytes; NULL if there is no BoringSSL or no memory. Any number of threads may use it at once.
aead_key *_Nullable aead_key_prepare(aead_algorithm algorithm, const void *_Nonnull key);

/// Wipes it.
void aead_key_free(aead_key *_Nonnull key);

/// Encrypts `text` to `sealed`, which may be the same, and may not overlap in part. The nonce has 12 bytes, the tag 16.
bool aead_seal(const aead_key *_Nonnull key, const void *_Nonnull text, size_t count, const void *_Nonnull nonce,
    const void *_Nonnull binding, size_t binding_count, void *_Nonnull sealed, void *_Nonnull tag);

/// Decrypts `sealed` to `text`, which may be the same, and may not overlap in part. What is in `text` if the tag is another is of no
/// use to anybody.
bool aead_open(const aead_key *_Nonnull key, const void *_Nonnull sealed, size_t count, const void *_Nonnull nonce,
    const void *_Nonnull binding, size_t binding_count, const void *_Nonnull tag, void *_Nonnull text);

#endif
