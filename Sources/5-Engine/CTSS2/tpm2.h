// The structures of a TPM that this package uses, with the memory layout of the TPM2 Software Stack.
//
// Names and members are those of "Trusted Platform Module Library, Part 2: Structures" (Trusted Computing
// Group). The capacities are those of the stack's own headers, which its binary interface depends on. With these
// declarations, this package builds without the stack's headers. A test compares each size and offset with them.
#ifndef KEYCHAIN_TPM2_H
#define KEYCHAIN_TPM2_H

#include <stdint.h>

// 5.3 and 6.3: identifiers
typedef uint16_t TPM2_ALG_ID;
typedef uint16_t TPM2_ECC_CURVE;
typedef uint32_t TPM2_HANDLE;
typedef uint32_t TPMA_OBJECT;
typedef uint32_t TPMA_NV;

// 10.4: sized buffers
typedef struct TPM2B_DIGEST {
    uint16_t size;
    uint8_t buffer[64];
} TPM2B_DIGEST;

typedef TPM2B_DIGEST TPM2B_AUTH;
typedef TPM2B_DIGEST TPM2B_NONCE;

typedef struct TPM2B_DATA {
    uint16_t size;
    uint8_t buffer[64];
} TPM2B_DATA;

typedef struct TPM2B_NAME {
    uint16_t size;
    uint8_t name[68];
} TPM2B_NAME;

typedef struct TPM2B_MAX_NV_BUFFER {
    uint16_t size;
    uint8_t buffer[2048];
} TPM2B_MAX_NV_BUFFER;

// 10.6: a selection of registers, which this package always leaves empty
typedef struct TPML_PCR_SELECTION {
    uint32_t count;
    struct {
        TPM2_ALG_ID hash;
        uint8_t sizeofSelect;
        uint8_t pcrSelect[4];
    } pcrSelections[16];
} TPML_PCR_SELECTION;

// 10.8 and 10.10: capabilities. The stack returns more than the two lists described here. They are only read.
typedef struct TPMS_TAGGED_PROPERTY {
    uint32_t property;
    uint32_t value;
} TPMS_TAGGED_PROPERTY;

typedef struct TPMS_CAPABILITY_DATA {
    uint32_t capability;
    union {
        struct {
            uint32_t count;
            TPMS_TAGGED_PROPERTY tpmProperty[127];
        } tpmProperties;
        struct {
            uint32_t count;
            TPM2_HANDLE handle[254];
        } handles;
    } data;
} TPMS_CAPABILITY_DATA;

// 11.1: symmetric algorithms
typedef struct TPMT_SYM_DEF {
    TPM2_ALG_ID algorithm;
    union TPMU_SYM_KEY_BITS {
        uint16_t aes;
    } keyBits;
    union TPMU_SYM_MODE {
        TPM2_ALG_ID aes;
    } mode;
} TPMT_SYM_DEF;

typedef TPMT_SYM_DEF TPMT_SYM_DEF_OBJECT;

// 11.2: schemes
typedef struct TPMS_SCHEME_HASH {
    TPM2_ALG_ID hashAlg;
} TPMS_SCHEME_HASH;

typedef struct TPMT_KEYEDHASH_SCHEME {
    TPM2_ALG_ID scheme;
    union TPMU_SCHEME_KEYEDHASH {
        TPMS_SCHEME_HASH hmac;
        struct {
            TPM2_ALG_ID hashAlg;
            TPM2_ALG_ID kdf;
        } exclusiveOr;
    } details;
} TPMT_KEYEDHASH_SCHEME;

typedef struct TPMT_SIG_SCHEME {
    TPM2_ALG_ID scheme;
    union TPMU_SIG_SCHEME {
        TPMS_SCHEME_HASH ecdsa;
        struct {
            TPM2_ALG_ID hashAlg;
            uint16_t count;
        } ecdaa;
    } details;
} TPMT_SIG_SCHEME;

typedef TPMT_SIG_SCHEME TPMT_ECC_SCHEME;
typedef TPMT_SIG_SCHEME TPMT_RSA_SCHEME;

