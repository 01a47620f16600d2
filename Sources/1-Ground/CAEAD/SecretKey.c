#include "CAEAD.h"

#include <string.h>

#include "Stack.h"

// Declared as in openssl/aead.h, openssl/aes.h, openssl/cipher.h, openssl/hmac.h and openssl/digest.h, with the prefix of
// swift-crypto's copy. Weak, so that a program links without them.
typedef struct evp_aead_st EVP_AEAD;
typedef struct evp_aead_ctx_st EVP_AEAD_CTX;
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct env_md_st EVP_MD;
typedef struct {
    // 15 round keys and the number of rounds take 244 bytes; the rest is for larger ones.
    _Alignas(16) unsigned char bytes[512];
} AES_KEY;

#define NAMED(name) CCryptoBoringSSL_##name
#define WEAK __attribute__((weak))
extern const EVP_AEAD *NAMED(EVP_aead_aes_128_gcm)(void) WEAK, *NAMED(EVP_aead_aes_192_gcm)(void) WEAK;
extern const EVP_AEAD *NAMED(EVP_aead_aes_256_gcm)(void) WEAK;
extern EVP_AEAD_CTX *NAMED(EVP_AEAD_CTX_new)(
    const EVP_AEAD *aead, const uint8_t *key, size_t key_len, size_t tag_len) WEAK;
extern void NAMED(EVP_AEAD_CTX_free)(EVP_AEAD_CTX *ctx) WEAK;
extern int NAMED(EVP_AEAD_CTX_seal)(const EVP_AEAD_CTX *ctx, uint8_t *out, size_t *out_len, size_t max_out_len,
    const uint8_t *nonce, size_t nonce_len, const uint8_t *in, size_t in_len, const uint8_t *ad, size_t ad_len) WEAK;
extern int NAMED(EVP_AEAD_CTX_open)(const EVP_AEAD_CTX *ctx, uint8_t *out, size_t *out_len, size_t max_out_len,
    const uint8_t *nonce, size_t nonce_len, const uint8_t *in, size_t in_len, const uint8_t *ad, size_t ad_len) WEAK;
extern const EVP_CIPHER *NAMED(EVP_aes_128_cbc)(void) WEAK, *NAMED(EVP_aes_192_cbc)(void) WEAK;
extern const EVP_CIPHER *NAMED(EVP_aes_256_cbc)(void) WEAK;
extern EVP_CIPHER_CTX *NAMED(EVP_CIPHER_CTX_new)(void) WEAK;
extern void NAMED(EVP_CIPHER_CTX_free)(EVP_CIPHER_CTX *ctx) WEAK;
extern int NAMED(EVP_CipherInit_ex)(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher, void *engine, const uint8_t *key,
    const uint8_t *iv, int enc) WEAK;
extern int NAMED(EVP_CIPHER_CTX_set_padding)(EVP_CIPHER_CTX *ctx, int pad) WEAK;
extern int NAMED(EVP_CipherUpdate)(EVP_CIPHER_CTX *ctx, uint8_t *out, int *out_len, const uint8_t *in, int in_len) WEAK;
extern int NAMED(EVP_CipherFinal_ex)(EVP_CIPHER_CTX *ctx, uint8_t *out, int *out_len) WEAK;
extern int NAMED(AES_set_encrypt_key)(const uint8_t *key, unsigned bits, AES_KEY *aeskey) WEAK;
extern int NAMED(AES_set_decrypt_key)(const uint8_t *key, unsigned bits, AES_KEY *aeskey) WEAK;
extern int NAMED(AES_wrap_key)(
    const AES_KEY *key, const uint8_t *iv, uint8_t *out, const uint8_t *in, size_t in_len) WEAK;
extern int NAMED(AES_unwrap_key)(
    const AES_KEY *key, const uint8_t *iv, uint8_t *out, const uint8_t *in, size_t in_len) WEAK;
extern int NAMED(AES_wrap_key_padded)(
    const AES_KEY *key, uint8_t *out, size_t *out_len, size_t max_out, const uint8_t *in, size_t in_len) WEAK;
extern int NAMED(AES_unwrap_key_padded)(
    const AES_KEY *key, uint8_t *out, size_t *out_len, size_t max_out, const uint8_t *in, size_t in_len) WEAK;
extern const EVP_MD *NAMED(EVP_sha1)(void) WEAK, *NAMED(EVP_sha224)(void) WEAK, *NAMED(EVP_sha256)(void) WEAK;
extern const EVP_MD *NAMED(EVP_sha384)(void) WEAK, *NAMED(EVP_sha512)(void) WEAK;
extern uint8_t *NAMED(HMAC)(const EVP_MD *md, const void *key, size_t key_len, const uint8_t *data, size_t data_len,
    uint8_t *out, unsigned int *out_len) WEAK;
extern void NAMED(ERR_clear_error)(void) WEAK;

enum { longest = 1 << 30, vector_count = 16 };

// One of them stands for all: they come from one library.
static bool has_functions(void) { return NAMED(EVP_AEAD_CTX_new) && NAMED(EVP_CIPHER_CTX_new) && NAMED(HMAC); }

