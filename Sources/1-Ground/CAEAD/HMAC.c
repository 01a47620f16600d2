#include "CAEAD.h"

#include "Stack.h"

// Declared as in openssl/hmac.h and openssl/digest.h, with the prefix of swift-crypto's copy. Weak, so that a program links
// without them.
typedef struct hmac_ctx_st HMAC_CTX;
typedef struct env_md_st EVP_MD;

#define WEAK __attribute__((weak))
extern const EVP_MD *CCryptoBoringSSL_EVP_sha256(void) WEAK;
extern HMAC_CTX *CCryptoBoringSSL_HMAC_CTX_new(void) WEAK;
extern void CCryptoBoringSSL_HMAC_CTX_free(HMAC_CTX *ctx) WEAK;
extern int CCryptoBoringSSL_HMAC_CTX_copy_ex(HMAC_CTX *dest, const HMAC_CTX *src) WEAK;
extern int CCryptoBoringSSL_HMAC_Init_ex(
    HMAC_CTX *ctx, const void *key, size_t key_len, const EVP_MD *md, void *impl) WEAK;
extern int CCryptoBoringSSL_HMAC_Update(HMAC_CTX *ctx, const uint8_t *data, size_t data_len) WEAK;
extern int CCryptoBoringSSL_HMAC_Final(HMAC_CTX *ctx, uint8_t *out, unsigned int *out_len) WEAK;
extern int CCryptoBoringSSL_HKDF(uint8_t *out_key, size_t out_len, const EVP_MD *digest, const uint8_t *secret,
    size_t secret_len, const uint8_t *salt, size_t salt_len, const uint8_t *info, size_t info_len) WEAK;
extern void CCryptoBoringSSL_ERR_clear_error(void) WEAK;

enum { code_count = 32 };

static HMAC_CTX *context(const hmac_key *key) { return (HMAC_CTX *)key; }

hmac_key *hmac_key_prepare(const void *key, size_t count) {
    if (!CCryptoBoringSSL_EVP_sha256 || !CCryptoBoringSSL_HMAC_CTX_new || !CCryptoBoringSSL_HMAC_CTX_free
        || !CCryptoBoringSSL_HMAC_CTX_copy_ex || !CCryptoBoringSSL_HMAC_Init_ex || !CCryptoBoringSSL_HMAC_Update
        || !CCryptoBoringSSL_HMAC_Final || !CCryptoBoringSSL_ERR_clear_error)
        return NULL;
    HMAC_CTX *made = CCryptoBoringSSL_HMAC_CTX_new();
    if (!made) return NULL;
    bool done = CCryptoBoringSSL_HMAC_Init_ex(made, key, count, CCryptoBoringSSL_EVP_sha256(), NULL) == 1;
    wipe_stack();
    if (done) return (hmac_key *)made;
    CCryptoBoringSSL_ERR_clear_error();
    CCryptoBoringSSL_HMAC_CTX_free(made);
    return NULL;
}

// BoringSSL wipes all memory that it frees.
void hmac_key_free(hmac_key *key) { CCryptoBoringSSL_HMAC_CTX_free(context(key)); }

bool hmac_authenticate(const hmac_key *key, const void *message, size_t count, void *code) {
    // A copy of its own for each call, so that threads do not wait for each other.
    HMAC_CTX *copy = CCryptoBoringSSL_HMAC_CTX_new();
    if (!copy) return false;
    unsigned written = 0;
    bool done = CCryptoBoringSSL_HMAC_CTX_copy_ex(copy, context(key)) == 1
        && CCryptoBoringSSL_HMAC_Update(copy, message, count) == 1
        && CCryptoBoringSSL_HMAC_Final(copy, code, &written) == 1 && written == code_count;
    CCryptoBoringSSL_HMAC_CTX_free(copy);
    if (!done) CCryptoBoringSSL_ERR_clear_error();
    return done;
}

bool hkdf_derive(const void *material, size_t material_count, const void *salt, size_t salt_count, const void *info,
    size_t info_count, void *derived, size_t count) {
    if (!CCryptoBoringSSL_HKDF || !CCryptoBoringSSL_EVP_sha256 || !CCryptoBoringSSL_ERR_clear_error) return false;
    bool done = CCryptoBoringSSL_HKDF(derived, count, CCryptoBoringSSL_EVP_sha256(), material, material_count, salt,
                    salt_count, info, info_count)
        == 1;
    wipe_stack();
    if (!done) CCryptoBoringSSL_ERR_clear_error();
    return done;
}
