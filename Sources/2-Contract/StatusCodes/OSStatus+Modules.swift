// Status codes of the modules underneath: handles, keys, lists and callbacks. The numbers are those of Apple's
// SecBase.h.

/// The security module was not initialised.
public let errSecNotInitialized: OSStatus = -67667
/// The handle is of the wrong kind for this service.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// The calling module is not among the authorised callers.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// A function lies outside the verified module.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// An internal error occurred.
public let errSecInternalError: OSStatus = -67671
/// A memory error occurred.
public let errSecMemoryError: OSStatus = -67672
/// The data is not valid.
public let errSecInvalidData: OSStatus = -67673
/// The module directory service failed.
public let errSecMDSError: OSStatus = -67674
/// A pointer is not valid.
public let errSecInvalidPointer: OSStatus = -67675
/// The self-check failed.
public let errSecSelfCheckFailed: OSStatus = -67676
/// The function failed.
public let errSecFunctionFailed: OSStatus = -67677
/// The module's manifest could not be verified.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
/// A module identifier is not valid.
public let errSecInvalidGUID: OSStatus = -67679
/// A handle is not valid.
public let errSecInvalidHandle: OSStatus = -67680
/// A list of databases is not valid.
public let errSecInvalidDBList: OSStatus = -67681
/// A passthrough identifier is not valid.
public let errSecInvalidPassthroughID: OSStatus = -67682
/// A network address is not valid.
public let errSecInvalidNetworkAddress: OSStatus = -67683
/// The certificate revocation list is signed already.
public let errSecCRLAlreadySigned: OSStatus = -67684
/// The number of fields is not valid.
public let errSecInvalidNumberOfFields: OSStatus = -67685
/// Verification failed.
public let errSecVerificationFailure: OSStatus = -67686
/// A tag is not known.
public let errSecUnknownTag: OSStatus = -67687
/// The signature is not valid.
public let errSecInvalidSignature: OSStatus = -67688
/// The name is not valid.
public let errSecInvalidName: OSStatus = -67689
/// The certificate reference is not valid.
public let errSecInvalidCertificateRef: OSStatus = -67690
/// The certificate group is not valid.
public let errSecInvalidCertificateGroup: OSStatus = -67691
/// The tag was not found.
public let errSecTagNotFound: OSStatus = -67692
/// The query is not valid.
public let errSecInvalidQuery: OSStatus = -67693
/// The value is not valid.
public let errSecInvalidValue: OSStatus = -67694
/// A callback failed.
public let errSecCallbackFailed: OSStatus = -67695
/// The access control list entry could not be deleted.
public let errSecACLDeleteFailed: OSStatus = -67696
/// The access control list entry could not be replaced.
public let errSecACLReplaceFailed: OSStatus = -67697
/// The access control list entry could not be added.
public let errSecACLAddFailed: OSStatus = -67698
/// The access control list could not be changed.
public let errSecACLChangeFailed: OSStatus = -67699
/// The access credentials are not valid.
public let errSecInvalidAccessCredentials: OSStatus = -67700
/// The record is not valid.
public let errSecInvalidRecord: OSStatus = -67701
/// The access control list is not valid.
public let errSecInvalidACL: OSStatus = -67702
/// A sample value is not valid.
public let errSecInvalidSampleValue: OSStatus = -67703
/// The version is not compatible.
public let errSecIncompatibleVersion: OSStatus = -67704
/// The privilege was not granted.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// The scope is not valid.
public let errSecInvalidScope: OSStatus = -67706
/// Pointer validation is configured already.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// The pointer validation setting is not valid.
public let errSecInvalidPVC: OSStatus = -67708
/// The elective module manager could not be loaded.
public let errSecEMMLoadFailed: OSStatus = -67709
/// The elective module manager could not be unloaded.
public let errSecEMMUnloadFailed: OSStatus = -67710
/// The add-in could not be loaded.
public let errSecAddinLoadFailed: OSStatus = -67711
/// The key reference is not valid.
public let errSecInvalidKeyRef: OSStatus = -67712
/// The key hierarchy is not valid.
public let errSecInvalidKeyHierarchy: OSStatus = -67713
/// The add-in could not be unloaded.
public let errSecAddinUnloadFailed: OSStatus = -67714
/// The library reference was not found.
public let errSecLibraryReferenceNotFound: OSStatus = -67715
/// The function table of the add-in is not valid.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// The service mask is not valid.
public let errSecInvalidServiceMask: OSStatus = -67717
/// The module is not loaded.
public let errSecModuleNotLoaded: OSStatus = -67718
/// The subservice identifier is not valid.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// The context lacks an attribute.
public let errSecAttributeNotInContext: OSStatus = -67720
/// The module manager could not be initialised.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// The module manager was not found.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// The callback for event notifications was not found.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723
/// The input has the wrong length.
public let errSecInputLengthError: OSStatus = -67724
/// The output has the wrong length.
public let errSecOutputLengthError: OSStatus = -67725
/// The privilege is not supported.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// The device reported an error.
public let errSecDeviceError: OSStatus = -67727
/// The handle is busy.
public let errSecAttachHandleBusy: OSStatus = -67728
/// Nobody is logged in.
public let errSecNotLoggedIn: OSStatus = -67729
/// The algorithms do not match.
public let errSecAlgorithmMismatch: OSStatus = -67730
/// The key may not be used for this.
public let errSecKeyUsageIncorrect: OSStatus = -67731
/// The key blob is of the wrong type.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
/// The key header contradicts itself.
public let errSecKeyHeaderInconsistent: OSStatus = -67733
/// The key format is not supported.
public let errSecUnsupportedKeyFormat: OSStatus = -67734
/// The key size is not supported.
public let errSecUnsupportedKeySize: OSStatus = -67735
/// The key usage mask is not valid.
public let errSecInvalidKeyUsageMask: OSStatus = -67736
/// The key usage mask is not supported.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
/// The key attribute mask is not valid.
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
/// The key attribute mask is not supported.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
/// The key label is not valid.
public let errSecInvalidKeyLabel: OSStatus = -67740
/// The key label is not supported.
public let errSecUnsupportedKeyLabel: OSStatus = -67741
/// The key format is not valid.
public let errSecInvalidKeyFormat: OSStatus = -67742
/// A vector of buffers is not supported.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
/// The input vector is not valid.
public let errSecInvalidInputVector: OSStatus = -67744
/// The output vector is not valid.
public let errSecInvalidOutputVector: OSStatus = -67745
/// The context is not valid.
public let errSecInvalidContext: OSStatus = -67746
/// The algorithm is not valid.
public let errSecInvalidAlgorithm: OSStatus = -67747

