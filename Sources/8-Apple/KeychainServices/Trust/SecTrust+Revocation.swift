import Foundation
import OnlineChecks
import OpenSSLCertificates
import Synchronization

/// Ask OCSP responders.
public let kSecRevocationOCSPMethod: CFOptionFlags = 1 << 0
/// Look into revocation lists.
public let kSecRevocationCRLMethod: CFOptionFlags = 1 << 1
/// Look into lists before responders are asked, if both may be.
public let kSecRevocationPreferCRL: CFOptionFlags = 1 << 2
/// The certificate in question is not trusted unless somebody says that it is not revoked.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 1 << 3
/// Send no request, neither about revocation nor for missing certificates: only answers that the program gave or that
/// were kept are looked at.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 1 << 4
/// Ask by what the certificate names: responders or lists.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = 1 << 0 | 1 << 1

/// The policy that asks whether the certificates of the path are revoked.
///
/// It allows the requests for that, unless ``SecTrustSetNetworkFetchAllowed(_:_:)`` forbids all. A server that does not
/// answer, or not in time, is no reason not to trust a certificate, unless the flags require an answer.
///
/// - Parameter revocationFlags: ``kSecRevocationUseAnyAvailableMethod``, and the others beside it.
/// - Returns: `nil` without flags, or for flags that do not exist.
@discardableResult
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    // Apple's bits 5 and 6 are private there.
    guard revocationFlags != 0, revocationFlags >> 7 == 0 else { return nil }
    return SecPolicy(.any, revocation: revocationFlags)
}

/// The flags in the properties of a policy: any method without them.
func revocationFlags(in properties: CFDictionary?) -> CFOptionFlags {
    (properties?[kSecPolicyRevocationFlags] as? NSNumber)?.uintValue ?? kSecRevocationUseAnyAvailableMethod
}

/// Sets whether an evaluation may fetch missing certificates from where the others say that they are, and whether it
/// may send requests at all.
///
/// Without a call, nothing is fetched, and requests about revocation go out if a policy asks for them. (On Apple
/// systems missing certificates are fetched for the TLS policy unless this forbids it.)
///
/// - Parameter allowFetch: False forbids all requests, those about revocation too. True allows all, except with
///   ``kSecRevocationNetworkAccessDisabled``.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.change { $0.allowsFetch = allowFetch }
    return errSecSuccess
}

/// Whether an evaluation may fetch missing certificates.
///
/// - Parameter allowFetch: Where the answer is stored: false before the first
///   ``SecTrustSetNetworkFetchAllowed(_:_:)``, and with ``kSecRevocationNetworkAccessDisabled``.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecTrustGetNetworkFetchAllowed(
    _ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<DarwinBoolean>
) -> OSStatus {
    allowFetch.pointee = DarwinBoolean(
        trust.state.withLock { state in
            state.allowsFetch == true
                && !state.policies.contains { ($0.revocation ?? 0) & kSecRevocationNetworkAccessDisabled != 0 }
        })
    return errSecSuccess
}

/// Sets answers of OCSP responders, such as those that a TLS server sends with its certificate.
///
/// They are looked at whatever the policies are: a certificate that is revoked by one of them is not trusted. One that
/// is not valid, or not for a certificate of the path, is ignored.
///
/// - Parameter responseData: The DER of an OCSPResponse (RFC 6960), or an array of them; `nil` for none.
/// - Returns: ``errSecSuccess``, or ``errSecParam`` if it is neither.
@discardableResult
public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: CFTypeRef?) -> OSStatus {
    guard let responses = responseData.map({ list(of: NSData.self, in: $0) }) ?? [] else { return errSecParam }
    trust.change { $0.responses = responses.map { $0 as Data } }
    return errSecSuccess
}

/// Where evaluations wait for servers, so that neither the caller nor a queue of the program does.
private let evaluations = DispatchQueue(label: "trust evaluations", attributes: .concurrent)

/// Evaluates a certificate without making the caller wait.
///
/// - Parameters:
///   - queue: Where `result` is called. It is not blocked before.
///   - result: Called with the answer.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus {
    // Safe to hand over: it is called once, on the queue that the caller chose for it.
    nonisolated(unsafe) let result = result
    evaluations.async {
        let answer = trust.answer()
        queue.async { result(trust, answer.isTrusted, answer.error) }
    }
    return errSecSuccess
}

/// Evaluates a certificate without making the caller wait; the older form of
/// ``SecTrustEvaluateAsyncWithError(_:_:_:)``.
///
/// - Parameters:
///   - queue: Where `result` is called; `nil` for a queue of the system. It is not blocked before.
///   - result: Called with the finding.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecTrustEvaluateAsync(
    _ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping SecTrustCallback
) -> OSStatus {
    // Safe to hand over: it is called once, on the queue that the caller chose for it.
    nonisolated(unsafe) let result = result
    evaluations.async {
        let answer = trust.answer()
        (queue ?? .global()).async { result(trust, answer.result) }
    }
    return errSecSuccess
}

extension OnlineSettings {
    /// Keeps answers in the cache of the user.
    static var standard: OnlineSettings {
        var settings = OnlineSettings()
        settings.cache = .standard()
        return settings
    }
}

extension SecTrust {
    /// Sets where answers are kept, and for how long servers are waited for.
    package func setOnline(_ settings: OnlineSettings) { change { $0.online = settings } }
}
