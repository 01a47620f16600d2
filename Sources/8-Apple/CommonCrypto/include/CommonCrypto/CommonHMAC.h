#ifndef COMMON_HMAC_H
#define COMMON_HMAC_H

#include <CommonCrypto/CommonDigest.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    kCCHmacAlgSHA1,
    kCCHmacAlgMD5,
    kCCHmacAlgSHA256,
    kCCHmacAlgSHA384,
    kCCHmacAlgSHA512,
    kCCHmacAlgSHA224,
};
typedef uint32_t CCHmacAlgorithm;

#define CC_HMAC_CONTEXT_SIZE 128
/// Plain memory: it can be copied, and needs no end.
typedef struct { uint64_t ctx[CC_HMAC_CONTEXT_SIZE / 2]; } CCHmacContext;

// HMAC (RFC 2104). A MAC has as many bytes as the digest of its algorithm. With an unknown algorithm the program
// aborts: the functions cannot return an error, and a wrong MAC would be worse.

/// Begins a MAC under a key of any size.
void CCHmacInit(CCHmacContext *ctx, CCHmacAlgorithm algorithm, const void *key, size_t keyLength);

void CCHmacUpdate(CCHmacContext *ctx, const void *data, size_t dataLength);

/// Writes the MAC to `macOut`.
void CCHmacFinal(CCHmacContext *ctx, void *macOut);

/// Writes the MAC of `data` to `macOut`.
void CCHmac(
    CCHmacAlgorithm algorithm, const void *key, size_t keyLength, const void *data, size_t dataLength, void *macOut);

#ifdef __cplusplus
}
#endif

#endif
