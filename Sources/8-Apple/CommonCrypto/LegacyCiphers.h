// Blowfish, CAST and RC2, which the BoringSSL inside swift-crypto does not have: by the legacy provider of the machine's
// OpenSSL 3, which is loaded for the first of them.
#ifndef LEGACY_CIPHERS_H
#define LEGACY_CIPHERS_H

#include <CommonCrypto/CommonCryptor.h>

/// A message in libcrypto's hands. It neither pads nor holds anything back.
typedef struct evp_cipher_ctx_st legacy_context;

/// Begins a message. The key has a size that Apple's headers allow.
///
/// Returns kCCSuccess; kCCUnimplemented for other modes than ECB, CBC, CFB and OFB, and if libcrypto or its legacy
/// provider is not installed; kCCMemoryFailure; kCCUnspecifiedError.
CCCryptorStatus legacy_start(
    legacy_context **context, CCAlgorithm algorithm, CCMode mode, const uint8_t *key, size_t key_count,
    const uint8_t *iv, bool encrypts);

/// Begins another message under the same key.
bool legacy_restart(legacy_context *context, const uint8_t *iv);

/// Works on whole blocks, or for CFB and OFB on any number of bytes.
bool legacy_transform(legacy_context *context, const uint8_t *input, int count, uint8_t *output);

/// Wipes and frees the key.
void legacy_end(legacy_context *context);

#endif
