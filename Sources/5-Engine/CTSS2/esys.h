// The types of the TPM2 Software Stack's functions that this package calls. The functions are looked up in the
// libraries at run time.
//
// Parameters are those of "TCG TSS 2.0 Enhanced System API (ESAPI)" and "TCG TSS 2.0 Marshaling/Unmarshaling
// API". A test assigns each type the function of the stack's own headers.
#ifndef KEYCHAIN_ESYS_H
#define KEYCHAIN_ESYS_H

#include <poll.h>
#include <stddef.h>
#include "tpm2.h"

typedef struct ESYS_CONTEXT ESYS_CONTEXT;
typedef struct TSS2_TCTI_OPAQUE_CONTEXT_BLOB TSS2_TCTI_CONTEXT;

// libtss2-tctildr
typedef uint32_t (*TctiLdr_Initialize_Function)(const char *nameConf, TSS2_TCTI_CONTEXT **context);
typedef void (*TctiLdr_Finalize_Function)(TSS2_TCTI_CONTEXT **context);

// The beginning of every transport ("TCG TSS 2.0 TPM Command Transmission Interface (TCTI) API", 3.2.4).
// TSS2_TCTI_POLL_HANDLE is a struct pollfd on systems that have it.
typedef struct {
    uint64_t magic;
    uint32_t version;
    uint32_t (*transmit)(TSS2_TCTI_CONTEXT *context, size_t size, const uint8_t *command);
    uint32_t (*receive)(TSS2_TCTI_CONTEXT *context, size_t *size, uint8_t *answer, int32_t timeout);
    void *finalize;
    void *cancel;
    uint32_t (*getPollHandles)(TSS2_TCTI_CONTEXT *context, struct pollfd *handles, size_t *count);
    void *setLocality;
} TCTI_CONTEXT_COMMON;

// libtss2-rc
typedef const char *(*RC_Decode_Function)(uint32_t rc);

// libtss2-mu
typedef uint32_t (*MU_PUBLIC_Marshal_Function)(
    const TPM2B_PUBLIC *source, uint8_t *buffer, size_t size, size_t *offset);
typedef uint32_t (*MU_PUBLIC_Unmarshal_Function)(
    const uint8_t *buffer, size_t size, size_t *offset, TPM2B_PUBLIC *destination);

// libtss2-esys
typedef uint32_t ESYS_HANDLE;

typedef uint32_t (*Esys_Initialize_Function)(
    ESYS_CONTEXT **context, TSS2_TCTI_CONTEXT *tcti, TSS2_ABI_VERSION *version);
typedef void (*Esys_Finalize_Function)(ESYS_CONTEXT **context);
typedef void (*Esys_Free_Function)(void *memory);

typedef uint32_t (*Esys_TR_FromTPMPublic_Function)(
    ESYS_CONTEXT *context, TPM2_HANDLE handle, ESYS_HANDLE session1, ESYS_HANDLE session2, ESYS_HANDLE session3,
    ESYS_HANDLE *object);
typedef uint32_t (*Esys_TR_Close_Function)(ESYS_CONTEXT *context, ESYS_HANDLE *object);
typedef uint32_t (*Esys_TR_GetName_Function)(ESYS_CONTEXT *context, ESYS_HANDLE object, TPM2B_NAME **name);
typedef uint32_t (*Esys_TR_GetTpmHandle_Function)(ESYS_CONTEXT *context, ESYS_HANDLE object, TPM2_HANDLE *handle);
typedef uint32_t (*Esys_TRSess_SetAttributes_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE session, uint8_t flags, uint8_t mask);

typedef uint32_t (*Esys_Startup_Function)(ESYS_CONTEXT *context, uint16_t type);
typedef uint32_t (*Esys_Shutdown_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE session1, ESYS_HANDLE session2, ESYS_HANDLE session3, uint16_t type);
typedef uint32_t (*Esys_StartAuthSession_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE key, ESYS_HANDLE bind, ESYS_HANDLE session1, ESYS_HANDLE session2,
    ESYS_HANDLE session3, const TPM2B_NONCE *nonce, uint8_t type, const TPMT_SYM_DEF *symmetric, TPM2_ALG_ID hash,
    ESYS_HANDLE *session);
typedef uint32_t (*Esys_CreatePrimary_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE hierarchy, ESYS_HANDLE session1, ESYS_HANDLE session2, ESYS_HANDLE session3,
    const TPM2B_SENSITIVE_CREATE *sensitive, const TPM2B_PUBLIC *template, const TPM2B_DATA *outsideInfo,
    const TPML_PCR_SELECTION *registers, ESYS_HANDLE *object, TPM2B_PUBLIC **publicArea,
    TPM2B_CREATION_DATA **creationData, TPM2B_DIGEST **creationHash, TPMT_TK_CREATION **creationTicket);
typedef uint32_t (*Esys_Create_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE parent, ESYS_HANDLE session1, ESYS_HANDLE session2, ESYS_HANDLE session3,
    const TPM2B_SENSITIVE_CREATE *sensitive, const TPM2B_PUBLIC *template, const TPM2B_DATA *outsideInfo,
    const TPML_PCR_SELECTION *registers, TPM2B_PRIVATE **privateArea, TPM2B_PUBLIC **publicArea,
    TPM2B_CREATION_DATA **creationData, TPM2B_DIGEST **creationHash, TPMT_TK_CREATION **creationTicket);
typedef uint32_t (*Esys_FlushContext_Function)(ESYS_CONTEXT *context, ESYS_HANDLE object);
typedef uint32_t (*Esys_GetCapability_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE session1, ESYS_HANDLE session2, ESYS_HANDLE session3, uint32_t capability,
    uint32_t property, uint32_t count, uint8_t *more, TPMS_CAPABILITY_DATA **data);
typedef uint32_t (*Esys_DictionaryAttackParameters_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE lockout, ESYS_HANDLE session1, ESYS_HANDLE session2, ESYS_HANDLE session3,
    uint32_t tries, uint32_t recoveryTime, uint32_t lockoutRecovery);
typedef uint32_t (*Esys_HierarchyChangeAuth_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE hierarchy, ESYS_HANDLE session1, ESYS_HANDLE session2, ESYS_HANDLE session3,
    const TPM2B_AUTH *auth);
typedef uint32_t (*Esys_NV_DefineSpace_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE owner, ESYS_HANDLE session1, ESYS_HANDLE session2, ESYS_HANDLE session3,
    const TPM2B_AUTH *auth, const TPM2B_NV_PUBLIC *publicArea, ESYS_HANDLE *index);
typedef uint32_t (*Esys_NV_Increment_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE authorizer, ESYS_HANDLE index, ESYS_HANDLE session1, ESYS_HANDLE session2,
    ESYS_HANDLE session3);
typedef uint32_t (*Esys_NV_Read_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE authorizer, ESYS_HANDLE index, ESYS_HANDLE session1, ESYS_HANDLE session2,
    ESYS_HANDLE session3, uint16_t size, uint16_t offset, TPM2B_MAX_NV_BUFFER **data);
typedef uint32_t (*Esys_NV_ReadPublic_Function)(
    ESYS_CONTEXT *context, ESYS_HANDLE index, ESYS_HANDLE session1, ESYS_HANDLE session2, ESYS_HANDLE session3,
    TPM2B_NV_PUBLIC **publicArea, TPM2B_NAME **name);

#endif
