#include <CommonCrypto/CommonHMAC.h>
#include <stdlib.h>
#include <string.h>

#include "BoringSSL.h"

// BoringSSL's own contexts for HMAC hold pointers, and Apple's can be copied as memory. So HMAC (RFC 2104, section 2) is
// made of two digests here: inner = H(key ^ ipad || data), outer = H(key ^ opad || inner).

typedef union {
    CC_MD5_CTX md5;
    CC_SHA1_CTX sha1;
    CC_SHA256_CTX sha256;
    CC_SHA512_CTX sha512;
} digest_context;

typedef struct {
    digest_context inner, outer;
    CCHmacAlgorithm algorithm;
} hmac_context;

_Static_assert(sizeof(hmac_context) <= sizeof(CCHmacContext), "too small");

enum { longest_block = 128, longest_digest = 64 };

typedef struct {
    size_t block, digest;
    int (*begin)(void *context);
    int (*update)(void *context, const void *data, size_t count);
    int (*end)(uint8_t *digest, void *context);
} digest_functions;

#define FUNCTIONS(NAME) \
    { CC_##NAME##_BLOCK_BYTES, CC_##NAME##_DIGEST_LENGTH, CCryptoBoringSSL_##NAME##_Init, \
        CCryptoBoringSSL_##NAME##_Update, CCryptoBoringSSL_##NAME##_Final }

/// By the number of the algorithm.
static const digest_functions all_functions[] = {
    FUNCTIONS(SHA1), FUNCTIONS(MD5), FUNCTIONS(SHA256), FUNCTIONS(SHA384), FUNCTIONS(SHA512), FUNCTIONS(SHA224),
};

static const digest_functions *functions(CCHmacAlgorithm algorithm) {
    if (algorithm >= sizeof all_functions / sizeof *all_functions) abort();
    return &all_functions[algorithm];
}

/// Begins a digest with the key, of which every byte is changed by `pad`.
static void begin(const digest_functions *digest, digest_context *context, const uint8_t *key, uint8_t pad) {
    uint8_t block[longest_block];
    for (size_t index = 0; index < digest->block; index++) block[index] = key[index] ^ pad;
    digest->begin(context);
    digest->update(context, block, digest->block);
    CCryptoBoringSSL_OPENSSL_cleanse(block, sizeof block);
}

void CCHmacInit(CCHmacContext *ctx, CCHmacAlgorithm algorithm, const void *key, size_t keyLength) {
    const digest_functions *digest = functions(algorithm);
    hmac_context *context = (hmac_context *)ctx;
    context->algorithm = algorithm;
    uint8_t block[longest_block] = {0};
    if (keyLength > digest->block) {
        // A longer key counts as its digest.
        digest->begin(&context->inner);
        digest->update(&context->inner, key, keyLength);
        digest->end(block, &context->inner);
    } else if (keyLength > 0) {
        memcpy(block, key, keyLength);
    }
    begin(digest, &context->inner, block, 0x36);
    begin(digest, &context->outer, block, 0x5C);
    CCryptoBoringSSL_OPENSSL_cleanse(block, sizeof block);
}

void CCHmacUpdate(CCHmacContext *ctx, const void *data, size_t dataLength) {
    hmac_context *context = (hmac_context *)ctx;
    functions(context->algorithm)->update(&context->inner, data, dataLength);
}

void CCHmacFinal(CCHmacContext *ctx, void *macOut) {
    hmac_context *context = (hmac_context *)ctx;
    const digest_functions *digest = functions(context->algorithm);
    uint8_t inner[longest_digest];
    digest->end(inner, &context->inner);
    digest->update(&context->outer, inner, digest->digest);
    digest->end(macOut, &context->outer);
    CCryptoBoringSSL_OPENSSL_cleanse(inner, sizeof inner);
    CCryptoBoringSSL_OPENSSL_cleanse(ctx, sizeof *ctx);
}

void CCHmac(
    CCHmacAlgorithm algorithm, const void *key, size_t keyLength, const void *data, size_t dataLength, void *macOut) {
    CCHmacContext context;
    CCHmacInit(&context, algorithm, key, keyLength);
    CCHmacUpdate(&context, data, dataLength);
    CCHmacFinal(&context, macOut);
}
