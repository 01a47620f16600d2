import CLibrary
import CTSS2
import SystemLibraries

/// The functions of the TPM2 Software Stack (tpm2-tss), loaded at the first use of a TPM. A vault without a TPM starts
/// without these libraries and their libcrypto. A machine without them runs everything else.
struct TSS: Sendable {
    let initializeTransport: TctiLdr_Initialize_Function
    let finalizeTransport: TctiLdr_Finalize_Function
    let decode: RC_Decode_Function
    let marshalPublic: MU_PUBLIC_Marshal_Function
    let unmarshalPublic: MU_PUBLIC_Unmarshal_Function

    let initialize: Esys_Initialize_Function
    let finalize: Esys_Finalize_Function
    let free: Esys_Free_Function
    let handle: Esys_TR_FromTPMPublic_Function
    let closeHandle: Esys_TR_Close_Function
    let name: Esys_TR_GetName_Function
    let number: Esys_TR_GetTpmHandle_Function
    let setSessionAttributes: Esys_TRSess_SetAttributes_Function
    let startup: Esys_Startup_Function
    let shutdown: Esys_Shutdown_Function
    let startSession: Esys_StartAuthSession_Function
    let createPrimary: Esys_CreatePrimary_Function
    let create: Esys_Create_Function
    let flush: Esys_FlushContext_Function
    let capability: Esys_GetCapability_Function
    let setLockoutParameters: Esys_DictionaryAttackParameters_Function
    let changeHierarchyAuthorization: Esys_HierarchyChangeAuth_Function
    let defineIndex: Esys_NV_DefineSpace_Function
    let incrementIndex: Esys_NV_Increment_Function
    let readIndex: Esys_NV_Read_Function
    let readIndexArea: Esys_NV_ReadPublic_Function

    static let loaded: Result<TSS, SystemLibraryError> = Result { () throws(SystemLibraryError) in try TSS() }

    private init() throws(SystemLibraryError) {
        // By default, the libraries write to standard error, even for a wrong passcode. They read this variable when
        // they are loaded. It does not disturb `getenv` in other threads: the first change of the environment leaves
        // the old array unchanged (setenv(3) of glibc), and this is done once.
        setenv("TSS2_LOG", "all+none", 0)
        let provides = "a TPM"
        let transport = try SystemLibrary("libtss2-tctildr.so.0", provides: provides)
        initializeTransport = try transport.function("Tss2_TctiLdr_Initialize")
        finalizeTransport = try transport.function("Tss2_TctiLdr_Finalize")
        decode = try SystemLibrary("libtss2-rc.so.0", provides: provides).function("Tss2_RC_Decode")
        let marshalling = try SystemLibrary("libtss2-mu.so.0", provides: provides)
        marshalPublic = try marshalling.function("Tss2_MU_TPM2B_PUBLIC_Marshal")
        unmarshalPublic = try marshalling.function("Tss2_MU_TPM2B_PUBLIC_Unmarshal")
        let system = try SystemLibrary("libtss2-esys.so.0", provides: provides)
        initialize = try system.function("Esys_Initialize")
        finalize = try system.function("Esys_Finalize")
        free = try system.function("Esys_Free")
        handle = try system.function("Esys_TR_FromTPMPublic")
        closeHandle = try system.function("Esys_TR_Close")
        name = try system.function("Esys_TR_GetName")
        number = try system.function("Esys_TR_GetTpmHandle")
        setSessionAttributes = try system.function("Esys_TRSess_SetAttributes")
        startup = try system.function("Esys_Startup")
        shutdown = try system.function("Esys_Shutdown")
        startSession = try system.function("Esys_StartAuthSession")
        createPrimary = try system.function("Esys_CreatePrimary")
        create = try system.function("Esys_Create")
        flush = try system.function("Esys_FlushContext")
        capability = try system.function("Esys_GetCapability")
        setLockoutParameters = try system.function("Esys_DictionaryAttackParameters")
        changeHierarchyAuthorization = try system.function("Esys_HierarchyChangeAuth")
        defineIndex = try system.function("Esys_NV_DefineSpace")
        incrementIndex = try system.function("Esys_NV_Increment")
        readIndex = try system.function("Esys_NV_Read")
        readIndexArea = try system.function("Esys_NV_ReadPublic")
    }
}