typedef struct TPMT_KDF_SCHEME {
    TPM2_ALG_ID scheme;
    union {
        TPMS_SCHEME_HASH mgf1;
    } details;
} TPMT_KDF_SCHEME;

// 11.2.5: points
typedef struct TPM2B_ECC_PARAMETER {
    uint16_t size;
    uint8_t buffer[128];
} TPM2B_ECC_PARAMETER;

typedef struct TPMS_ECC_POINT {
    TPM2B_ECC_PARAMETER x;
    TPM2B_ECC_PARAMETER y;
} TPMS_ECC_POINT;

// 12.2: the public half of an object
typedef struct TPMS_KEYEDHASH_PARMS {
    TPMT_KEYEDHASH_SCHEME scheme;
} TPMS_KEYEDHASH_PARMS;

typedef struct TPMS_ECC_PARMS {
    TPMT_SYM_DEF_OBJECT symmetric;
    TPMT_ECC_SCHEME scheme;
    TPM2_ECC_CURVE curveID;
    TPMT_KDF_SCHEME kdf;
} TPMS_ECC_PARMS;

typedef struct TPMS_RSA_PARMS {
    TPMT_SYM_DEF_OBJECT symmetric;
    TPMT_RSA_SCHEME scheme;
    uint16_t keyBits;
    uint32_t exponent;
} TPMS_RSA_PARMS;

typedef struct TPMT_PUBLIC {
    TPM2_ALG_ID type;
    TPM2_ALG_ID nameAlg;
    TPMA_OBJECT objectAttributes;
    TPM2B_DIGEST authPolicy;
    union TPMU_PUBLIC_PARMS {
        TPMS_KEYEDHASH_PARMS keyedHashDetail;
        TPMS_RSA_PARMS rsaDetail;
        TPMS_ECC_PARMS eccDetail;
    } parameters;
    union {
        TPM2B_DIGEST keyedHash;
        TPMS_ECC_POINT ecc;
        struct {
            uint16_t size;
            uint8_t buffer[512];
        } rsa;
    } unique;
} TPMT_PUBLIC;

typedef struct TPM2B_PUBLIC {
    uint16_t size;
    TPMT_PUBLIC publicArea;
} TPM2B_PUBLIC;

// 11.1.14 and 12.3: the secret half
typedef struct TPM2B_SENSITIVE_DATA {
    uint16_t size;
    uint8_t buffer[256];
} TPM2B_SENSITIVE_DATA;

typedef struct TPMS_SENSITIVE_CREATE {
    TPM2B_AUTH userAuth;
    TPM2B_SENSITIVE_DATA data;
} TPMS_SENSITIVE_CREATE;

typedef struct TPM2B_SENSITIVE_CREATE {
    uint16_t size;
    TPMS_SENSITIVE_CREATE sensitive;
} TPM2B_SENSITIVE_CREATE;

typedef struct TPM2B_PRIVATE {
    uint16_t size;
    uint8_t buffer[1550];
} TPM2B_PRIVATE;

// 13: non-volatile storage
typedef struct TPMS_NV_PUBLIC {
    TPM2_HANDLE nvIndex;
    TPM2_ALG_ID nameAlg;
    TPMA_NV attributes;
    TPM2B_DIGEST authPolicy;
    uint16_t dataSize;
} TPMS_NV_PUBLIC;

typedef struct TPM2B_NV_PUBLIC {
    uint16_t size;
    TPMS_NV_PUBLIC nvPublic;
} TPM2B_NV_PUBLIC;

// 15: the data of a creation, which this package only passes back
typedef struct TPM2B_CREATION_DATA TPM2B_CREATION_DATA;
typedef struct TPMT_TK_CREATION TPMT_TK_CREATION;

// TSS 2.0 Overview and Common Structures, section 3: the version of an interface
typedef struct TSS2_ABI_VERSION {
    uint32_t tssCreator;
    uint32_t tssFamily;
    uint32_t tssLevel;
    uint32_t tssVersion;
} TSS2_ABI_VERSION;

#endif
