// Status codes of the keychain itself: what `SecItem` and its kin return. The numbers are those of Apple's SecBase.h.

/// No error.
public let errSecSuccess: OSStatus = 0
/// The function or operation is not implemented.
public let errSecUnimplemented: OSStatus = -4
/// The disk has no room left.
public let errSecDiskFull: OSStatus = -34
/// Another spelling of ``errSecDiskFull``.
public let errSecDskFull: OSStatus = errSecDiskFull
/// Reading or writing failed.
public let errSecIO: OSStatus = -36
/// The file is already open for writing.
public let errSecOpWr: OSStatus = -49
/// A parameter is not valid.
public let errSecParam: OSStatus = -50
/// Writing is not permitted.
public let errSecWrPerm: OSStatus = -61
/// Memory could not be allocated.
public let errSecAllocate: OSStatus = -108
/// The user cancelled the operation.
public let errSecUserCanceled: OSStatus = -128
/// The request is not valid, or not valid in this state.
public let errSecBadReq: OSStatus = -909
/// A component failed internally.
public let errSecInternalComponent: OSStatus = -2070
/// A Core Foundation error of unknown kind occurred.
public let errSecCoreFoundationUnknown: OSStatus = -4960
/// The access control list is not of the simple form.
public let errSecACLNotSimple: OSStatus = -25240
/// The policy was not found.
public let errSecPolicyNotFound: OSStatus = -25241
/// The trust setting is not valid.
public let errSecInvalidTrustSetting: OSStatus = -25242
/// The item has no access control.
public let errSecNoAccessForItem: OSStatus = -25243
/// The owner of the item cannot be changed this way.
public let errSecInvalidOwnerEdit: OSStatus = -25244
/// There are no trust results.
public let errSecTrustNotAvailable: OSStatus = -25245
/// The format is not supported for import or export.
public let errSecUnsupportedFormat: OSStatus = -25256
/// The format of the data to import is not known.
public let errSecUnknownFormat: OSStatus = -25257
/// The key may be exported in wrapped form only.
public let errSecKeyIsSensitive: OSStatus = -25258
/// More than one private key was to be imported.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// Import or export needs a passphrase.
public let errSecPassphraseRequired: OSStatus = -25260
/// The password reference is not valid.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// The trust settings are damaged.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// There are no trust settings.
public let errSecNoTrustSettings: OSStatus = -25263
/// The PKCS#12 data failed authentication; the passphrase may be wrong.
public let errSecPkcs12VerifyFailure: OSStatus = -25264
/// The keychain, or the key that protects the item, is not available.
public let errSecNotAvailable: OSStatus = -25291
/// The keychain cannot be changed.
public let errSecReadOnly: OSStatus = -25292
/// Authentication failed.
public let errSecAuthFailed: OSStatus = -25293
/// There is no such keychain.
public let errSecNoSuchKeychain: OSStatus = -25294
/// The keychain is not valid.
public let errSecInvalidKeychain: OSStatus = -25295
/// A keychain of this name exists already.
public let errSecDuplicateKeychain: OSStatus = -25296
/// The callback is installed already.
public let errSecDuplicateCallback: OSStatus = -25297
/// The callback is not valid.
public let errSecInvalidCallback: OSStatus = -25298
/// The item exists in the keychain already.
public let errSecDuplicateItem: OSStatus = -25299
/// No such item was found in the keychain.
public let errSecItemNotFound: OSStatus = -25300
/// The buffer is too small.
public let errSecBufferTooSmall: OSStatus = -25301
/// The data is too large, or of a format that cannot be shown.
public let errSecDataTooLarge: OSStatus = -25302
/// The attribute does not exist for this class of items.
public let errSecNoSuchAttr: OSStatus = -25303
/// The item reference is not valid; the item may have been deleted.
public let errSecInvalidItemRef: OSStatus = -25304
/// The search reference is not valid.
public let errSecInvalidSearchRef: OSStatus = -25305
/// There is no such class of items.
public let errSecNoSuchClass: OSStatus = -25306
/// There is no default keychain.
public let errSecNoDefaultKeychain: OSStatus = -25307
/// Interaction with the user is not allowed, or the keychain is locked.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// The attribute cannot be changed.
public let errSecReadOnlyAttr: OSStatus = -25309
/// The keychain is of a version that cannot be opened.
public let errSecWrongSecVersion: OSStatus = -25310
/// The key size is not allowed.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// The storage module is missing.
public let errSecNoStorageModule: OSStatus = -25312
/// The certificate module is missing.
public let errSecNoCertificateModule: OSStatus = -25313
/// The policy module is missing.
public let errSecNoPolicyModule: OSStatus = -25314
/// Interaction with the user is required.
public let errSecInteractionRequired: OSStatus = -25315
/// The data is not available.
public let errSecDataNotAvailable: OSStatus = -25316
/// The data cannot be changed.
public let errSecDataNotModifiable: OSStatus = -25317
/// No certificate chain could be built.
public let errSecCreateChainFailed: OSStatus = -25318
/// The preferences domain is not valid.
public let errSecInvalidPrefsDomain: OSStatus = -25319
/// No user interface is possible while the display sleeps.
public let errSecInDarkWake: OSStatus = -25320
/// The certificate was not signed by the proposed issuer.
public let errSecNotSigner: OSStatus = -26267
/// The data could not be decoded.
public let errSecDecode: OSStatus = -26275
/// An internal failure; not part of Apple's public header, but returned by public functions.
package let errSecInternal: OSStatus = -26276
/// The program does not hold the access group or entitlement this needs.
public let errSecMissingEntitlement: OSStatus = -34018
/// The program is restricted and may not do this.
public let errSecRestrictedAPI: OSStatus = -34020

