#include <CommonCrypto/CommonDigest.h>

#include "BoringSSL.h"

_Static_assert(sizeof(CC_MD5_CTX) >= 96 && sizeof(CC_MD4_CTX) >= 96 && sizeof(CC_SHA1_CTX) >= 96, "too small");
_Static_assert(sizeof(CC_SHA256_CTX) >= 112 && sizeof(CC_SHA512_CTX) >= 208, "too small");

#define DEFINE_DIGEST(NAME, CONTEXT) \
    int CC_##NAME##_Init(CONTEXT *c) { return CCryptoBoringSSL_##NAME##_Init(c); } \
    int CC_##NAME##_Update(CONTEXT *c, const void *data, CC_LONG len) { \
        return CCryptoBoringSSL_##NAME##_Update(c, data, len); \
    } \
    int CC_##NAME##_Final(unsigned char *md, CONTEXT *c) { \
        int done = CCryptoBoringSSL_##NAME##_Final(md, c); \
        CCryptoBoringSSL_OPENSSL_cleanse(c, sizeof *c); \
        return done; \
    } \
    unsigned char *CC_##NAME(const void *data, CC_LONG len, unsigned char *md) { \
        if (!md) return NULL; \
        CONTEXT context; \
        CC_##NAME##_Init(&context); \
        CC_##NAME##_Update(&context, data, len); \
        CC_##NAME##_Final(md, &context); \
        return md; \
    }

DEFINE_DIGEST(MD4, CC_MD4_CTX)
DEFINE_DIGEST(MD5, CC_MD5_CTX)
DEFINE_DIGEST(SHA1, CC_SHA1_CTX)
DEFINE_DIGEST(SHA224, CC_SHA256_CTX)
DEFINE_DIGEST(SHA256, CC_SHA256_CTX)
DEFINE_DIGEST(SHA384, CC_SHA512_CTX)
DEFINE_DIGEST(SHA512, CC_SHA512_CTX)
