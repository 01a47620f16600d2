#include <CommonCrypto/CommonDigest.h>

#include <string.h>

#include "BoringSSL.h"

// MD2 (RFC 1319), which BoringSSL does not have. The names of the parts are those of the RFC's section 3.

/// A permutation of the bytes, made from the digits of pi.
static const unsigned char S[256] = {
    41, 46, 67, 201, 162, 216, 124, 1, 61, 54, 84, 161, 236, 240, 6, 19, 98, 167, 5, 243, 192, 199,
    115, 140, 152, 147, 43, 217, 188, 76, 130, 202, 30, 155, 87, 60, 253, 212, 224, 22, 103, 66,
    111, 24, 138, 23, 229, 18, 190, 78, 196, 214, 218, 158, 222, 73, 160, 251, 245, 142, 187, 47,
    238, 122, 169, 104, 121, 145, 21, 178, 7, 63, 148, 194, 16, 137, 11, 34, 95, 33, 128, 127, 93,
    154, 90, 144, 50, 39, 53, 62, 204, 231, 191, 247, 151, 3, 255, 25, 48, 179, 72, 165, 181, 209,
    215, 94, 146, 42, 172, 86, 170, 198, 79, 184, 56, 210, 150, 164, 125, 182, 118, 252, 107, 226,
    156, 116, 4, 241, 69, 157, 112, 89, 100, 113, 135, 32, 134, 91, 207, 101, 230, 45, 168, 2, 27,
    96, 37, 173, 174, 176, 185, 246, 28, 70, 97, 105, 52, 64, 126, 15, 85, 71, 163, 35, 221, 81,
    175, 58, 195, 92, 249, 206, 186, 197, 234, 38, 44, 83, 13, 110, 133, 40, 132, 9, 211, 223, 205,
    244, 65, 129, 77, 82, 106, 220, 55, 200, 108, 193, 171, 250, 36, 225, 123, 8, 12, 189, 177, 74,
    120, 136, 149, 139, 227, 99, 232, 109, 233, 203, 213, 254, 59, 0, 29, 57, 242, 239, 183, 14,
    102, 88, 208, 228, 166, 119, 114, 248, 235, 117, 75, 10, 49, 68, 80, 180, 143, 237, 31, 26, 219,
    153, 141, 51, 159, 17, 131, 20};

/// Takes a block of 16 bytes into the checksum and into the digest.
static void take(CC_MD2_CTX *c, const unsigned char *block) {
    unsigned char last = c->checksum[15];
    for (int j = 0; j < 16; j++) {
        last = c->checksum[j] ^= S[block[j] ^ last];
    }

    unsigned char X[48];
    memcpy(X, c->digest, 16);
    memcpy(X + 16, block, 16);
    for (int j = 0; j < 16; j++) X[32 + j] = X[j] ^ X[16 + j];
    unsigned char t = 0;
    for (int round = 0; round < 18; round++) {
        for (int k = 0; k < 48; k++) t = X[k] ^= S[t];
        t += round;
    }
    memcpy(c->digest, X, 16);
    CCryptoBoringSSL_OPENSSL_cleanse(X, sizeof X);
}

int CC_MD2_Init(CC_MD2_CTX *c) {
    memset(c, 0, sizeof *c);
    return 1;
}

int CC_MD2_Update(CC_MD2_CTX *c, const void *data, CC_LONG len) {
    const unsigned char *rest = data;
    while (len > 0) {
        CC_LONG count = 16 - c->count < len ? 16 - c->count : len;
        memcpy(c->block + c->count, rest, count);
        c->count += count;
        rest += count;
        len -= count;
        if (c->count == 16) {
            take(c, c->block);
            c->count = 0;
        }
    }
    return 1;
}

int CC_MD2_Final(unsigned char *md, CC_MD2_CTX *c) {
    CC_LONG padding = 16 - c->count;
    memset(c->block + c->count, (int)padding, padding);
    take(c, c->block);
    unsigned char checksum[16];
    memcpy(checksum, c->checksum, sizeof checksum);
    take(c, checksum);
    if (md) memcpy(md, c->digest, CC_MD2_DIGEST_LENGTH);
    CCryptoBoringSSL_OPENSSL_cleanse(checksum, sizeof checksum);
    CCryptoBoringSSL_OPENSSL_cleanse(c, sizeof *c);
    return 1;
}

unsigned char *CC_MD2(const void *data, CC_LONG len, unsigned char *md) {
    if (!md) return NULL;
    CC_MD2_CTX context;
    CC_MD2_Init(&context);
    CC_MD2_Update(&context, data, len);
    CC_MD2_Final(md, &context);
    return md;
}