static secret_result authenticated(const secret_message *message, bool encrypts, secret_bytes key, uint8_t *out,
    size_t *count) {
    const EVP_AEAD *aead = key.count == 16 ? NAMED(EVP_aead_aes_128_gcm)()
        : key.count == 24                  ? NAMED(EVP_aead_aes_192_gcm)()
                                           : NAMED(EVP_aead_aes_256_gcm)();
    // No tag would authenticate nothing. SP 800-38D has none below 4 bytes.
    if (message->vector.count == 0 || message->tag_count < 4 || message->tag_count > 16) return SECRET_REFUSED;
    EVP_AEAD_CTX *context = NAMED(EVP_AEAD_CTX_new)(aead, key.bytes, key.count, message->tag_count);
    if (!context) return SECRET_UNAVAILABLE;
    int done = (encrypts ? NAMED(EVP_AEAD_CTX_seal) : NAMED(EVP_AEAD_CTX_open))(context, out, count, *count,
        message->vector.bytes, message->vector.count, message->text.bytes, message->text.count, message->binding.bytes,
        message->binding.count);
    NAMED(EVP_AEAD_CTX_free)(context);
    return done == 1 ? SECRET_DONE : encrypts ? SECRET_REFUSED : SECRET_DAMAGED;
}

static secret_result chained(const secret_message *message, bool encrypts, secret_bytes key, bool is_padded,
    uint8_t *out, size_t *count) {
    const EVP_CIPHER *cipher = key.count == 16 ? NAMED(EVP_aes_128_cbc)()
        : key.count == 24                      ? NAMED(EVP_aes_192_cbc)()
                                               : NAMED(EVP_aes_256_cbc)();
    bool has_blocks = message->text.count % vector_count == 0;
    if (message->vector.count != vector_count || ((!is_padded || !encrypts) && !has_blocks)) return SECRET_REFUSED;
    EVP_CIPHER_CTX *context = NAMED(EVP_CIPHER_CTX_new)();
    if (!context) return SECRET_UNAVAILABLE;
    int first = 0, last = 0;
    bool done = NAMED(EVP_CipherInit_ex)(context, cipher, NULL, key.bytes, message->vector.bytes, encrypts) == 1
        && NAMED(EVP_CIPHER_CTX_set_padding)(context, is_padded) == 1
        && NAMED(EVP_CipherUpdate)(context, out, &first, message->text.bytes, (int)message->text.count) == 1
        && NAMED(EVP_CipherFinal_ex)(context, out + first, &last) == 1;
    NAMED(EVP_CIPHER_CTX_free)(context);
    *count = (size_t)first + (size_t)last;
    return done ? SECRET_DONE : SECRET_DAMAGED;
}

static secret_result wrapped(const secret_message *message, bool encrypts, secret_bytes key, bool is_padded,
    uint8_t *out, size_t *count) {
    size_t length = message->text.count;
    if (message->vector.count != 0) return SECRET_REFUSED;
    // RFC 3394 has at least two blocks, RFC 5649 any length.
    if (encrypts ? (is_padded ? length == 0 : length < 16 || length % 8 != 0) : length < 16 || length % 8 != 0)
        return SECRET_REFUSED;
    AES_KEY prepared;
    unsigned bits = (unsigned)key.count * 8;
    if ((encrypts ? NAMED(AES_set_encrypt_key) : NAMED(AES_set_decrypt_key))(key.bytes, bits, &prepared) != 0)
        return SECRET_REFUSED;
    bool done;
    if (is_padded) {
        done = (encrypts ? NAMED(AES_wrap_key_padded) : NAMED(AES_unwrap_key_padded))(
                   &prepared, out, count, *count, message->text.bytes, length)
            == 1;
    } else {
        int written = (encrypts ? NAMED(AES_wrap_key) : NAMED(AES_unwrap_key))(
            &prepared, NULL, out, message->text.bytes, length);
        done = written > 0;
        *count = done ? (size_t)written : 0;
    }
    explicit_bzero(&prepared, sizeof prepared);
    return done ? SECRET_DONE : SECRET_DAMAGED;
}

secret_result secret_key_transform(
    secret_cipher cipher, bool encrypts, secret_bytes key, const secret_message *message, void *out, size_t *count) {
    if (!has_functions()) return SECRET_UNAVAILABLE;
    if ((key.count != 16 && key.count != 24 && key.count != 32) || message->text.count > longest
        || *count < message->text.count + SECRET_GROWTH)
        return SECRET_REFUSED;
    size_t room = *count;
    secret_result result = SECRET_REFUSED;
    switch (cipher) {
    case SECRET_AES_GCM: result = authenticated(message, encrypts, key, out, count); break;
    case SECRET_AES_CBC: result = chained(message, encrypts, key, false, out, count); break;
    case SECRET_AES_CBC_PADDED: result = chained(message, encrypts, key, true, out, count); break;
    case SECRET_AES_WRAP: result = wrapped(message, encrypts, key, false, out, count); break;
    case SECRET_AES_WRAP_PADDED: result = wrapped(message, encrypts, key, true, out, count); break;
    }
    wipe_stack();
    if (result != SECRET_DONE) {
        NAMED(ERR_clear_error)();
        explicit_bzero(out, room);
        *count = 0;
    }
    return result;
}

size_t secret_key_authenticate(
    secret_hash hash, secret_bytes key, const void *message, size_t count, void *code) {
    if (!has_functions()) return 0;
    const EVP_MD *function = NULL;
    switch (hash) {
    case SECRET_SHA1: function = NAMED(EVP_sha1)(); break;
    case SECRET_SHA224: function = NAMED(EVP_sha224)(); break;
    case SECRET_SHA256: function = NAMED(EVP_sha256)(); break;
    case SECRET_SHA384: function = NAMED(EVP_sha384)(); break;
    case SECRET_SHA512: function = NAMED(EVP_sha512)(); break;
    }
    unsigned written = 0;
    bool done = function && NAMED(HMAC)(function, key.bytes, key.count, message, count, code, &written);
    wipe_stack();
    return done ? written : 0;
}