extension StatusMessages {
    static let modules: [OSStatus: String] = [
        errSecNotInitialized: "The security module was not initialised.",
        errSecInvalidHandleUsage: "The handle is of the wrong kind for this service.",
        errSecPVCReferentNotFound: "The calling module is not among the authorised callers.",
        errSecFunctionIntegrityFail: "A function lies outside the verified module.",
        errSecInternalError: "An internal error occurred.",
        errSecMemoryError: "A memory error occurred.",
        errSecInvalidData: "The data is not valid.",
        errSecMDSError: "The module directory service failed.",
        errSecInvalidPointer: "A pointer is not valid.",
        errSecSelfCheckFailed: "The self-check failed.",
        errSecFunctionFailed: "The function failed.",
        errSecModuleManifestVerifyFailed: "The module's manifest could not be verified.",
        errSecInvalidGUID: "A module identifier is not valid.",
        errSecInvalidHandle: "A handle is not valid.",
        errSecInvalidDBList: "A list of databases is not valid.",
        errSecInvalidPassthroughID: "A passthrough identifier is not valid.",
        errSecInvalidNetworkAddress: "A network address is not valid.",
        errSecCRLAlreadySigned: "The certificate revocation list is signed already.",
        errSecInvalidNumberOfFields: "The number of fields is not valid.",
        errSecVerificationFailure: "Verification failed.",
        errSecUnknownTag: "A tag is not known.",
        errSecInvalidSignature: "The signature is not valid.",
        errSecInvalidName: "The name is not valid.",
        errSecInvalidCertificateRef: "The certificate reference is not valid.",
        errSecInvalidCertificateGroup: "The certificate group is not valid.",
        errSecTagNotFound: "The tag was not found.",
        errSecInvalidQuery: "The query is not valid.",
        errSecInvalidValue: "The value is not valid.",
        errSecCallbackFailed: "A callback failed.",
        errSecACLDeleteFailed: "The access control list entry could not be deleted.",
        errSecACLReplaceFailed: "The access control list entry could not be replaced.",
        errSecACLAddFailed: "The access control list entry could not be added.",
        errSecACLChangeFailed: "The access control list could not be changed.",
        errSecInvalidAccessCredentials: "The access credentials are not valid.",
        errSecInvalidRecord: "The record is not valid.",
        errSecInvalidACL: "The access control list is not valid.",
        errSecInvalidSampleValue: "A sample value is not valid.",
        errSecIncompatibleVersion: "The version is not compatible.",
        errSecPrivilegeNotGranted: "The privilege was not granted.",
        errSecInvalidScope: "The scope is not valid.",
        errSecPVCAlreadyConfigured: "Pointer validation is configured already.",
        errSecInvalidPVC: "The pointer validation setting is not valid.",
        errSecEMMLoadFailed: "The elective module manager could not be loaded.",
        errSecEMMUnloadFailed: "The elective module manager could not be unloaded.",
        errSecAddinLoadFailed: "The add-in could not be loaded.",
        errSecInvalidKeyRef: "The key reference is not valid.",
        errSecInvalidKeyHierarchy: "The key hierarchy is not valid.",
        errSecAddinUnloadFailed: "The add-in could not be unloaded.",
        errSecLibraryReferenceNotFound: "The library reference was not found.",
        errSecInvalidAddinFunctionTable: "The function table of the add-in is not valid.",
        errSecInvalidServiceMask: "The service mask is not valid.",
        errSecModuleNotLoaded: "The module is not loaded.",
        errSecInvalidSubServiceID: "The subservice identifier is not valid.",
        errSecAttributeNotInContext: "The context lacks an attribute.",
        errSecModuleManagerInitializeFailed: "The module manager could not be initialised.",
        errSecModuleManagerNotFound: "The module manager was not found.",
        errSecEventNotificationCallbackNotFound: "The callback for event notifications was not found.",
        errSecInputLengthError: "The input has the wrong length.",
        errSecOutputLengthError: "The output has the wrong length.",
        errSecPrivilegeNotSupported: "The privilege is not supported.",
        errSecDeviceError: "The device reported an error.",
        errSecAttachHandleBusy: "The handle is busy.",
        errSecNotLoggedIn: "Nobody is logged in.",
        errSecAlgorithmMismatch: "The algorithms do not match.",
        errSecKeyUsageIncorrect: "The key may not be used for this.",
        errSecKeyBlobTypeIncorrect: "The key blob is of the wrong type.",
        errSecKeyHeaderInconsistent: "The key header contradicts itself.",
        errSecUnsupportedKeyFormat: "The key format is not supported.",
        errSecUnsupportedKeySize: "The key size is not supported.",
        errSecInvalidKeyUsageMask: "The key usage mask is not valid.",
        errSecUnsupportedKeyUsageMask: "The key usage mask is not supported.",
        errSecInvalidKeyAttributeMask: "The key attribute mask is not valid.",
        errSecUnsupportedKeyAttributeMask: "The key attribute mask is not supported.",
        errSecInvalidKeyLabel: "The key label is not valid.",
        errSecUnsupportedKeyLabel: "The key label is not supported.",
        errSecInvalidKeyFormat: "The key format is not valid.",
        errSecUnsupportedVectorOfBuffers: "A vector of buffers is not supported.",
        errSecInvalidInputVector: "The input vector is not valid.",
        errSecInvalidOutputVector: "The output vector is not valid.",
        errSecInvalidContext: "The context is not valid.",
        errSecInvalidAlgorithm: "The algorithm is not valid.",
    ]
}
