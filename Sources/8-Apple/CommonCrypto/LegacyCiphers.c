#include "LegacyCiphers.h"

#include <dlfcn.h>
#include <pthread.h>

typedef struct evp_cipher_st cipher;

/// The functions of libcrypto, as its headers crypto.h, provider.h, evp.h and err.h declare them.
static struct {
    void *(*make_library)(void);
    void *(*load_provider)(void *library, const char *name);
    cipher *(*fetch)(void *library, const char *name, const char *properties);
    void (*free_cipher)(cipher *);
    legacy_context *(*make)(void);
    void (*free)(legacy_context *);
    int (*start)(legacy_context *, const cipher *, void *engine, const uint8_t *key, const uint8_t *iv, int encrypts);
    int (*set_key_length)(legacy_context *, int);
    int (*set_padding)(legacy_context *, int);
    int (*control)(legacy_context *, int type, int number, void *pointer);
    int (*update)(legacy_context *, uint8_t *output, int *output_count, const uint8_t *input, int input_count);
    int (*set_mark)(void);
    int (*pop_to_mark)(void);
} crypto;

/// What a program's other parts do with providers does not reach this one, and the other way round. NULL without
/// libcrypto or its provider.
static void *library;

static void load(void) {
    void *handle = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    static const struct {
        const char *name;
        void **function;
    } functions[] = {
        {"OSSL_LIB_CTX_new", (void **)&crypto.make_library},
        {"OSSL_PROVIDER_load", (void **)&crypto.load_provider},
        {"EVP_CIPHER_fetch", (void **)&crypto.fetch},
        {"EVP_CIPHER_free", (void **)&crypto.free_cipher},
        {"EVP_CIPHER_CTX_new", (void **)&crypto.make},
        {"EVP_CIPHER_CTX_free", (void **)&crypto.free},
        {"EVP_CipherInit_ex", (void **)&crypto.start},
        {"EVP_CIPHER_CTX_set_key_length", (void **)&crypto.set_key_length},
        {"EVP_CIPHER_CTX_set_padding", (void **)&crypto.set_padding},
        {"EVP_CIPHER_CTX_ctrl", (void **)&crypto.control},
        {"EVP_CipherUpdate", (void **)&crypto.update},
        {"ERR_set_mark", (void **)&crypto.set_mark},
        {"ERR_pop_to_mark", (void **)&crypto.pop_to_mark},
    };
    for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
        if (!(*functions[index].function = dlsym(handle, functions[index].name))) return;
    }
    // The program may be in the middle of something with libcrypto, and then reads its own errors.
    crypto.set_mark();
    void *made = crypto.make_library();
    if (made && crypto.load_provider(made, "legacy")) library = made;
    crypto.pop_to_mark();
}

static const char *name(CCAlgorithm algorithm, CCMode mode) {
    static const char *const names[3][4] = {
        {"CAST5-ECB", "CAST5-CBC", "CAST5-CFB", "CAST5-OFB"},
        {"RC2-ECB", "RC2-CBC", "RC2-CFB", "RC2-OFB"},
        {"BF-ECB", "BF-CBC", "BF-CFB", "BF-OFB"},
    };
    int row = algorithm == kCCAlgorithmCAST ? 0 : algorithm == kCCAlgorithmRC2 ? 1 : 2;
    switch (mode) {
    case kCCModeECB: return names[row][0];
    case kCCModeCBC: return names[row][1];
    case kCCModeCFB: return names[row][2];
    case kCCModeOFB: return names[row][3];
    default: return NULL;
    }
}

CCCryptorStatus legacy_start(
    legacy_context **context, CCAlgorithm algorithm, CCMode mode, const uint8_t *key, size_t key_count,
    const uint8_t *iv, bool encrypts) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *wanted = name(algorithm, mode);
    if (!wanted || pthread_once(&once, load) != 0 || !library) return kCCUnimplemented;
    crypto.set_mark();
    CCCryptorStatus status = kCCSuccess;
    cipher *chosen = crypto.fetch(library, wanted, NULL);
    legacy_context *made = crypto.make();
    if (!chosen) {
        // A machine may allow fewer ciphers than its provider has.
        status = kCCUnimplemented;
    } else if (!made) {
        status = kCCMemoryFailure;
    } else {
        enum { set_rc2_key_bits = 0x3 };  // EVP_CTRL_SET_RC2_KEY_BITS
        // As at Apple, all bits of a key of RC2 count.
        bool done = crypto.start(made, chosen, NULL, NULL, NULL, encrypts) == 1
            && crypto.set_key_length(made, (int)key_count) == 1
            && (algorithm != kCCAlgorithmRC2
                || crypto.control(made, set_rc2_key_bits, (int)key_count * 8, NULL) == 1)
            && crypto.start(made, NULL, NULL, key, iv, encrypts) == 1 && crypto.set_padding(made, 0) == 1;
        if (!done) status = kCCUnspecifiedError;
    }
    // The context keeps its own reference.
    if (chosen) crypto.free_cipher(chosen);
    if (status != kCCSuccess && made) crypto.free(made);
    crypto.pop_to_mark();
    *context = status == kCCSuccess ? made : NULL;
    return status;
}

bool legacy_restart(legacy_context *context, const uint8_t *iv) {
    crypto.set_mark();
    // -1 for no change of the operation.
    bool done = crypto.start(context, NULL, NULL, NULL, iv, -1) == 1;
    crypto.pop_to_mark();
    return done;
}

bool legacy_transform(legacy_context *context, const uint8_t *input, int count, uint8_t *output) {
    crypto.set_mark();
    int written = 0;
    bool done = crypto.update(context, output, &written, input, count) == 1 && written == count;
    crypto.pop_to_mark();
    return done;
}

void legacy_end(legacy_context *context) {
    if (context) crypto.free(context);
}
