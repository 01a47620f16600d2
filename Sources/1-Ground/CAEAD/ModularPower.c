#include "CAEAD.h"

// Declared as in openssl/bn.h, with the prefix of swift-crypto's copy. Weak, so that a program links without them.
typedef struct bignum_st BIGNUM;
typedef struct bignum_ctx BN_CTX;

#define WEAK __attribute__((weak))
extern BIGNUM *CCryptoBoringSSL_BN_new(void) WEAK;
extern BIGNUM *CCryptoBoringSSL_BN_bin2bn(const uint8_t *in, size_t len, BIGNUM *ret) WEAK;
extern int CCryptoBoringSSL_BN_bn2bin_padded(uint8_t *out, size_t len, const BIGNUM *in) WEAK;
extern void CCryptoBoringSSL_BN_clear_free(BIGNUM *bn) WEAK;
extern BN_CTX *CCryptoBoringSSL_BN_CTX_new(void) WEAK;
extern void CCryptoBoringSSL_BN_CTX_free(BN_CTX *ctx) WEAK;
extern int CCryptoBoringSSL_BN_mod_exp_mont_consttime(BIGNUM *rr, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m,
    BN_CTX *ctx, const void *mont) WEAK;
extern void CCryptoBoringSSL_ERR_clear_error(void) WEAK;

bool modular_power(const void *base, const void *exponent, const void *modulus, size_t count, void *power) {
    if (!CCryptoBoringSSL_BN_new || !CCryptoBoringSSL_BN_bin2bn || !CCryptoBoringSSL_BN_bn2bin_padded
        || !CCryptoBoringSSL_BN_clear_free || !CCryptoBoringSSL_BN_CTX_new || !CCryptoBoringSSL_BN_CTX_free
        || !CCryptoBoringSSL_BN_mod_exp_mont_consttime || !CCryptoBoringSSL_ERR_clear_error)
        return false;
    BIGNUM *a = CCryptoBoringSSL_BN_bin2bn(base, count, NULL);
    BIGNUM *p = CCryptoBoringSSL_BN_bin2bn(exponent, count, NULL);
    BIGNUM *m = CCryptoBoringSSL_BN_bin2bn(modulus, count, NULL);
    BIGNUM *result = CCryptoBoringSSL_BN_new();
    BN_CTX *context = CCryptoBoringSSL_BN_CTX_new();
    bool done = a && p && m && result && context
        && CCryptoBoringSSL_BN_mod_exp_mont_consttime(result, a, p, m, context, NULL) == 1
        && CCryptoBoringSSL_BN_bn2bin_padded(power, count, result) == 1;
    // Each takes NULL.
    CCryptoBoringSSL_BN_CTX_free(context);
    CCryptoBoringSSL_BN_clear_free(result);
    CCryptoBoringSSL_BN_clear_free(m);
    CCryptoBoringSSL_BN_clear_free(p);
    CCryptoBoringSSL_BN_clear_free(a);
    if (!done) CCryptoBoringSSL_ERR_clear_error();
    return done;
}
