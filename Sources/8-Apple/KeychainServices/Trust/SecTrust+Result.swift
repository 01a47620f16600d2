import Certificates
import Foundation

/// What an older evaluation on a queue calls.
public typealias SecTrustCallback = (SecTrust, SecTrustResultType) -> Void

/// What an evaluation on a queue calls: with the question, whether the certificate is to be trusted, and why not.
public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

/// What an evaluation found, as a dictionary; evaluates if need be.
///
/// - Returns: A dictionary with ``kSecTrustResultValue`` and ``kSecTrustEvaluationDate``;
///   ``kSecTrustRevocationChecked`` if somebody said of each certificate whether it is revoked, and then
///   ``kSecTrustRevocationValidUntilDate`` if the answers end; ``kSecTrustCertificateTransparency`` if enough of
///   the logs that the program named list the certificate.
@discardableResult
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
    let answer = trust.answer()
    var result: [String: Any] = [
        kSecTrustResultValue.description: NSNumber(value: answer.result.rawValue),
        kSecTrustEvaluationDate.description: answer.date as NSDate,
    ]
    if answer.revocation?.isChecked == true {
        result[kSecTrustRevocationChecked.description] = NSNumber(value: true)
        result[kSecTrustRevocationValidUntilDate.description] = answer.revocation?.end.map { $0 as NSDate }
    }
    if answer.isListed { result[kSecTrustCertificateTransparency.description] = NSNumber(value: true) }
    return result as NSDictionary
}

/// Why a certificate is not trusted, for people; evaluates if need be. Deprecated by Apple in favour of the error of
/// ``SecTrustEvaluateWithError(_:_:)``.
///
/// - Returns: `nil` if the certificate is trusted. Otherwise an array of one dictionary: the certificate's name under
///   ``kSecPropertyTypeTitle``, and the reason both under ``kSecPropertyTypeError``, as Apple's header says, and under
///   `value`, beside the `type` ``kSecPropertyTypeError``, where iOS puts it.
@discardableResult
public func SecTrustCopyProperties(_ trust: SecTrust) -> CFArray? {
    let answer = trust.answer()
    guard let reason = answer.error?.localizedDescription else { return nil }
    let property: [String: String] = [
        kSecPropertyTypeTitle.description: answer.chain.first?.certificate.subjectSummary ?? "",
        kSecPropertyTypeError.description: reason,
        "type": kSecPropertyTypeError.description,
        "value": reason,
    ]
    return [property] as NSArray
}

// Safe to share between threads for the reason that Constants+Class.swift gives. The values are those of SecTrust.c and
// SecCertificate.c (Apple, Security-61901).

/// The key of a certificate's name in what ``SecTrustCopyProperties(_:)`` returns. String.
nonisolated(unsafe) public let kSecPropertyTypeTitle: CFString = "title"
/// The key of the reason for which a certificate is not trusted. String.
nonisolated(unsafe) public let kSecPropertyTypeError: CFString = "error"

/// The key of the moment for which the certificate was evaluated. Date.
nonisolated(unsafe) public let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"
/// The key of whether the path has extended validation. Never set here.
nonisolated(unsafe) public let kSecTrustExtendedValidation: CFString = "TrustExtendedValidation"
/// The key of the organisation that owns the certificate, after extended validation. Never set here.
nonisolated(unsafe) public let kSecTrustOrganizationName: CFString = "Organization"
/// The key of a ``SecTrustResultType`` by its number.
nonisolated(unsafe) public let kSecTrustResultValue: CFString = "TrustResultValue"
/// The key of whether revocation was checked. Boolean; only set if it was.
nonisolated(unsafe) public let kSecTrustRevocationChecked: CFString = "TrustRevocationChecked"
/// The key of the moment until which what was found about revocation holds. Date.
nonisolated(unsafe) public let kSecTrustRevocationValidUntilDate: CFString = "TrustExpirationDate"
/// The key of whether public logs list the certificate (RFC 6962). Boolean; only set if they do.
nonisolated(unsafe) public let kSecTrustCertificateTransparency: CFString = "TrustCertificateTransparency"
/// The key of whether a list excuses the certificate from public logs. Deprecated by Apple; never set here.
nonisolated(unsafe) public let kSecTrustCertificateTransparencyWhiteList: CFString =
    "TrustCertificateTransparencyWhiteList"
/// The key of a certificate's qualified statements, for people (ETSI EN 319 412-5). Never set here.
nonisolated(unsafe) public let kSecTrustQCStatements: CFString = "TrustQCStatements"
/// The key of whether the certificate is a qualified one for web sites. Never set here.
nonisolated(unsafe) public let kSecTrustQWACValidation: CFString = "TrustQWACValidation"
