#include "CAEAD.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// Declared as in openssl/aes.h, openssl/hmac.h and openssl/digest.h, with the prefix of swift-crypto's copy. Weak, so
// that a program links without them.
typedef struct {
    // 15 round keys and the number of rounds take 244 bytes; the rest is for larger ones.
    _Alignas(16) unsigned char bytes[512];
} AES_KEY;
typedef struct hmac_ctx_st HMAC_CTX;
typedef struct env_md_st EVP_MD;

#define WEAK __attribute__((weak))
extern int CCryptoBoringSSL_AES_set_encrypt_key(const uint8_t *key, unsigned bits, AES_KEY *aeskey) WEAK;
extern int CCryptoBoringSSL_AES_set_decrypt_key(const uint8_t *key, unsigned bits, AES_KEY *aeskey) WEAK;
extern void CCryptoBoringSSL_AES_cbc_encrypt(
    const uint8_t *in, uint8_t *out, size_t len, const AES_KEY *key, uint8_t *ivec, int enc) WEAK;
extern const EVP_MD *CCryptoBoringSSL_EVP_sha1(void) WEAK;
extern const EVP_MD *CCryptoBoringSSL_EVP_sha512(void) WEAK;
extern HMAC_CTX *CCryptoBoringSSL_HMAC_CTX_new(void) WEAK;
extern void CCryptoBoringSSL_HMAC_CTX_free(HMAC_CTX *ctx) WEAK;
extern int CCryptoBoringSSL_HMAC_Init_ex(
    HMAC_CTX *ctx, const void *key, size_t key_len, const EVP_MD *md, void *impl) WEAK;
extern int CCryptoBoringSSL_HMAC_Update(HMAC_CTX *ctx, const uint8_t *data, size_t data_len) WEAK;
extern int CCryptoBoringSSL_HMAC_Final(HMAC_CTX *ctx, uint8_t *out, unsigned int *out_len) WEAK;
extern void CCryptoBoringSSL_ERR_clear_error(void) WEAK;

enum { key_count = 32, vector_count = 16, number_count = 4, context_count = 16 };

// The functions of one library.
typedef struct {
    const EVP_MD *(*sha1)(void), *(*sha512)(void);
    HMAC_CTX *(*make)(void);
    void (*free)(HMAC_CTX *);
    // The size of the key is an int in OpenSSL.
    int (*begin)(HMAC_CTX *, const void *, size_t, const EVP_MD *, void *);
    int (*begin_system)(HMAC_CTX *, const void *, int, const EVP_MD *, void *);
    int (*update)(HMAC_CTX *, const uint8_t *, size_t);
    int (*finish)(HMAC_CTX *, uint8_t *, unsigned int *);
} hmac_functions;

static hmac_functions hmac;
static pthread_once_t hmac_chosen = PTHREAD_ONCE_INIT;

// The system's OpenSSL has faster code for SHA-512 on processors that are not Intel's: with it a page takes two thirds
// of the time.
static bool use_system_hmac(void) {
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    hmac = (hmac_functions){
        .sha1 = dlsym(library, "EVP_sha1"),
        .sha512 = dlsym(library, "EVP_sha512"),
        .make = dlsym(library, "HMAC_CTX_new"),
        .free = dlsym(library, "HMAC_CTX_free"),
        .begin_system = dlsym(library, "HMAC_Init_ex"),
        .update = dlsym(library, "HMAC_Update"),
        .finish = dlsym(library, "HMAC_Final"),
    };
    if (hmac.sha1 && hmac.sha512 && hmac.make && hmac.free && hmac.begin_system && hmac.update && hmac.finish)
        return true;
    dlclose(library);
    return false;
}

static void choose_hmac(void) {
    if (use_system_hmac()) return;
    hmac = (hmac_functions){
        .sha1 = CCryptoBoringSSL_EVP_sha1,
        .sha512 = CCryptoBoringSSL_EVP_sha512,
        .make = CCryptoBoringSSL_HMAC_CTX_new,
        .free = CCryptoBoringSSL_HMAC_CTX_free,
        .begin = CCryptoBoringSSL_HMAC_Init_ex,
        .update = CCryptoBoringSSL_HMAC_Update,
        .finish = CCryptoBoringSSL_HMAC_Final,
    };
}

static bool begin(HMAC_CTX *context, const void *key, int count, const EVP_MD *hash) {
    return (hmac.begin_system ? hmac.begin_system(context, key, count, hash, NULL)
                              : hmac.begin(context, key, (size_t)count, hash, NULL))
        == 1;
}

