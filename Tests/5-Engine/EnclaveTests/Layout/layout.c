// Prints sizes and offsets, of the stack's structures or of this package's declarations of them.
#ifdef STACK
#include <tss2/tss2_esys.h>
#else
#include "tpm2.h"
#endif
#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("%s: %zu\n", #type, sizeof(type));
#define OFFSET(type, member) printf("%s.%s: %zu\n", #type, #member, offsetof(type, member));
#define BUFFER(type, member) SIZE(type) OFFSET(type, size) OFFSET(type, member)

int main(void) {
    BUFFER(TPM2B_DIGEST, buffer)
    BUFFER(TPM2B_AUTH, buffer)
    BUFFER(TPM2B_NONCE, buffer)
    BUFFER(TPM2B_DATA, buffer)
    BUFFER(TPM2B_NAME, name)
    BUFFER(TPM2B_MAX_NV_BUFFER, buffer)
    BUFFER(TPM2B_ECC_PARAMETER, buffer)
    BUFFER(TPM2B_SENSITIVE_DATA, buffer)
    BUFFER(TPM2B_SENSITIVE_CREATE, sensitive)
    BUFFER(TPM2B_PRIVATE, buffer)
    BUFFER(TPM2B_PUBLIC, publicArea)
    BUFFER(TPM2B_NV_PUBLIC, nvPublic)
    SIZE(TPML_PCR_SELECTION)
    OFFSET(TPML_PCR_SELECTION, count)
    OFFSET(TPML_PCR_SELECTION, pcrSelections[1].hash)
    OFFSET(TPML_PCR_SELECTION, pcrSelections[1].sizeofSelect)
    OFFSET(TPML_PCR_SELECTION, pcrSelections[1].pcrSelect)
    // Only read, and larger there than the lists that are read.
    OFFSET(TPMS_CAPABILITY_DATA, capability)
    OFFSET(TPMS_CAPABILITY_DATA, data.tpmProperties.count)
    OFFSET(TPMS_CAPABILITY_DATA, data.tpmProperties.tpmProperty[1].property)
    OFFSET(TPMS_CAPABILITY_DATA, data.tpmProperties.tpmProperty[1].value)
    OFFSET(TPMS_CAPABILITY_DATA, data.handles.count)
    OFFSET(TPMS_CAPABILITY_DATA, data.handles.handle[1])
    SIZE(TPMT_SYM_DEF)
    OFFSET(TPMT_SYM_DEF, algorithm)
    OFFSET(TPMT_SYM_DEF, keyBits.aes)
    OFFSET(TPMT_SYM_DEF, mode.aes)
    SIZE(TPMT_SYM_DEF_OBJECT)
    SIZE(TPMT_KEYEDHASH_SCHEME)
    OFFSET(TPMT_KEYEDHASH_SCHEME, scheme)
    OFFSET(TPMT_KEYEDHASH_SCHEME, details.hmac.hashAlg)
    SIZE(TPMT_SIG_SCHEME)
    OFFSET(TPMT_SIG_SCHEME, scheme)
    OFFSET(TPMT_SIG_SCHEME, details.ecdsa.hashAlg)
    SIZE(TPMT_ECC_SCHEME)
    SIZE(TPMT_RSA_SCHEME)
    SIZE(TPMT_KDF_SCHEME)
    OFFSET(TPMT_KDF_SCHEME, scheme)
    OFFSET(TPMT_KDF_SCHEME, details.mgf1.hashAlg)
    OFFSET(TPMS_ECC_POINT, y)
    SIZE(TPMS_KEYEDHASH_PARMS)
    SIZE(TPMS_ECC_PARMS)
    OFFSET(TPMS_ECC_PARMS, symmetric)
    OFFSET(TPMS_ECC_PARMS, scheme)
    OFFSET(TPMS_ECC_PARMS, curveID)
    OFFSET(TPMS_ECC_PARMS, kdf)
    SIZE(TPMS_RSA_PARMS)
    OFFSET(TPMS_RSA_PARMS, keyBits)
    OFFSET(TPMS_RSA_PARMS, exponent)
    SIZE(TPMT_PUBLIC)
    OFFSET(TPMT_PUBLIC, type)
    OFFSET(TPMT_PUBLIC, nameAlg)
    OFFSET(TPMT_PUBLIC, objectAttributes)
    OFFSET(TPMT_PUBLIC, authPolicy)
    OFFSET(TPMT_PUBLIC, parameters)
    OFFSET(TPMT_PUBLIC, unique)
    OFFSET(TPMS_SENSITIVE_CREATE, userAuth)
    OFFSET(TPMS_SENSITIVE_CREATE, data)
    OFFSET(TPMS_NV_PUBLIC, nvIndex)
    OFFSET(TPMS_NV_PUBLIC, nameAlg)
    OFFSET(TPMS_NV_PUBLIC, attributes)
    OFFSET(TPMS_NV_PUBLIC, authPolicy)
    OFFSET(TPMS_NV_PUBLIC, dataSize)
    return 0;
}
