// The functions of the BoringSSL inside swift-crypto that this module uses, declared as in its headers openssl/sha.h,
// md4.h, md5.h, evp.h, cipher.h, aes.h, rand.h and mem.h, with the prefix of swift-crypto's copy. The linker finds them.
//
// Functions that return an int return 1 for success, unless something else is said.
#ifndef BORING_SSL_H
#define BORING_SSL_H

#include <stddef.h>
#include <stdint.h>

// NAME##_CTX is plain memory: at most 96 bytes for MD4, MD5 and SHA-1, 112 for SHA-256, 208 for SHA-512.
#define DECLARE_DIGEST(NAME) \
    extern int CCryptoBoringSSL_##NAME##_Init(void *context); \
    extern int CCryptoBoringSSL_##NAME##_Update(void *context, const void *data, size_t count); \
    extern int CCryptoBoringSSL_##NAME##_Final(uint8_t *digest, void *context);

DECLARE_DIGEST(MD4)
DECLARE_DIGEST(MD5)
DECLARE_DIGEST(SHA1)
DECLARE_DIGEST(SHA224)
DECLARE_DIGEST(SHA256)
DECLARE_DIGEST(SHA384)
DECLARE_DIGEST(SHA512)

typedef struct env_md_st EVP_MD;
extern const EVP_MD *CCryptoBoringSSL_EVP_sha1(void);
extern const EVP_MD *CCryptoBoringSSL_EVP_sha224(void);
extern const EVP_MD *CCryptoBoringSSL_EVP_sha256(void);
extern const EVP_MD *CCryptoBoringSSL_EVP_sha384(void);
extern const EVP_MD *CCryptoBoringSSL_EVP_sha512(void);
extern int CCryptoBoringSSL_PKCS5_PBKDF2_HMAC(
    const char *password, size_t password_count, const uint8_t *salt, size_t salt_count, uint32_t rounds,
    const EVP_MD *digest, size_t key_count, uint8_t *key);

typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_128_ecb(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_192_ecb(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_256_ecb(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_128_cbc(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_192_cbc(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_256_cbc(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_128_ctr(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_192_ctr(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_256_ctr(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_128_ofb(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_192_ofb(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_aes_256_ofb(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_des_ecb(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_des_cbc(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_des_ede3_ecb(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_des_ede3_cbc(void);
extern const EVP_CIPHER *CCryptoBoringSSL_EVP_rc4(void);
extern EVP_CIPHER_CTX *CCryptoBoringSSL_EVP_CIPHER_CTX_new(void);
extern void CCryptoBoringSSL_EVP_CIPHER_CTX_free(EVP_CIPHER_CTX *context);
extern int CCryptoBoringSSL_EVP_CIPHER_CTX_set_key_length(EVP_CIPHER_CTX *context, unsigned count);
extern int CCryptoBoringSSL_EVP_CIPHER_CTX_set_padding(EVP_CIPHER_CTX *context, int pads);
/// `encrypts` is -1 for no change.
extern int CCryptoBoringSSL_EVP_CipherInit_ex(
    EVP_CIPHER_CTX *context, const EVP_CIPHER *cipher, void *engine, const uint8_t *key, const uint8_t *iv,
    int encrypts);
extern int CCryptoBoringSSL_EVP_CipherUpdate(
    EVP_CIPHER_CTX *context, uint8_t *output, int *output_count, const uint8_t *input, int input_count);

typedef struct aes_key_st {
    uint32_t words[60];
    unsigned rounds;
} AES_KEY;
/// Return 0 for success.
extern int CCryptoBoringSSL_AES_set_encrypt_key(const uint8_t *key, unsigned bits, AES_KEY *prepared);
extern int CCryptoBoringSSL_AES_set_decrypt_key(const uint8_t *key, unsigned bits, AES_KEY *prepared);
extern void CCryptoBoringSSL_AES_cfb128_encrypt(
    const uint8_t *input, uint8_t *output, size_t count, const AES_KEY *key, uint8_t *iv, int *used, int encrypts);
/// Return the number of bytes that were written, or -1.
extern int CCryptoBoringSSL_AES_wrap_key(
    const AES_KEY *key, const uint8_t *iv, uint8_t *output, const uint8_t *input, size_t count);
extern int CCryptoBoringSSL_AES_unwrap_key(
    const AES_KEY *key, const uint8_t *iv, uint8_t *output, const uint8_t *input, size_t count);

extern int CCryptoBoringSSL_RAND_bytes(uint8_t *bytes, size_t count);
extern void CCryptoBoringSSL_OPENSSL_cleanse(void *bytes, size_t count);
extern void CCryptoBoringSSL_ERR_clear_error(void);

#endif
