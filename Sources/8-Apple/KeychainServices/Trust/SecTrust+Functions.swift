import Foundation
import Synchronization

/// The type of trust objects.
@discardableResult
public func SecTrustGetTypeID() -> CFTypeID { coreFoundationTypeID(of: SecTrust.self) }

/// A question whether a certificate can be trusted.
///
/// - Parameters:
///   - certificates: The certificate, or an array whose first it is; the others may help to find a path.
///   - policies: A policy or an array of them, all to be fulfilled; `nil` for ``SecPolicyCreateBasicX509()``.
///   - trust: Where the object is stored.
/// - Returns: ``errSecSuccess``, or ``errSecParam`` if an argument is neither.
@discardableResult
public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    trust.pointee = nil
    guard let certificates = list(of: SecCertificate.self, in: certificates), !certificates.isEmpty,
        let policies = policies.map({ list(of: SecPolicy.self, in: $0) }) ?? [SecPolicyCreateBasicX509()]
    else { return errSecParam }
    trust.pointee = SecTrust(certificates: certificates, policies: policies)
    return errSecSuccess
}

/// Sets the policies, as in ``SecTrustCreateWithCertificates(_:_:_:)``.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    guard let policies = list(of: SecPolicy.self, in: policies), !policies.isEmpty else { return errSecParam }
    trust.change { $0.policies = policies }
    return errSecSuccess
}

/// The policies.
@discardableResult
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    policies.pointee = trust.state.withLock { $0.policies } as NSArray
    return errSecSuccess
}

/// Sets the certificates that are trusted from the start, in the place of the system's.
///
/// - Parameter anchorCertificates: Any certificates, self-signed or not; an empty array trusts none, and `nil` the
///   system's again.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    var anchors: [SecCertificate]?
    if let anchorCertificates {
        guard let list = list(of: SecCertificate.self, in: anchorCertificates) else { return errSecParam }
        anchors = list
    }
    trust.change { state in
        state.anchors = anchors
        state.anchorsOnly = anchors != nil
    }
    return errSecSuccess
}

/// Sets whether only the anchors that were set are trusted, even if there are none. With false, the system's are
/// trusted too.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change { $0.anchorsOnly = anchorCertificatesOnly }
    return errSecSuccess
}

/// The anchors that were set; `nil` if none were.
@discardableResult
public func SecTrustCopyCustomAnchorCertificates(
    _ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    anchors.pointee = trust.state.withLock { $0.anchors }.map { $0 as NSArray }
    return errSecSuccess
}

/// Sets the moment at which the certificates must be valid; without, it is that of the evaluation.
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    trust.change { $0.date = verifyDate as Date }
    return errSecSuccess
}

/// The moment at which the certificates must be valid, in seconds since the beginning of 2001.
@discardableResult
public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime {
    (trust.state.withLock { $0.date } ?? Date()).timeIntervalSinceReferenceDate
}

/// Evaluates a certificate.
///
/// Waits for the answers of servers if a policy asks for revocation (``SecPolicyCreateRevocation(_:)``) or if missing
/// certificates may be fetched (``SecTrustSetNetworkFetchAllowed(_:_:)``). Otherwise no request goes out.
///
/// - Parameter error: Where the reason is stored: in the domain `NSOSStatusErrorDomain`, with a code such as
///   ``errSecCertificateExpired``, ``errSecHostNameMismatch`` or ``errSecNotTrusted``.
/// - Returns: Whether the certificate is to be trusted.
@discardableResult
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let answer = trust.answer()
    error?.pointee = answer.error
    return answer.isTrusted
}

/// Evaluates a certificate; the older form of ``SecTrustEvaluateWithError(_:_:)``.
///
/// - Parameter result: Where the finding is stored; ``SecTrustResultType/unspecified`` and
///   ``SecTrustResultType/proceed`` mean that it is to be trusted.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.answer().result
    return errSecSuccess
}

/// The finding of the last evaluation; ``SecTrustResultType/invalid`` if there was none since the last change.
@discardableResult
public func SecTrustGetTrustResult(
    _ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus {
    result.pointee = trust.state.withLock { $0.answer }?.result ?? .invalid
    return errSecSuccess
}

/// The path that was found, the certificate in question first; evaluates if need be.
@discardableResult
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { trust.answer().chain as NSArray }

/// The length of the path that was found; evaluates if need be.
@discardableResult
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { trust.answer().chain.count }

/// A certificate of the path that was found, 0 being the one in question; `nil` beyond the end.
@discardableResult
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? {
    let chain = trust.answer().chain
    return chain.indices.contains(ix) ? chain[ix] : nil
}

/// The public key of the certificate in question, whether trusted or not.
@discardableResult
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    trust.state.withLock { $0.certificates.first }.flatMap(SecCertificateCopyKey)
}

/// The older name of ``SecTrustCopyKey(_:)``.
@discardableResult
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? { SecTrustCopyKey(trust) }

/// Returns bytes that make an evaluation of this path succeed despite its present failure, if a user may overlook that
/// failure. They hold for the same certificates, policies and host. They do not cover a later failure, such as the end
/// of a validity.
///
/// - Returns: Bytes for ``SecTrustSetExceptions(_:_:)``, now or later.
@discardableResult
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? {
    trust.answer().exceptions as NSData
}

/// Makes up for what is wrong with a path that a user has looked at.
///
/// - Parameter exceptions: From ``SecTrustCopyExceptions(_:)``; `nil` takes them back.
/// - Returns: Whether they were for the path that is found now.
@discardableResult
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    trust.change { $0.exceptions = exceptions as Data? }
    guard let exceptions else { return false }
    return trust.answer().exceptions == exceptions as Data
}

/// One object, or an array of them; nil if anything else is among it.
func list<Element>(of type: Element.Type, in object: AnyObject) -> [Element]? {
    if let element = object as? Element { return [element] }
    guard let array = object as? NSArray else { return nil }
    var elements: [Element] = []
    for member in array {
        guard let member = member as? Element else { return nil }
        elements.append(member)
    }
    return elements
}
