import Foundation
import OpenSSLCertificates

/// What a certificate has to fulfil besides leading to an anchor. Two objects are equal when they ask for the same.
public final class SecPolicy: Sendable {
    package let purpose: CertificatePath.Purpose
    /// How revocation is checked; nil if the policy does not ask for it.
    let revocation: CFOptionFlags?

    init(_ purpose: CertificatePath.Purpose, revocation: CFOptionFlags? = nil) {
        (self.purpose, self.revocation) = (purpose, revocation)
    }

    /// The policy's object identifier, as in `kSecPolicyOid`.
    var identifier: String {
        if revocation != nil { return "1.2.840.113635.100.1.21" }
        return purpose == .any ? "1.2.840.113635.100.1.2" : "1.2.840.113635.100.1.3"
    }
}

extension SecPolicy: Hashable, CustomDebugStringConvertible {
    public static func == (left: SecPolicy, right: SecPolicy) -> Bool {
        left.purpose == right.purpose && left.revocation == right.revocation
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }

    /// The policy's object identifier.
    public var debugDescription: String { "<SecPolicy \(identifier)>" }
}

/// The type of policies.
@discardableResult
public func SecPolicyGetTypeID() -> CFTypeID { coreFoundationTypeID(of: SecPolicy.self) }

/// The policy that asks for nothing but a valid path (RFC 5280).
@discardableResult
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.any) }

/// The policy for the certificate of one side of a TLS connection.
///
/// - Parameters:
///   - server: Whether it is the server's certificate that is evaluated.
///   - hostname: The name or the address that was connected to, which the certificate must hold among its alternative
///     names; `nil` checks no name. Ignored for a client's certificate.
@discardableResult
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(server ? .server(host: hostname as String?) : .client)
}

/// A policy by its identifier.
///
/// - Parameters:
///   - policyIdentifier: ``kSecPolicyAppleX509Basic``, ``kSecPolicyAppleSSL``, ``kSecPolicyAppleSSLServer``,
///     ``kSecPolicyAppleSSLClient`` or ``kSecPolicyAppleRevocation``.
///   - properties: ``kSecPolicyName``, a string, and ``kSecPolicyClient``, a Boolean; for revocation
///     ``kSecPolicyRevocationFlags``, a number; `nil` for none.
/// - Returns: `nil` for any other policy.
@discardableResult
public func SecPolicyCreateWithProperties(_ policyIdentifier: CFTypeRef, _ properties: CFDictionary?) -> SecPolicy? {
    switch (policyIdentifier as? NSString)?.description {
    case kSecPolicyAppleX509Basic.description:
        return SecPolicyCreateBasicX509()
    case kSecPolicyAppleSSL.description:
        let isClient = (properties?[kSecPolicyClient] as? NSNumber)?.boolValue ?? false
        return SecPolicyCreateSSL(!isClient, properties?[kSecPolicyName] as? NSString)
    case kSecPolicyAppleSSLServer.description:
        return SecPolicyCreateSSL(true, properties?[kSecPolicyName] as? NSString)
    case kSecPolicyAppleSSLClient.description:
        return SecPolicyCreateSSL(false, properties?[kSecPolicyName] as? NSString)
    case kSecPolicyAppleRevocation.description:
        return SecPolicyCreateRevocation(revocationFlags(in: properties))
    default:
        return nil
    }
}

/// What a policy asks for: ``kSecPolicyOid``, and for TLS ``kSecPolicyName`` and ``kSecPolicyClient``.
@discardableResult
public func SecPolicyCopyProperties(_ policyRef: SecPolicy) -> CFDictionary? {
    var properties: [String: Any] = [kSecPolicyOid.description: policyRef.identifier]
    switch policyRef.purpose {
    case .any: break
    case .client: properties[kSecPolicyClient.description] = true
    case .server(let host): properties[kSecPolicyName.description] = host
    }
    return properties as NSDictionary
}
