#include "CAEAD.h"

#include "Stack.h"

// Declared as in openssl/aead.h, with the prefix of swift-crypto's copy. Weak, so that a program links without them.
typedef struct evp_aead_st EVP_AEAD;
typedef struct evp_aead_ctx_st EVP_AEAD_CTX;

#define WEAK __attribute__((weak))
extern const EVP_AEAD *CCryptoBoringSSL_EVP_aead_aes_256_gcm(void) WEAK;
extern const EVP_AEAD *CCryptoBoringSSL_EVP_aead_chacha20_poly1305(void) WEAK;
extern EVP_AEAD_CTX *CCryptoBoringSSL_EVP_AEAD_CTX_new(
    const EVP_AEAD *aead, const uint8_t *key, size_t key_len, size_t tag_len) WEAK;
extern void CCryptoBoringSSL_EVP_AEAD_CTX_free(EVP_AEAD_CTX *ctx) WEAK;
extern int CCryptoBoringSSL_EVP_AEAD_CTX_init(EVP_AEAD_CTX *ctx, const EVP_AEAD *aead, const uint8_t *key, size_t key_len,
    size_t tag_len, void *impl) WEAK;
extern int CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter(const EVP_AEAD_CTX *ctx, uint8_t *out, uint8_t *out_tag,
    size_t *out_tag_len, size_t max_out_tag_len, const uint8_t *nonce, size_t nonce_len, const uint8_t *in, size_t in_len,
    const uint8_t *extra_in, size_t extra_in_len, const uint8_t *ad, size_t ad_len) WEAK;
extern int CCryptoBoringSSL_EVP_AEAD_CTX_open_gather(const EVP_AEAD_CTX *ctx, uint8_t *out, const uint8_t *nonce,
    size_t nonce_len, const uint8_t *in, size_t in_len, const uint8_t *in_tag, size_t in_tag_len, const uint8_t *ad,
    size_t ad_len) WEAK;
extern void CCryptoBoringSSL_ERR_clear_error(void) WEAK;

// Declared as in openssl/aes.h.
typedef struct {
    // 15 round keys and the number of rounds take 244 bytes; the rest is for larger ones.
    _Alignas(16) unsigned char bytes[512];
} AES_KEY;
extern int CCryptoBoringSSL_AES_set_decrypt_key(const uint8_t *key, unsigned bits, AES_KEY *aeskey) WEAK;
extern int CCryptoBoringSSL_AES_set_encrypt_key(const uint8_t *key, unsigned bits, AES_KEY *aeskey) WEAK;
extern int CCryptoBoringSSL_AES_wrap_key(
    const AES_KEY *key, const uint8_t *iv, uint8_t *out, const uint8_t *in, size_t in_len) WEAK;
extern int CCryptoBoringSSL_AES_unwrap_key(
    const AES_KEY *key, const uint8_t *iv, uint8_t *out, const uint8_t *in, size_t in_len) WEAK;

enum { key_count = 32, wrapped_count = 40, nonce_count = 12, tag_count = 16 };

static EVP_AEAD_CTX *context(const aead_key *key) { return (EVP_AEAD_CTX *)key; }

static bool has_functions(void) {
    return CCryptoBoringSSL_EVP_aead_aes_256_gcm && CCryptoBoringSSL_EVP_aead_chacha20_poly1305
        && CCryptoBoringSSL_EVP_AEAD_CTX_new && CCryptoBoringSSL_EVP_AEAD_CTX_free && CCryptoBoringSSL_EVP_AEAD_CTX_init
        && CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter && CCryptoBoringSSL_EVP_AEAD_CTX_open_gather
        && CCryptoBoringSSL_ERR_clear_error;
}

static const EVP_AEAD *cipher(aead_algorithm algorithm) {
    return algorithm == AEAD_AES_256_GCM ? CCryptoBoringSSL_EVP_aead_aes_256_gcm()
                                         : CCryptoBoringSSL_EVP_aead_chacha20_poly1305();
}

aead_key *aead_key_prepare(aead_algorithm algorithm, const void *key) {
    if (!has_functions()) return NULL;
    EVP_AEAD_CTX *made = CCryptoBoringSSL_EVP_AEAD_CTX_new(cipher(algorithm), key, key_count, tag_count);
    if (!made) CCryptoBoringSSL_ERR_clear_error();
    return (aead_key *)made;
}

