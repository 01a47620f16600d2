// Encryption without protection against changes. New code uses AES.GCM of Crypto.
#ifndef COMMON_CRYPTOR_H
#define COMMON_CRYPTOR_H

#include <CommonCrypto/CommonCryptoError.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A message that is encrypted or decrypted in pieces. One thread uses it at a time.
typedef struct _CCCryptor *CCCryptorRef;

enum { kCCEncrypt = 0, kCCDecrypt };
typedef uint32_t CCOperation;

/// CAST, RC2 and Blowfish need OpenSSL 3 with its legacy provider on the machine (`libcrypto.so.3` and `legacy.so`).
/// Without them they give kCCUnimplemented.
enum {
    kCCAlgorithmAES128 = 0,
    kCCAlgorithmAES = 0,
    kCCAlgorithmDES,
    kCCAlgorithm3DES,
    kCCAlgorithmCAST,
    kCCAlgorithmRC4,
    kCCAlgorithmRC2,
    kCCAlgorithmBlowfish,
};
typedef uint32_t CCAlgorithm;

enum {
    kCCOptionPKCS7Padding = 0x0001,
    /// Each block by itself; else with CBC.
    kCCOptionECBMode = 0x0002,
};
typedef uint32_t CCOptions;

/// In bytes.
enum {
    kCCKeySizeAES128 = 16,
    kCCKeySizeAES192 = 24,
    kCCKeySizeAES256 = 32,
    kCCKeySizeDES = 8,
    kCCKeySize3DES = 24,
    kCCKeySizeMinCAST = 5,
    kCCKeySizeMaxCAST = 16,
    kCCKeySizeMinRC4 = 1,
    kCCKeySizeMaxRC4 = 512,
    kCCKeySizeMinRC2 = 1,
    kCCKeySizeMaxRC2 = 128,
    kCCKeySizeMinBlowfish = 8,
    kCCKeySizeMaxBlowfish = 56,
};

/// In bytes.
enum {
    kCCBlockSizeAES128 = 16,
    kCCBlockSizeDES = 8,
    kCCBlockSize3DES = 8,
    kCCBlockSizeCAST = 8,
    kCCBlockSizeRC2 = 8,
    kCCBlockSizeBlowfish = 8,
};

/// What CCCryptorCreateFromData takes at Apple, in bytes. Here it takes nothing.
enum {
    kCCContextSizeAES128 = 404,
    kCCContextSizeDES = 240,
    kCCContextSize3DES = 496,
    kCCContextSizeCAST = 240,
    kCCContextSizeRC4 = 1072,
};

/// ECB and CBC work with AES, DES, 3DES, CAST, RC2 and Blowfish; CFB (of a whole block) and OFB with AES, CAST, RC2 and
/// Blowfish; CTR with AES; RC4 with RC4. All others give kCCUnimplemented.
enum {
    kCCModeECB = 1,
    kCCModeCBC = 2,
    kCCModeCFB = 3,
    kCCModeCTR = 4,
    kCCModeOFB = 7,
    kCCModeRC4 = 9,
    kCCModeCFB8 = 10,
};
typedef uint32_t CCMode;

enum { ccNoPadding = 0, ccPKCS7Padding = 1 };
/// Of ECB and CBC; other modes need none.
typedef uint32_t CCPadding;

/// The counter counts with its highest byte first, always.
enum { kCCModeOptionCTR_BE = 2 };
typedef uint32_t CCModeOptions;

/// Begins a message, as CCCryptorCreateWithMode with the mode that the options say.
CCCryptorStatus CCCryptorCreate(
    CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength, const void *iv,
    CCCryptorRef *cryptorRef);

/// The same. Takes its own memory and not `data`, so that `dataUsed` becomes 0 and CCCryptorRelease is needed.
CCCryptorStatus CCCryptorCreateFromData(
    CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength, const void *iv,
    const void *data, size_t dataLength, CCCryptorRef *cryptorRef, size_t *dataUsed);

/// Begins a message.
///
/// - `iv`: As long as a block, for all modes but ECB and RC4; NULL for zeros.
/// - `tweak`, `numRounds`: Not used.
/// - `options`: kCCModeOptionCTR_BE or 0; a counter with its lowest byte first is not offered.
///
/// Returns kCCSuccess; kCCParamError if an argument is NULL, or is no operation, algorithm or padding; kCCKeySizeError;
/// kCCUnimplemented for other modes, and for CAST, RC2 and Blowfish without OpenSSL's legacy provider;
/// kCCMemoryFailure.
CCCryptorStatus CCCryptorCreateWithMode(
    CCOperation op, CCMode mode, CCAlgorithm alg, CCPadding padding, const void *iv, const void *key, size_t keyLength,
    const void *tweak, size_t tweakLength, int numRounds, CCModeOptions options, CCCryptorRef *cryptorRef);

/// Wipes and frees the keys.
CCCryptorStatus CCCryptorRelease(CCCryptorRef cryptorRef);

/// Encrypts or decrypts the next bytes. The output is as CCCryptorGetOutputLength says. It may be written over the input
/// if no earlier piece was cut inside a block.
///
/// Returns kCCSuccess; kCCParamError; kCCBufferTooSmall, and how many bytes are needed.
CCCryptorStatus CCCryptorUpdate(
    CCCryptorRef cryptorRef, const void *dataIn, size_t dataInLength, void *dataOut, size_t dataOutAvailable,
    size_t *dataOutMoved);

/// Ends the message and writes what is left: with padding, at most one block.
///
/// Decrypting with a wrong key is no error. As at Apple, a block with invalid padding is returned whole, so that nobody
/// learns from the status whether it was valid.
///
/// Returns kCCSuccess; kCCParamError; kCCAlignmentError if the message is no whole number of blocks; kCCBufferTooSmall,
/// and how many bytes are needed: then it can be called again.
CCCryptorStatus CCCryptorFinal(
    CCCryptorRef cryptorRef, void *dataOut, size_t dataOutAvailable, size_t *dataOutMoved);

/// Returns how many bytes the next update gives at most, or, if `final`, the next update and the end together.
size_t CCCryptorGetOutputLength(CCCryptorRef cryptorRef, size_t inputLength, bool final);

/// Begins another message under the same key.
///
/// Returns kCCSuccess; kCCUnimplemented for modes other than CBC and CTR.
CCCryptorStatus CCCryptorReset(CCCryptorRef cryptorRef, const void *iv);

/// Encrypts or decrypts a whole message. `dataOut` may be `dataIn`. `dataOutMoved` becomes the size of the output, or the
/// size that is needed.
///
/// Returns what the functions above return.
CCCryptorStatus CCCrypt(
    CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength, const void *iv,
    const void *dataIn, size_t dataInLength, void *dataOut, size_t dataOutAvailable, size_t *dataOutMoved);

#ifdef __cplusplus
}
#endif

#endif
