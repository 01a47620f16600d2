#ifndef COMMON_RANDOM_H
#define COMMON_RANDOM_H

#include <CommonCrypto/CommonCryptoError.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef CCCryptorStatus CCRNGStatus;

/// Fills `bytes` with `count` random bytes of the system's generator.
///
/// Returns kCCSuccess; kCCParamError if `bytes` is NULL and `count` is not 0; kCCRNGFailure.
CCRNGStatus CCRandomGenerateBytes(void *bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
