import StatusCodes

/// What status codes mean, in the words of macOS, which scripts look for.
enum SecurityWords {
    static func text(for status: Int32) -> String { words[status] ?? StatusMessages.text(for: status) }

    private static let words: [Int32: String] = [
        errSecSuccess: "No error.",
        errSecUnimplemented: "Function or operation not implemented.",
        errSecParam: "One or more parameters passed to a function were not valid.",
        errSecUserCanceled: "User canceled the operation.",
        errSecAuthFailed: "The user name or passphrase you entered is not correct.",
        errSecNoSuchKeychain: "The specified keychain could not be found.",
        errSecDuplicateKeychain: "A keychain with the same name already exists.",
        errSecDuplicateItem: "The specified item already exists in the keychain.",
        errSecItemNotFound: "The specified item could not be found in the keychain.",
        errSecNoDefaultKeychain: "A default keychain could not be found.",
        errSecInteractionNotAllowed: "User interaction is not allowed.",
        errSecDecode: "Unable to decode the provided data.",
        errSecUnknownFormat: "Unknown format in import.",
        errSecPkcs12VerifyFailure: "MAC verification failed during PKCS12 import (wrong password?)",
        errSecNotAvailable: "No keychain is available. You may need to restart your computer.",
        errSecInvalidTrustSettings: "The trust settings record was corrupted.",
        errSecNoTrustSettings: "No Trust Settings were found.",
    ]
}
