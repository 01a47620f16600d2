#ifndef COMMON_CRYPTO_ERROR_H
#define COMMON_CRYPTO_ERROR_H

#include <stdint.h>

/// What functions of this module return. The numbers are Apple's.
enum {
    kCCSuccess = 0,
    /// An argument has a value that the function does not take.
    kCCParamError = -4300,
    /// The buffer for the output is too small; the function says how many bytes it needs.
    kCCBufferTooSmall = -4301,
    /// There is no memory.
    kCCMemoryFailure = -4302,
    /// Without padding, the input is no whole number of blocks.
    kCCAlignmentError = -4303,
    /// The input cannot be decoded, or was changed.
    kCCDecodeError = -4304,
    /// The algorithm or mode is not offered here.
    kCCUnimplemented = -4305,
    kCCOverflow = -4306,
    kCCRNGFailure = -4307,
    kCCUnspecifiedError = -4308,
    kCCCallSequenceError = -4309,
    /// The algorithm takes no key of this size.
    kCCKeySizeError = -4310,
    kCCInvalidKey = -4311,
};

typedef int32_t CCStatus;
typedef int32_t CCCryptorStatus;

#endif
