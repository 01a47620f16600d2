#ifndef COMMON_SYMMETRIC_KEYWRAP_H
#define COMMON_SYMMETRIC_KEYWRAP_H

#include <CommonCrypto/CommonCryptoError.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kCCWRAPAES = 1 };
typedef uint32_t CCWrappingAlgorithm;

/// The initial value of RFC 3394, section 2.2.3.1.
extern const uint8_t *const CCrfc3394_iv;
/// In bytes.
extern const size_t CCrfc3394_ivLen;

/// Wraps a key with AES (RFC 3394).
///
/// - `iv`: 8 bytes; NULL for those of the RFC.
/// - `kek`: The key to wrap with; 16, 24 or 32 bytes.
/// - `rawKey`: At least 16 bytes, and a multiple of 8.
/// - `wrappedKeyLen`: The size of the buffer, and then of the wrapped key: 8 bytes more than the key.
///
/// Returns kCCSuccess; kCCParamError, and a length of 0.
int CCSymmetricKeyWrap(
    CCWrappingAlgorithm algorithm, const uint8_t *iv, const size_t ivLen, const uint8_t *kek, size_t kekLen,
    const uint8_t *rawKey, size_t rawKeyLen, uint8_t *wrappedKey, size_t *wrappedKeyLen);

/// Unwraps a key. The arguments are as above, with the sizes of wrapped and raw key the other way round.
///
/// Returns kCCSuccess; kCCParamError; kCCDecodeError if the wrapped key was changed or `kek` is another one. After an
/// error the length is 0.
int CCSymmetricKeyUnwrap(
    CCWrappingAlgorithm algorithm, const uint8_t *iv, const size_t ivLen, const uint8_t *kek, size_t kekLen,
    const uint8_t *wrappedKey, size_t wrappedKeyLen, uint8_t *rawKey, size_t *rawKeyLen);

/// Returns the size of a wrapped key, in bytes.
size_t CCSymmetricWrappedSize(CCWrappingAlgorithm algorithm, size_t rawKeyLen);

/// Returns the size of the key in a wrapped key, in bytes.
size_t CCSymmetricUnwrappedSize(CCWrappingAlgorithm algorithm, size_t wrappedKeyLen);

#ifdef __cplusplus
}
#endif

#endif