extension StatusMessages {
    static let keychain: [OSStatus: String] = [
        errSecSuccess: "No error.",
        errSecUnimplemented: "The function or operation is not implemented.",
        errSecDiskFull: "The disk has no room left.",
        errSecIO: "Reading or writing failed.",
        errSecOpWr: "The file is already open for writing.",
        errSecParam: "A parameter is not valid.",
        errSecWrPerm: "Writing is not permitted.",
        errSecAllocate: "Memory could not be allocated.",
        errSecUserCanceled: "The user cancelled the operation.",
        errSecBadReq: "The request is not valid, or not valid in this state.",
        errSecInternalComponent: "A component failed internally.",
        errSecCoreFoundationUnknown: "A Core Foundation error of unknown kind occurred.",
        errSecACLNotSimple: "The access control list is not of the simple form.",
        errSecPolicyNotFound: "The policy was not found.",
        errSecInvalidTrustSetting: "The trust setting is not valid.",
        errSecNoAccessForItem: "The item has no access control.",
        errSecInvalidOwnerEdit: "The owner of the item cannot be changed this way.",
        errSecTrustNotAvailable: "There are no trust results.",
        errSecUnsupportedFormat: "The format is not supported for import or export.",
        errSecUnknownFormat: "The format of the data to import is not known.",
        errSecKeyIsSensitive: "The key may be exported in wrapped form only.",
        errSecMultiplePrivKeys: "More than one private key was to be imported.",
        errSecPassphraseRequired: "Import or export needs a passphrase.",
        errSecInvalidPasswordRef: "The password reference is not valid.",
        errSecInvalidTrustSettings: "The trust settings are damaged.",
        errSecNoTrustSettings: "There are no trust settings.",
        errSecPkcs12VerifyFailure: "The PKCS#12 data failed authentication; the passphrase may be wrong.",
        errSecNotAvailable: "The keychain, or the key that protects the item, is not available.",
        errSecReadOnly: "The keychain cannot be changed.",
        errSecAuthFailed: "Authentication failed.",
        errSecNoSuchKeychain: "There is no such keychain.",
        errSecInvalidKeychain: "The keychain is not valid.",
        errSecDuplicateKeychain: "A keychain of this name exists already.",
        errSecDuplicateCallback: "The callback is installed already.",
        errSecInvalidCallback: "The callback is not valid.",
        errSecDuplicateItem: "The item exists in the keychain already.",
        errSecItemNotFound: "No such item was found in the keychain.",
        errSecBufferTooSmall: "The buffer is too small.",
        errSecDataTooLarge: "The data is too large, or of a format that cannot be shown.",
        errSecNoSuchAttr: "The attribute does not exist for this class of items.",
        errSecInvalidItemRef: "The item reference is not valid; the item may have been deleted.",
        errSecInvalidSearchRef: "The search reference is not valid.",
        errSecNoSuchClass: "There is no such class of items.",
        errSecNoDefaultKeychain: "There is no default keychain.",
        errSecInteractionNotAllowed: "Interaction with the user is not allowed, or the keychain is locked.",
        errSecReadOnlyAttr: "The attribute cannot be changed.",
        errSecWrongSecVersion: "The keychain is of a version that cannot be opened.",
        errSecKeySizeNotAllowed: "The key size is not allowed.",
        errSecNoStorageModule: "The storage module is missing.",
        errSecNoCertificateModule: "The certificate module is missing.",
        errSecNoPolicyModule: "The policy module is missing.",
        errSecInteractionRequired: "Interaction with the user is required.",
        errSecDataNotAvailable: "The data is not available.",
        errSecDataNotModifiable: "The data cannot be changed.",
        errSecCreateChainFailed: "No certificate chain could be built.",
        errSecInvalidPrefsDomain: "The preferences domain is not valid.",
        errSecInDarkWake: "No user interface is possible while the display sleeps.",
        errSecNotSigner: "The certificate was not signed by the proposed issuer.",
        errSecDecode: "The data could not be decoded.",
        errSecMissingEntitlement: "The program does not hold the access group or entitlement this needs.",
        errSecRestrictedAPI: "The program is restricted and may not do this.",
        errSecInternal: "An internal failure occurred.",
    ]
}
