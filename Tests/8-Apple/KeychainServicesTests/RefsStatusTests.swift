import Foundation
import Testing

@testable import KeychainServices

@Suite("Status codes")
struct RefsStatusTests {
    /// Apple's SecBase.h; the first and last code of each run, so that a slip in the middle shows.
    private static let numbers: [(OSStatus, OSStatus)] = [
        (errSecSuccess, 0), (errSecUnimplemented, -4), (errSecIO, -36), (errSecParam, -50), (errSecAllocate, -108),
        (errSecUserCanceled, -128), (errSecBadReq, -909), (errSecMissingEntitlement, -34018),
        (errSecRestrictedAPI, -34020), (errSecNotAvailable, -25291), (errSecAuthFailed, -25293),
        (errSecDuplicateItem, -25299), (errSecItemNotFound, -25300), (errSecNoSuchAttr, -25303),
        (errSecNoSuchClass, -25306), (errSecInteractionNotAllowed, -25308), (errSecInDarkWake, -25320),
        (errSecACLNotSimple, -25240), (errSecTrustNotAvailable, -25245), (errSecUnsupportedFormat, -25256),
        (errSecPkcs12VerifyFailure, -25264), (errSecNotSigner, -26267), (errSecDecode, -26275),
        (errSecServiceNotAvailable, -67585), (errSecMobileMeFailedConsistencyCheck, -67666),
        (errSecNotInitialized, -67667), (errSecInvalidAlgorithm, -67747), (errSecInvalidAttributeKey, -67748),
        (errSecMissingAttributeWrappedKeyFormat, -67805), (errSecVerifyFailed, -67808),
        (errSecInvalidCRLAuthority, -67827), (errSecInvalidTupleCredentials, -67852),
        (errSecSigningTimeMissing, -67894), (errSecMissingQualifiedCertStatement, -67904),
    ]

    @Test(arguments: numbers)
    func numbersAreApples(status: OSStatus, number: OSStatus) {
        #expect(status == number)
    }

    @Test func everyCodeOfTheLargeFamilyHasItsOwnMessage() {
        let texts = (-67904...(-67585)).map { SecCopyErrorMessageString($0, nil).map { $0 as String } }
        #expect(texts.allSatisfy { $0?.hasSuffix(".") == true })
    }

    @Test func everyCodeOfTLSHasItsOwnMessage() {
        let codes = Array(-9865...(-9800)) + Array(-9886...(-9880)) + [errSSLEarlyDataRejected]
        let texts = codes.map { SecCopyErrorMessageString($0, nil).map { $0 as String } }
        #expect(texts.count == 74 && Set(texts).count == 74)
        #expect(texts.allSatisfy { $0?.hasSuffix(".") == true })
    }

    @Test func messages() {
        #expect(SecCopyErrorMessageString(errSecItemNotFound, nil) == "No such item was found in the keychain.")
        #expect(SecCopyErrorMessageString(4711, nil) == "OSStatus 4711")
        #expect(SecCopyErrorMessageString(.min, nil) == "OSStatus -2147483648")
    }
}
