#ifndef COMMON_KEY_DERIVATION_H
#define COMMON_KEY_DERIVATION_H

#include <CommonCrypto/CommonCryptoError.h>
#include <CommonCrypto/CommonDigest.h>
#include <CommonCrypto/CommonHMAC.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kCCPBKDF2 = 2 };
typedef uint32_t CCPBKDFAlgorithm;

enum {
    kCCPRFHmacAlgSHA1 = 1,
    kCCPRFHmacAlgSHA224 = 2,
    kCCPRFHmacAlgSHA256 = 3,
    kCCPRFHmacAlgSHA384 = 4,
    kCCPRFHmacAlgSHA512 = 5,
};
typedef uint32_t CCPseudoRandomAlgorithm;

/// Derives a key from a password with PBKDF2 (RFC 8018). All lengths are in bytes.
///
/// Returns kCCSuccess; kCCParamError if the algorithm or the function is none of the above, if the password, the key or
/// a salt with a length is NULL, or if the key's length or the number of rounds is 0; kCCMemoryFailure.
int CCKeyDerivationPBKDF(
    CCPBKDFAlgorithm algorithm, const char *password, size_t passwordLen, const uint8_t *salt, size_t saltLen,
    CCPseudoRandomAlgorithm prf, unsigned rounds, uint8_t *derivedKey, size_t derivedKeyLen);

/// Returns how many rounds take `msec` milliseconds of a processor here, at least 10,000 as at Apple. Returns UINT_MAX if
/// the arguments are none that can be measured: a salt above 132 bytes, or a password or key above 1024.
unsigned CCCalibratePBKDF(
    CCPBKDFAlgorithm algorithm, size_t passwordLen, size_t saltLen, CCPseudoRandomAlgorithm prf, size_t derivedKeyLen,
    uint32_t msec);

#ifdef __cplusplus
}
#endif

#endif