struct cbc_key {
    AES_KEY encrypting, decrypting;
    bool has_code;
    // One for each of the threads that work at once. All have the key.
    struct {
        atomic_flag is_busy;
        HMAC_CTX *hmac;
    } contexts[context_count];
};

static bool has_functions(void) {
    pthread_once(&hmac_chosen, choose_hmac);
    return CCryptoBoringSSL_AES_set_encrypt_key && CCryptoBoringSSL_AES_set_decrypt_key
        && CCryptoBoringSSL_AES_cbc_encrypt && CCryptoBoringSSL_ERR_clear_error && hmac.sha1 && hmac.sha512 && hmac.make
        && hmac.free && hmac.update && hmac.finish && (hmac.begin || hmac.begin_system);
}

cbc_key *cbc_key_prepare(cbc_code code, const void *key, const void *code_key) {
    if (!has_functions()) return NULL;
    cbc_key *made = aligned_alloc(_Alignof(cbc_key), sizeof *made);
    if (!made) return NULL;
    made->has_code = code != CBC_WITHOUT_CODE;
    for (int place = 0; place < context_count; place++) {
        atomic_flag_clear(&made->contexts[place].is_busy);
        made->contexts[place].hmac = NULL;
    }
    bool done = CCryptoBoringSSL_AES_set_encrypt_key(key, key_count * 8, &made->encrypting) == 0
        && CCryptoBoringSSL_AES_set_decrypt_key(key, key_count * 8, &made->decrypting) == 0;
    for (int place = 0; done && made->has_code && place < context_count; place++) {
        HMAC_CTX *context = made->contexts[place].hmac = hmac.make();
        done = context && code_key
            && begin(context, code_key, key_count, code == CBC_HMAC_SHA1 ? hmac.sha1() : hmac.sha512());
    }
    if (done) return made;
    CCryptoBoringSSL_ERR_clear_error();
    cbc_key_free(made);
    return NULL;
}

// Both libraries wipe what they free of this.
void cbc_key_free(cbc_key *key) {
    for (int place = 0; place < context_count; place++)
        if (key->contexts[place].hmac) hmac.free(key->contexts[place].hmac);
    explicit_bzero(key, sizeof *key);
    free(key);
}

static void chain(const void *from, size_t count, const AES_KEY *key, const void *vector, void *to, int encrypting) {
    uint8_t copy[vector_count];
    memcpy(copy, vector, sizeof copy);
    CCryptoBoringSSL_AES_cbc_encrypt(from, to, count, key, copy, encrypting);
}

void cbc_encrypt(const cbc_key *key, const void *text, size_t count, const void *vector, void *sealed) {
    chain(text, count, &key->encrypting, vector, sealed, 1);
}

void cbc_decrypt(const cbc_key *key, const void *sealed, size_t count, const void *vector, void *text) {
    chain(sealed, count, &key->decrypting, vector, text, 0);
}

// Waits for another thread if all are busy, which takes as long as a page.
static int take_context(cbc_key *key) {
    while (true) {
        for (int place = 0; place < context_count; place++)
            if (!atomic_flag_test_and_set_explicit(&key->contexts[place].is_busy, memory_order_acquire)) return place;
        sched_yield();
    }
}

bool cbc_authenticate(cbc_key *key, const void *bytes, size_t count, const void *number, void *code) {
    if (!key->has_code) return false;
    int place = take_context(key);
    HMAC_CTX *context = key->contexts[place].hmac;
    unsigned written = 0;
    // Without a key, the context begins again with the one that it has.
    bool done = begin(context, NULL, 0, NULL) && hmac.update(context, bytes, count) == 1
        && hmac.update(context, number, number_count) == 1 && hmac.finish(context, code, &written) == 1;
    atomic_flag_clear_explicit(&key->contexts[place].is_busy, memory_order_release);
    if (!done) CCryptoBoringSSL_ERR_clear_error();
    return done;
}

bool cbc_transform(const void *key, const void *vector, void *bytes, size_t count, bool encrypts) {
    if (!has_functions()) return false;
    AES_KEY prepared;
    bool done = (encrypts ? CCryptoBoringSSL_AES_set_encrypt_key(key, 128, &prepared)
                          : CCryptoBoringSSL_AES_set_decrypt_key(key, 128, &prepared))
        == 0;
    if (done) chain(bytes, count, &prepared, vector, bytes, encrypts);
    explicit_bzero(&prepared, sizeof prepared);
    return done;
}
