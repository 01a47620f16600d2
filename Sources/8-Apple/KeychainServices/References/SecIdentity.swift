import Certificates
import Foundation

/// A certificate together with the private key that belongs to it.
public final class SecIdentity: Sendable {
    package let certificate: SecCertificate
    package let key: SecKey

    package init(certificate: SecCertificate, key: SecKey) {
        self.certificate = certificate
        self.key = key
    }
}

extension SecIdentity: Hashable, CustomDebugStringConvertible {
    public static func == (left: SecIdentity, right: SecIdentity) -> Bool {
        left.certificate == right.certificate && left.key == right.key
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(certificate) }

    /// The name of the certificate's subject.
    public var debugDescription: String {
        "<SecIdentity \(certificate.certificate.subjectSummary ?? "without a name")>"
    }
}

/// The type of identities.
@discardableResult
public func SecIdentityGetTypeID() -> CFTypeID { coreFoundationTypeID(of: SecIdentity.self) }

/// An identity from its halves.
///
/// - Parameters:
///   - allocator: Ignored; pass `nil`.
///   - certificate: The certificate.
///   - privateKey: The private key of the public key in the certificate.
/// - Returns: The identity, or `nil` if the key is not the private key of the certificate.
@discardableResult
public func SecIdentityCreate(
    _ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey
) -> SecIdentity? {
    guard privateKey.keyClass == .private,
        privateKey.keyData.applicationLabel == certificate.certificate.publicKeyHash
    else { return nil }
    return SecIdentity(certificate: certificate, key: privateKey)
}

/// The certificate of an identity.
///
/// - Parameter certificateRef: Where the certificate is stored.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// The private key of an identity.
///
/// - Parameter privateKeyRef: Where the key is stored.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    privateKeyRef.pointee = identityRef.key
    return errSecSuccess
}
