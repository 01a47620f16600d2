#include <CommonCrypto/CommonKeyDerivation.h>
#include <CommonCrypto/CommonRandom.h>
#include <CommonCrypto/CommonSymmetricKeywrap.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "BoringSSL.h"

CCRNGStatus CCRandomGenerateBytes(void *bytes, size_t count) {
    if (count == 0) return kCCSuccess;
    if (!bytes) return kCCParamError;
    return CCryptoBoringSSL_RAND_bytes(bytes, count) == 1 ? kCCSuccess : kCCRNGFailure;
}

static const EVP_MD *digest(CCPseudoRandomAlgorithm function) {
    switch (function) {
    case kCCPRFHmacAlgSHA1: return CCryptoBoringSSL_EVP_sha1();
    case kCCPRFHmacAlgSHA224: return CCryptoBoringSSL_EVP_sha224();
    case kCCPRFHmacAlgSHA256: return CCryptoBoringSSL_EVP_sha256();
    case kCCPRFHmacAlgSHA384: return CCryptoBoringSSL_EVP_sha384();
    case kCCPRFHmacAlgSHA512: return CCryptoBoringSSL_EVP_sha512();
    default: return NULL;
    }
}

int CCKeyDerivationPBKDF(
    CCPBKDFAlgorithm algorithm, const char *password, size_t passwordLen, const uint8_t *salt, size_t saltLen,
    CCPseudoRandomAlgorithm prf, unsigned rounds, uint8_t *derivedKey, size_t derivedKeyLen) {
    const EVP_MD *function = digest(prf);
    if (algorithm != kCCPBKDF2 || !function || !password || !derivedKey || derivedKeyLen == 0 || rounds == 0
        || (!salt && saltLen != 0))
        return kCCParamError;
    int done = CCryptoBoringSSL_PKCS5_PBKDF2_HMAC(
        password, passwordLen, salt, saltLen, rounds, function, derivedKeyLen, derivedKey);
    if (done != 1) CCryptoBoringSSL_ERR_clear_error();
    return done == 1 ? kCCSuccess : kCCMemoryFailure;
}

/// The time that this thread has worked, in nanoseconds.
static uint64_t thread_time(void) {
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

unsigned CCCalibratePBKDF(
    CCPBKDFAlgorithm algorithm, size_t passwordLen, size_t saltLen, CCPseudoRandomAlgorithm prf, size_t derivedKeyLen,
    uint32_t msec) {
    enum { sample = 100000, fewest = 10000, longest_salt = 132, longest = 1024 };
    // Longer keys would take minutes.
    if (saltLen > longest_salt || passwordLen > longest || derivedKeyLen > longest) return UINT_MAX;
    // The time does not depend on the bytes of the password and the salt, so zeros stand for both.
    char *password = calloc(1, passwordLen + 1);
    uint8_t *key = malloc(derivedKeyLen);
    uint8_t salt[longest_salt] = {0};
    unsigned rounds = UINT_MAX;
    if (password && key) {
        uint64_t start = thread_time();
        if (CCKeyDerivationPBKDF(
                algorithm, password, passwordLen, salt, saltLen, prf, sample, key, derivedKeyLen) == kCCSuccess) {
            uint64_t time = thread_time() - start;
            double many = (double)msec * 1e6 * sample / (double)(time > 0 ? time : 1);
            rounds = many >= INT_MAX ? INT_MAX : many > fewest ? (unsigned)many : fewest;
        }
    }
    free(password);
    free(key);
    return rounds;
}

// MARK: Wrapping

enum { half_block = 8, shortest_key = 16 };

static const uint8_t initial_value[half_block] = {0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6};
const uint8_t *const CCrfc3394_iv = initial_value;
const size_t CCrfc3394_ivLen = sizeof initial_value;

size_t CCSymmetricWrappedSize(CCWrappingAlgorithm algorithm, size_t rawKeyLen) {
    return rawKeyLen + half_block;
}

size_t CCSymmetricUnwrappedSize(CCWrappingAlgorithm algorithm, size_t wrappedKeyLen) {
    return wrappedKeyLen < half_block ? 0 : wrappedKeyLen - half_block;
}

static int is_key_size(size_t count) { return count == 16 || count == 24 || count == 32; }

int CCSymmetricKeyWrap(
    CCWrappingAlgorithm algorithm, const uint8_t *iv, const size_t ivLen, const uint8_t *kek, size_t kekLen,
    const uint8_t *rawKey, size_t rawKeyLen, uint8_t *wrappedKey, size_t *wrappedKeyLen) {
    if (!wrappedKeyLen) return kCCParamError;
    size_t room = *wrappedKeyLen;
    *wrappedKeyLen = 0;
    if (algorithm != kCCWRAPAES || !kek || !is_key_size(kekLen) || !rawKey || !wrappedKey || (iv && ivLen != half_block)
        || rawKeyLen < shortest_key || rawKeyLen % half_block != 0 || rawKeyLen > INT_MAX - half_block
        || room < rawKeyLen + half_block)
        return kCCParamError;
    AES_KEY key;
    int written = -1;
    if (CCryptoBoringSSL_AES_set_encrypt_key(kek, (unsigned)kekLen * 8, &key) == 0)
        written = CCryptoBoringSSL_AES_wrap_key(&key, iv, wrappedKey, rawKey, rawKeyLen);
    CCryptoBoringSSL_OPENSSL_cleanse(&key, sizeof key);
    if (written < 0) return kCCParamError;
    *wrappedKeyLen = (size_t)written;
    return kCCSuccess;
}

int CCSymmetricKeyUnwrap(
    CCWrappingAlgorithm algorithm, const uint8_t *iv, const size_t ivLen, const uint8_t *kek, size_t kekLen,
    const uint8_t *wrappedKey, size_t wrappedKeyLen, uint8_t *rawKey, size_t *rawKeyLen) {
    if (!rawKeyLen) return kCCParamError;
    size_t room = *rawKeyLen;
    *rawKeyLen = 0;
    if (algorithm != kCCWRAPAES || !kek || !is_key_size(kekLen) || !wrappedKey || !rawKey || (iv && ivLen != half_block)
        || wrappedKeyLen < shortest_key + half_block || wrappedKeyLen % half_block != 0 || wrappedKeyLen > INT_MAX
        || room < wrappedKeyLen - half_block)
        return kCCParamError;
    AES_KEY key;
    int written = -1;
    if (CCryptoBoringSSL_AES_set_decrypt_key(kek, (unsigned)kekLen * 8, &key) == 0)
        written = CCryptoBoringSSL_AES_unwrap_key(&key, iv, rawKey, wrappedKey, wrappedKeyLen);
    CCryptoBoringSSL_OPENSSL_cleanse(&key, sizeof key);
    if (written < 0) {
        // What was found under a wrong key is no key.
        CCryptoBoringSSL_OPENSSL_cleanse(rawKey, wrappedKeyLen - half_block);
        return kCCDecodeError;
    }
    *rawKeyLen = (size_t)written;
    return kCCSuccess;
}
