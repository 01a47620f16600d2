#include <CommonCrypto/CommonCryptor.h>
#include <stdlib.h>
#include <string.h>

#include "BoringSSL.h"
#include "LegacyCiphers.h"

enum { longest_block = 16 };

struct _CCCryptor {
    /// NULL for CFB, and for what libcrypto does.
    EVP_CIPHER_CTX *context;
    /// For Blowfish, CAST and RC2.
    legacy_context *legacy;
    /// For CFB with AES alone.
    AES_KEY key;
    uint8_t iv[longest_block];
    int used;

    CCOperation operation;
    CCMode mode;
    bool pads;
    /// 1 for modes that need no whole blocks.
    size_t block;
    /// Input that waits for the rest of its block, or for the end.
    uint8_t held[longest_block];
    size_t held_count;
    /// Whether `held` is the last block, decrypted.
    bool held_is_text;
};

typedef struct {
    const EVP_CIPHER *cipher;
    size_t iv_count;
    CCCryptorStatus status;
} choice;

static choice failure(CCCryptorStatus status) { return (choice){NULL, 0, status}; }

#define AES_CIPHER(MODE) \
    (key_count == kCCKeySizeAES128 ? CCryptoBoringSSL_EVP_aes_128_##MODE() \
        : key_count == kCCKeySizeAES192 ? CCryptoBoringSSL_EVP_aes_192_##MODE() \
                                        : CCryptoBoringSSL_EVP_aes_256_##MODE())

static choice choose_aes(CCMode mode, size_t key_count) {
    if (key_count != kCCKeySizeAES128 && key_count != kCCKeySizeAES192 && key_count != kCCKeySizeAES256)
        return failure(kCCKeySizeError);
    switch (mode) {
    case kCCModeECB: return (choice){AES_CIPHER(ecb), 0, kCCSuccess};
    case kCCModeCBC: return (choice){AES_CIPHER(cbc), kCCBlockSizeAES128, kCCSuccess};
    case kCCModeCTR: return (choice){AES_CIPHER(ctr), kCCBlockSizeAES128, kCCSuccess};
    case kCCModeOFB: return (choice){AES_CIPHER(ofb), kCCBlockSizeAES128, kCCSuccess};
    // BoringSSL has a function for it, and no cipher.
    case kCCModeCFB: return (choice){NULL, kCCBlockSizeAES128, kCCSuccess};
    default: return failure(kCCUnimplemented);
    }
}

/// LegacyCiphers.c chooses the cipher. They all have blocks of one size.
static choice legacy(CCMode mode) { return (choice){NULL, mode == kCCModeECB ? 0 : kCCBlockSizeCAST, kCCSuccess}; }

static bool is_legacy(CCAlgorithm algorithm) {
    return algorithm == kCCAlgorithmCAST || algorithm == kCCAlgorithmRC2 || algorithm == kCCAlgorithmBlowfish;
}

static choice choose(CCAlgorithm algorithm, CCMode mode, size_t key_count) {
    switch (algorithm) {
    case kCCAlgorithmAES: return choose_aes(mode, key_count);
    case kCCAlgorithmDES:
        if (key_count != kCCKeySizeDES) return failure(kCCKeySizeError);
        if (mode == kCCModeECB) return (choice){CCryptoBoringSSL_EVP_des_ecb(), 0, kCCSuccess};
        if (mode == kCCModeCBC) return (choice){CCryptoBoringSSL_EVP_des_cbc(), kCCBlockSizeDES, kCCSuccess};
        return failure(kCCUnimplemented);
    case kCCAlgorithm3DES:
        if (key_count != kCCKeySize3DES) return failure(kCCKeySizeError);
        if (mode == kCCModeECB) return (choice){CCryptoBoringSSL_EVP_des_ede3_ecb(), 0, kCCSuccess};
        if (mode == kCCModeCBC) return (choice){CCryptoBoringSSL_EVP_des_ede3_cbc(), kCCBlockSize3DES, kCCSuccess};
        return failure(kCCUnimplemented);
    case kCCAlgorithmRC4:
        if (key_count < kCCKeySizeMinRC4 || key_count > kCCKeySizeMaxRC4) return failure(kCCKeySizeError);
        return (choice){CCryptoBoringSSL_EVP_rc4(), 0, kCCSuccess};
    case kCCAlgorithmCAST:
        if (key_count < kCCKeySizeMinCAST || key_count > kCCKeySizeMaxCAST) return failure(kCCKeySizeError);
        return legacy(mode);
    case kCCAlgorithmRC2:
        if (key_count < kCCKeySizeMinRC2 || key_count > kCCKeySizeMaxRC2) return failure(kCCKeySizeError);
        return legacy(mode);
    case kCCAlgorithmBlowfish:
        if (key_count < kCCKeySizeMinBlowfish || key_count > kCCKeySizeMaxBlowfish) return failure(kCCKeySizeError);
        return legacy(mode);
    default: return failure(kCCParamError);
    }
}

static size_t block_size(CCAlgorithm algorithm, CCMode mode) {
    if (algorithm == kCCAlgorithmRC4 || (mode != kCCModeECB && mode != kCCModeCBC)) return 1;
    return algorithm == kCCAlgorithmAES ? kCCBlockSizeAES128 : kCCBlockSizeDES;
}

static void forget_held(CCCryptorRef cryptor) {
    CCryptoBoringSSL_OPENSSL_cleanse(cryptor->held, sizeof cryptor->held);
    cryptor->held_count = 0;
    cryptor->held_is_text = false;
}

/// - key: NULL to keep it.
static CCCryptorStatus start(
    CCCryptorRef cryptor, const EVP_CIPHER *cipher, const uint8_t *key, size_t key_count, const void *iv) {
    static const uint8_t zeros[longest_block] = {0};
    const uint8_t *initial = iv ? iv : zeros;
    int encrypts = cryptor->operation == kCCEncrypt;
    if (cryptor->mode == kCCModeCFB) {
        memcpy(cryptor->iv, initial, longest_block);
        cryptor->used = 0;
        return CCryptoBoringSSL_AES_set_encrypt_key(key, (unsigned)key_count * 8, &cryptor->key) == 0
            ? kCCSuccess
            : kCCUnspecifiedError;
    }
    EVP_CIPHER_CTX *context = cryptor->context;
    bool done = true;
    if (key && cipher == CCryptoBoringSSL_EVP_rc4()) {
        // RC4 never reads more than 256 bytes of a key.
        unsigned count = key_count < 256 ? (unsigned)key_count : 256;
        done = CCryptoBoringSSL_EVP_CipherInit_ex(context, cipher, NULL, NULL, NULL, encrypts) == 1
            && CCryptoBoringSSL_EVP_CIPHER_CTX_set_key_length(context, count) == 1;
        cipher = NULL;
    }
    done = done && CCryptoBoringSSL_EVP_CipherInit_ex(context, cipher, NULL, key, initial, encrypts) == 1
        && CCryptoBoringSSL_EVP_CIPHER_CTX_set_padding(context, 0) == 1;
    if (!done) CCryptoBoringSSL_ERR_clear_error();
    return done ? kCCSuccess : kCCUnspecifiedError;
}

CCCryptorStatus CCCryptorCreateWithMode(
    CCOperation op, CCMode mode, CCAlgorithm alg, CCPadding padding, const void *iv, const void *key, size_t keyLength,
    const void *tweak, size_t tweakLength, int numRounds, CCModeOptions options, CCCryptorRef *cryptorRef) {
    if (!cryptorRef) return kCCParamError;
    *cryptorRef = NULL;
    if (!key || (op != kCCEncrypt && op != kCCDecrypt) || padding > ccPKCS7Padding) return kCCParamError;
    // kCCModeOptionCTR_LE of older headers: BoringSSL's counter has its highest byte first.
    if (mode == kCCModeCTR && (options & 1)) return kCCUnimplemented;
    choice chosen = choose(alg, mode, keyLength);
    if (chosen.status != kCCSuccess) return chosen.status;
    CCCryptorRef cryptor = calloc(1, sizeof *cryptor);
    if (!cryptor) return kCCMemoryFailure;
    cryptor->operation = op;
    cryptor->mode = alg == kCCAlgorithmRC4 ? kCCModeRC4 : mode;
    cryptor->block = block_size(alg, mode);
    cryptor->pads = padding == ccPKCS7Padding && cryptor->block > 1;
    CCCryptorStatus status = kCCSuccess;
    if (chosen.cipher && !(cryptor->context = CCryptoBoringSSL_EVP_CIPHER_CTX_new())) status = kCCMemoryFailure;
    if (status == kCCSuccess && is_legacy(alg)) {
        static const uint8_t zeros[longest_block] = {0};
        const uint8_t *initial = chosen.iv_count > 0 && iv ? iv : zeros;
        status = legacy_start(&cryptor->legacy, alg, mode, key, keyLength, initial, op == kCCEncrypt);
    } else if (status == kCCSuccess) {
        status = start(cryptor, chosen.cipher, key, keyLength, chosen.iv_count > 0 ? iv : NULL);
    }
    if (status != kCCSuccess) {
        CCCryptorRelease(cryptor);
        return status;
    }
    *cryptorRef = cryptor;
    return kCCSuccess;
}

CCCryptorStatus CCCryptorCreate(
    CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength, const void *iv,
    CCCryptorRef *cryptorRef) {
    CCMode mode = options & kCCOptionECBMode ? kCCModeECB : kCCModeCBC;
    CCPadding padding = options & kCCOptionPKCS7Padding ? ccPKCS7Padding : ccNoPadding;
    return CCCryptorCreateWithMode(op, mode, alg, padding, iv, key, keyLength, NULL, 0, 0, 0, cryptorRef);
}

CCCryptorStatus CCCryptorCreateFromData(
    CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength, const void *iv,
    const void *data, size_t dataLength, CCCryptorRef *cryptorRef, size_t *dataUsed) {
    if (dataUsed) *dataUsed = 0;
    return CCCryptorCreate(op, alg, options, key, keyLength, iv, cryptorRef);
}

CCCryptorStatus CCCryptorRelease(CCCryptorRef cryptorRef) {
    if (!cryptorRef) return kCCSuccess;
    if (cryptorRef->context) CCryptoBoringSSL_EVP_CIPHER_CTX_free(cryptorRef->context);
    legacy_end(cryptorRef->legacy);
    CCryptoBoringSSL_OPENSSL_cleanse(cryptorRef, sizeof *cryptorRef);
    free(cryptorRef);
    return kCCSuccess;
}

CCCryptorStatus CCCryptorReset(CCCryptorRef cryptorRef, const void *iv) {
    if (!cryptorRef) return kCCParamError;
    if (cryptorRef->mode != kCCModeCBC && cryptorRef->mode != kCCModeCTR) return kCCUnimplemented;
    forget_held(cryptorRef);
    if (cryptorRef->legacy) {
        static const uint8_t zeros[longest_block] = {0};
        return legacy_restart(cryptorRef->legacy, iv ? iv : zeros) ? kCCSuccess : kCCUnspecifiedError;
    }
    return start(cryptorRef, NULL, NULL, 0, iv);
}

/// Returns how many bytes can be processed before the end of the message is known.
static size_t ready(CCCryptorRef cryptor, size_t count) {
    size_t total = cryptor->held_count + count;
    // The last block of what is decrypted may be padding.
    if (cryptor->pads && cryptor->operation == kCCDecrypt && total > 0) total -= 1;
    return total - total % cryptor->block;
}

size_t CCCryptorGetOutputLength(CCCryptorRef cryptorRef, size_t inputLength, bool final) {
    if (!cryptorRef) return 0;
    size_t total = cryptorRef->held_count + inputLength;
    if (!final) return ready(cryptorRef, inputLength);
    if (!cryptorRef->pads) return total - total % cryptorRef->block;
    return cryptorRef->operation == kCCEncrypt ? total - total % cryptorRef->block + cryptorRef->block : total;
}

/// Works on whole blocks.
static bool transform(CCCryptorRef cryptor, const uint8_t *input, size_t count, uint8_t *output) {
    if (cryptor->mode == kCCModeCFB && !cryptor->legacy) {
        CCryptoBoringSSL_AES_cfb128_encrypt(
            input, output, count, &cryptor->key, cryptor->iv, &cryptor->used, cryptor->operation == kCCEncrypt);
        return true;
    }
    // Both libraries count in ints.
    const size_t most = 1 << 30;
    while (count > 0) {
        size_t part = count < most ? count : most;
        int written = 0;
        if (cryptor->legacy) {
            if (!legacy_transform(cryptor->legacy, input, (int)part, output)) return false;
        } else if (CCryptoBoringSSL_EVP_CipherUpdate(cryptor->context, output, &written, input, (int)part) != 1
            || (size_t)written != part) {
            CCryptoBoringSSL_ERR_clear_error();
            return false;
        }
        input += part;
        output += part;
        count -= part;
    }
    return true;
}

CCCryptorStatus CCCryptorUpdate(
    CCCryptorRef cryptorRef, const void *dataIn, size_t dataInLength, void *dataOut, size_t dataOutAvailable,
    size_t *dataOutMoved) {
    if (dataOutMoved) *dataOutMoved = 0;
    if (!cryptorRef) return kCCParamError;
    if (cryptorRef->held_is_text) return kCCCallSequenceError;
    if (dataInLength == 0) return kCCSuccess;
    size_t count = ready(cryptorRef, dataInLength);
    if (!dataIn || (count > 0 && !dataOut)) return kCCParamError;
    if (count > dataOutAvailable) {
        if (dataOutMoved) *dataOutMoved = count;
        return kCCBufferTooSmall;
    }
    const uint8_t *input = dataIn;
    uint8_t *output = dataOut;
    size_t left = count;
    if (left > 0 && cryptorRef->held_count > 0) {
        size_t rest = cryptorRef->block - cryptorRef->held_count;
        memcpy(cryptorRef->held + cryptorRef->held_count, input, rest);
        if (!transform(cryptorRef, cryptorRef->held, cryptorRef->block, output)) return kCCParamError;
        cryptorRef->held_count = 0;
        input += rest;
        dataInLength -= rest;
        output += cryptorRef->block;
        left -= cryptorRef->block;
    }
    // At most a block is kept, before the output is written over the input.
    uint8_t kept[longest_block];
    size_t kept_count = dataInLength - left;
    memcpy(kept, input + left, kept_count);
    bool done = left == 0 || transform(cryptorRef, input, left, output);
    if (done) {
        memcpy(cryptorRef->held + cryptorRef->held_count, kept, kept_count);
        cryptorRef->held_count += kept_count;
        if (dataOutMoved) *dataOutMoved = count;
    }
    CCryptoBoringSSL_OPENSSL_cleanse(kept, sizeof kept);
    return done ? kCCSuccess : kCCParamError;
}

/// Returns how many bytes of a decrypted block are data (RFC 5652, section 6.3); all of them, if the padding is invalid.
/// Runs in constant time.
static size_t without_padding(const uint8_t *bytes, size_t block) {
    uint8_t last = bytes[block - 1];
    unsigned wrong = (last == 0) | (last > block);
    for (size_t index = 0; index < block; index++) {
        unsigned is_padding = index + last >= block;
        wrong |= is_padding & (bytes[index] != last);
    }
    return block - (size_t)last * (wrong ^ 1);
}

CCCryptorStatus CCCryptorFinal(
    CCCryptorRef cryptorRef, void *dataOut, size_t dataOutAvailable, size_t *dataOutMoved) {
    if (dataOutMoved) *dataOutMoved = 0;
    if (!cryptorRef) return kCCParamError;
    if (!cryptorRef->pads) return cryptorRef->held_count == 0 ? kCCSuccess : kCCAlignmentError;
    size_t block = cryptorRef->block, count = block;
    bool encrypts = cryptorRef->operation == kCCEncrypt;
    if (!encrypts) {
        if (cryptorRef->held_count != block) return kCCAlignmentError;
        // Kept, for a caller that comes again with a larger buffer.
        if (!cryptorRef->held_is_text && !transform(cryptorRef, cryptorRef->held, block, cryptorRef->held))
            return kCCParamError;
        cryptorRef->held_is_text = true;
        count = without_padding(cryptorRef->held, block);
    }
    if (dataOutMoved) *dataOutMoved = count;
    if (count > dataOutAvailable || (count > 0 && !dataOut)) return kCCBufferTooSmall;
    if (encrypts) {
        uint8_t padding = (uint8_t)(block - cryptorRef->held_count);
        memset(cryptorRef->held + cryptorRef->held_count, padding, padding);
        if (!transform(cryptorRef, cryptorRef->held, block, dataOut)) return kCCParamError;
    } else if (count > 0) {
        memcpy(dataOut, cryptorRef->held, count);
    }
    forget_held(cryptorRef);
    return kCCSuccess;
}

CCCryptorStatus CCCrypt(
    CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength, const void *iv,
    const void *dataIn, size_t dataInLength, void *dataOut, size_t dataOutAvailable, size_t *dataOutMoved) {
    CCCryptorRef cryptor;
    CCCryptorStatus status = CCCryptorCreate(op, alg, options, key, keyLength, iv, &cryptor);
    if (status != kCCSuccess) return status;
    size_t needed = CCCryptorGetOutputLength(cryptor, dataInLength, true);
    if (dataOutMoved) *dataOutMoved = needed;
    size_t updated = 0, ended = 0;
    if (needed > dataOutAvailable) status = kCCBufferTooSmall;
    if (status == kCCSuccess)
        status = CCCryptorUpdate(cryptor, dataIn, dataInLength, dataOut, dataOutAvailable, &updated);
    if (status == kCCSuccess) {
        // Nothing is left of a NULL buffer.
        void *rest = dataOut ? (uint8_t *)dataOut + updated : NULL;
        status = CCCryptorFinal(cryptor, rest, dataOutAvailable - updated, &ended);
        if (dataOutMoved) *dataOutMoved = updated + ended;
    }
    CCCryptorRelease(cryptor);
    return status;
}