// A context of BoringSSL has 560 bytes of state and two fields (openssl/aead.h), and owns no other memory. A test notices
// if a later swift-crypto has a larger one.
aead_key *aead_key_place(aead_algorithm algorithm, const void *key, void *room) {
    if (!has_functions()) return NULL;
    bool done = CCryptoBoringSSL_EVP_AEAD_CTX_init(room, cipher(algorithm), key, key_count, tag_count, NULL) == 1;
    wipe_stack();
    if (done) return room;
    CCryptoBoringSSL_ERR_clear_error();
    return NULL;
}

// BoringSSL wipes all memory that it frees.
void aead_key_free(aead_key *key) { CCryptoBoringSSL_EVP_AEAD_CTX_free(context(key)); }

bool aead_seal(const aead_key *key, const void *text, size_t count, const void *nonce, const void *binding,
    size_t binding_count, void *sealed, void *tag) {
    size_t written = 0;
    bool done = CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter(context(key), sealed, tag, &written, tag_count, nonce, nonce_count,
                    text, count, NULL, 0, binding, binding_count) == 1
        && written == tag_count;
    if (!done) CCryptoBoringSSL_ERR_clear_error();
    return done;
}

bool aead_open(const aead_key *key, const void *sealed, size_t count, const void *nonce, const void *binding,
    size_t binding_count, const void *tag, void *text) {
    bool done = CCryptoBoringSSL_EVP_AEAD_CTX_open_gather(context(key), text, nonce, nonce_count, sealed, count, tag,
                    tag_count, binding, binding_count) == 1;
    if (!done) CCryptoBoringSSL_ERR_clear_error();
    return done;
}

static bool has_wrapping(void) {
    return has_functions() && CCryptoBoringSSL_AES_set_encrypt_key && CCryptoBoringSSL_AES_wrap_key
        && CCryptoBoringSSL_AES_set_decrypt_key && CCryptoBoringSSL_AES_unwrap_key;
}

static bool wrap(const void *wrapping_key, const void *key, void *wrapped) {
    AES_KEY prepared;
    bool done = CCryptoBoringSSL_AES_set_encrypt_key(wrapping_key, key_count * 8, &prepared) == 0
        && CCryptoBoringSSL_AES_wrap_key(&prepared, NULL, wrapped, key, key_count) == wrapped_count;
    explicit_bzero(&prepared, sizeof prepared);
    return done;
}

bool aead_seal_wrapped(const void *wrapping_key, const void *key, void *wrapped, const void *text, size_t count,
    const void *nonce, const void *binding, size_t binding_count, void *sealed, void *tag) {
    if (!has_wrapping()) return false;
    _Alignas(16) unsigned char room[AEAD_KEY_ROOM];
    aead_key *prepared = wrap(wrapping_key, key, wrapped) ? aead_key_place(AEAD_AES_256_GCM, key, room) : NULL;
    bool done = prepared && aead_seal(prepared, text, count, nonce, binding, binding_count, sealed, tag);
    explicit_bzero(room, sizeof room);
    wipe_stack();
    return done;
}

static bool unwrap(const void *wrapping_key, const void *wrapped, void *key) {
    AES_KEY prepared;
    bool done = CCryptoBoringSSL_AES_set_decrypt_key(wrapping_key, key_count * 8, &prepared) == 0
        && CCryptoBoringSSL_AES_unwrap_key(&prepared, NULL, key, wrapped, wrapped_count) == key_count;
    explicit_bzero(&prepared, sizeof prepared);
    return done;
}

wrapped_result aead_open_wrapped(const void *wrapping_key, const void *wrapped, const void *sealed, size_t count,
    const void *nonce, const void *binding, size_t binding_count, const void *tag, void *text) {
    if (!has_wrapping()) return WRAPPED_UNAVAILABLE;
    struct {
        _Alignas(16) unsigned char room[AEAD_KEY_ROOM];
        unsigned char key[key_count];
    } secret;
    wrapped_result result = WRAPPED_WRONG_KEY;
    if (unwrap(wrapping_key, wrapped, secret.key)) {
        aead_key *key = aead_key_place(AEAD_AES_256_GCM, secret.key, secret.room);
        result = !key ? WRAPPED_UNAVAILABLE
            : aead_open(key, sealed, count, nonce, binding, binding_count, tag, text) ? WRAPPED_OPENED
                                                                                      : WRAPPED_WRONG_TAG;
    } else {
        CCryptoBoringSSL_ERR_clear_error();
    }
    explicit_bzero(&secret, sizeof secret);
    wipe_stack();
    return result;
}
