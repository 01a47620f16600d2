// Gives each function type of this package the stack's function: a difference does not compile.
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tctildr.h>

// The stack's structures in the place of this package's.
#define KEYCHAIN_TPM2_H
#include "esys.h"

TctiLdr_Initialize_Function check_TctiLdr_Initialize = Tss2_TctiLdr_Initialize;
TctiLdr_Finalize_Function check_TctiLdr_Finalize = Tss2_TctiLdr_Finalize;
RC_Decode_Function check_RC_Decode = Tss2_RC_Decode;
MU_PUBLIC_Marshal_Function check_MU_PUBLIC_Marshal = Tss2_MU_TPM2B_PUBLIC_Marshal;
MU_PUBLIC_Unmarshal_Function check_MU_PUBLIC_Unmarshal = Tss2_MU_TPM2B_PUBLIC_Unmarshal;
Esys_Initialize_Function check_Esys_Initialize = Esys_Initialize;
Esys_Finalize_Function check_Esys_Finalize = Esys_Finalize;
Esys_Free_Function check_Esys_Free = Esys_Free;
Esys_TR_FromTPMPublic_Function check_Esys_TR_FromTPMPublic = Esys_TR_FromTPMPublic;
Esys_TR_Close_Function check_Esys_TR_Close = Esys_TR_Close;
Esys_TR_GetName_Function check_Esys_TR_GetName = Esys_TR_GetName;
Esys_TR_GetTpmHandle_Function check_Esys_TR_GetTpmHandle = Esys_TR_GetTpmHandle;
Esys_TRSess_SetAttributes_Function check_Esys_TRSess_SetAttributes = Esys_TRSess_SetAttributes;
Esys_Startup_Function check_Esys_Startup = Esys_Startup;
Esys_Shutdown_Function check_Esys_Shutdown = Esys_Shutdown;
Esys_StartAuthSession_Function check_Esys_StartAuthSession = Esys_StartAuthSession;
Esys_CreatePrimary_Function check_Esys_CreatePrimary = Esys_CreatePrimary;
Esys_Create_Function check_Esys_Create = Esys_Create;
Esys_FlushContext_Function check_Esys_FlushContext = Esys_FlushContext;
Esys_GetCapability_Function check_Esys_GetCapability = Esys_GetCapability;
Esys_DictionaryAttackParameters_Function check_Esys_DictionaryAttackParameters = Esys_DictionaryAttackParameters;
Esys_HierarchyChangeAuth_Function check_Esys_HierarchyChangeAuth = Esys_HierarchyChangeAuth;
Esys_NV_DefineSpace_Function check_Esys_NV_DefineSpace = Esys_NV_DefineSpace;
Esys_NV_Increment_Function check_Esys_NV_Increment = Esys_NV_Increment;
Esys_NV_Read_Function check_Esys_NV_Read = Esys_NV_Read;
Esys_NV_ReadPublic_Function check_Esys_NV_ReadPublic = Esys_NV_ReadPublic;

_Static_assert(
    offsetof(TCTI_CONTEXT_COMMON, getPollHandles) == offsetof(TSS2_TCTI_CONTEXT_COMMON_V1, getPollHandles),
    "where the handles to wait on are");
_Static_assert(offsetof(TCTI_CONTEXT_COMMON, transmit) == offsetof(TSS2_TCTI_CONTEXT_COMMON_V1, transmit), "sending");
_Static_assert(offsetof(TCTI_CONTEXT_COMMON, receive) == offsetof(TSS2_TCTI_CONTEXT_COMMON_V1, receive), "receiving");
_Static_assert(
    __builtin_types_compatible_p(
        __typeof__(((TCTI_CONTEXT_COMMON *)0)->transmit), __typeof__(((TSS2_TCTI_CONTEXT_COMMON_V1 *)0)->transmit)),
    "how to send");
_Static_assert(
    __builtin_types_compatible_p(
        __typeof__(((TCTI_CONTEXT_COMMON *)0)->receive), __typeof__(((TSS2_TCTI_CONTEXT_COMMON_V1 *)0)->receive)),
    "how to receive");
_Static_assert(sizeof(TSS2_TCTI_POLL_HANDLE) == sizeof(struct pollfd), "what is waited on");
