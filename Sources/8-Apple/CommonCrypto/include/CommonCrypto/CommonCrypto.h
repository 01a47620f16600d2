// Apple's CommonCrypto over the BoringSSL inside swift-crypto, for sources that cannot change. New code uses Crypto.
#ifndef COMMON_CRYPTO_H
#define COMMON_CRYPTO_H

#include <CommonCrypto/CommonCryptoError.h>
#include <CommonCrypto/CommonCryptor.h>
#include <CommonCrypto/CommonDigest.h>
#include <CommonCrypto/CommonHMAC.h>
#include <CommonCrypto/CommonKeyDerivation.h>
#include <CommonCrypto/CommonRandom.h>
#include <CommonCrypto/CommonSymmetricKeywrap.h>

#endif
