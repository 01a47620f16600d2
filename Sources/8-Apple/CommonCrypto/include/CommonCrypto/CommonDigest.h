// Digests.
//
// Functions that end in `_Init`, `_Update` and `_Final` digest data in pieces, in that order, and return 1. A context is
// plain memory: it can be copied, and needs no end. Its contents are those of this module and not Apple's.
#ifndef COMMON_DIGEST_H
#define COMMON_DIGEST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A number of bytes.
typedef uint32_t CC_LONG;
typedef uint64_t CC_LONG64;

/// How many bytes of the block are there, the bytes, the checksum and the digest.
typedef struct CC_MD2state_st {
    CC_LONG count;
    unsigned char block[16];
    unsigned char checksum[16];
    unsigned char digest[16];
} CC_MD2_CTX;
typedef struct CC_MD4state_st { CC_LONG64 state[14]; } CC_MD4_CTX;
typedef struct CC_MD5state_st { CC_LONG64 state[14]; } CC_MD5_CTX;
typedef struct CC_SHA1state_st { CC_LONG64 state[14]; } CC_SHA1_CTX;
/// Of SHA-224, too.
typedef struct CC_SHA256state_st { CC_LONG64 state[16]; } CC_SHA256_CTX;
/// Of SHA-384, too.
typedef struct CC_SHA512state_st { CC_LONG64 state[30]; } CC_SHA512_CTX;

// RFC 1319. Broken: use it only to read what exists.
#define CC_MD2_DIGEST_LENGTH 16
/// Apple's number. The blocks of MD2 have 16 bytes.
#define CC_MD2_BLOCK_BYTES 64
extern int CC_MD2_Init(CC_MD2_CTX *c);
/// Adds `len` bytes.
extern int CC_MD2_Update(CC_MD2_CTX *c, const void *data, CC_LONG len);
/// Writes the digest of 16 bytes to `md`.
extern int CC_MD2_Final(unsigned char *md, CC_MD2_CTX *c);
/// Writes the digest of `data` to `md`, and returns `md`; does nothing and returns NULL if `md` is NULL.
extern unsigned char *CC_MD2(const void *data, CC_LONG len, unsigned char *md);

// RFC 1320. Broken: use it only to read what exists.
#define CC_MD4_DIGEST_LENGTH 16
#define CC_MD4_BLOCK_BYTES 64
extern int CC_MD4_Init(CC_MD4_CTX *c);
/// Adds `len` bytes.
extern int CC_MD4_Update(CC_MD4_CTX *c, const void *data, CC_LONG len);
/// Writes the digest of 16 bytes to `md`.
extern int CC_MD4_Final(unsigned char *md, CC_MD4_CTX *c);
/// Writes the digest of `data` to `md`, and returns `md`; does nothing and returns NULL if `md` is NULL.
extern unsigned char *CC_MD4(const void *data, CC_LONG len, unsigned char *md);

// RFC 1321. Broken: use it only to read what exists.
#define CC_MD5_DIGEST_LENGTH 16
#define CC_MD5_BLOCK_BYTES 64
extern int CC_MD5_Init(CC_MD5_CTX *c);
/// Adds `len` bytes.
extern int CC_MD5_Update(CC_MD5_CTX *c, const void *data, CC_LONG len);
/// Writes the digest of 16 bytes to `md`.
extern int CC_MD5_Final(unsigned char *md, CC_MD5_CTX *c);
/// Writes the digest of `data` to `md`, and returns `md`; does nothing and returns NULL if `md` is NULL.
extern unsigned char *CC_MD5(const void *data, CC_LONG len, unsigned char *md);

// FIPS 180-4. Broken: use it only to read what exists.
#define CC_SHA1_DIGEST_LENGTH 20
#define CC_SHA1_BLOCK_BYTES 64
extern int CC_SHA1_Init(CC_SHA1_CTX *c);
/// Adds `len` bytes.
extern int CC_SHA1_Update(CC_SHA1_CTX *c, const void *data, CC_LONG len);
/// Writes the digest of 20 bytes to `md`.
extern int CC_SHA1_Final(unsigned char *md, CC_SHA1_CTX *c);
/// Writes the digest of `data` to `md`, and returns `md`; does nothing and returns NULL if `md` is NULL.
extern unsigned char *CC_SHA1(const void *data, CC_LONG len, unsigned char *md);

// FIPS 180-4.
#define CC_SHA224_DIGEST_LENGTH 28
#define CC_SHA224_BLOCK_BYTES 64
extern int CC_SHA224_Init(CC_SHA256_CTX *c);
/// Adds `len` bytes.
extern int CC_SHA224_Update(CC_SHA256_CTX *c, const void *data, CC_LONG len);
/// Writes the digest of 28 bytes to `md`.
extern int CC_SHA224_Final(unsigned char *md, CC_SHA256_CTX *c);
/// Writes the digest of `data` to `md`, and returns `md`; does nothing and returns NULL if `md` is NULL.
extern unsigned char *CC_SHA224(const void *data, CC_LONG len, unsigned char *md);

// FIPS 180-4.
#define CC_SHA256_DIGEST_LENGTH 32
#define CC_SHA256_BLOCK_BYTES 64
extern int CC_SHA256_Init(CC_SHA256_CTX *c);
/// Adds `len` bytes.
extern int CC_SHA256_Update(CC_SHA256_CTX *c, const void *data, CC_LONG len);
/// Writes the digest of 32 bytes to `md`.
extern int CC_SHA256_Final(unsigned char *md, CC_SHA256_CTX *c);
/// Writes the digest of `data` to `md`, and returns `md`; does nothing and returns NULL if `md` is NULL.
extern unsigned char *CC_SHA256(const void *data, CC_LONG len, unsigned char *md);

// FIPS 180-4.
#define CC_SHA384_DIGEST_LENGTH 48
#define CC_SHA384_BLOCK_BYTES 128
extern int CC_SHA384_Init(CC_SHA512_CTX *c);
/// Adds `len` bytes.
extern int CC_SHA384_Update(CC_SHA512_CTX *c, const void *data, CC_LONG len);
/// Writes the digest of 48 bytes to `md`.
extern int CC_SHA384_Final(unsigned char *md, CC_SHA512_CTX *c);
/// Writes the digest of `data` to `md`, and returns `md`; does nothing and returns NULL if `md` is NULL.
extern unsigned char *CC_SHA384(const void *data, CC_LONG len, unsigned char *md);

// FIPS 180-4.
#define CC_SHA512_DIGEST_LENGTH 64
#define CC_SHA512_BLOCK_BYTES 128
extern int CC_SHA512_Init(CC_SHA512_CTX *c);
/// Adds `len` bytes.
extern int CC_SHA512_Update(CC_SHA512_CTX *c, const void *data, CC_LONG len);
/// Writes the digest of 64 bytes to `md`.
extern int CC_SHA512_Final(unsigned char *md, CC_SHA512_CTX *c);
/// Writes the digest of `data` to `md`, and returns `md`; does nothing and returns NULL if `md` is NULL.
extern unsigned char *CC_SHA512(const void *data, CC_LONG len, unsigned char *md);

#ifdef __cplusplus
}
#endif

#endif
