#ifndef C_PAGE_CIPHER_H
#define C_PAGE_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// AES-256-GCM in place, by the BoringSSL that is part of swift-crypto, under a key that is prepared once. What swift-crypto itself
// offers prepares the key and takes memory for each message, which takes longer than the message if that is a page.
//
// The functions of BoringSSL are found when the program is linked. In a program whose swift-crypto has them by other names
// there are none, and no key can be made.
typedef struct PreparedPageKey PreparedPageKey;

/// A key of 32 bytes; NULL if there is no BoringSSL or no memory. Any number of threads may use it at once.
PreparedPageKey *_Nullable page_key_prepare(const uint8_t *_Nonnull key);

/// Wipes it.
void page_key_free(PreparedPageKey *_Nonnull key);

/// Encrypts `text` in its place. The nonce has 12 bytes, the tag 16.
bool page_key_seal(const PreparedPageKey *_Nonnull key, void *_Nonnull text, size_t count, const void *_Nonnull nonce,
    const void *_Nonnull binding, size_t binding_count, void *_Nonnull tag);

/// Decrypts `sealed` to `text`, which may be the same, and may not overlap in part. What is in `text` if the tag is another is of no
/// use to anybody.
bool page_key_open(const PreparedPageKey *_Nonnull key, const void *_Nonnull sealed, size_t count, const void *_Nonnull nonce,
    const void *_Nonnull binding, size_t binding_count, const void *_Nonnull tag, void *_Nonnull text);

#endif
