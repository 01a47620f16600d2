import Certificates
import Foundation

/// The type of certificates.
@discardableResult
public func SecCertificateGetTypeID() -> CFTypeID { coreFoundationTypeID(of: SecCertificate.self) }

/// A certificate from its DER encoding (RFC 5280).
///
/// - Parameters:
///   - allocator: Ignored; pass `nil`.
///   - data: The complete encoding and nothing after it.
/// - Returns: The certificate, or `nil` if it is malformed. Trust is not evaluated: a certificate whose signature or
///   extension is damaged can be read, and is not trusted.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    SecCertificate(der: data.contents)
}

/// The DER encoding of a certificate.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    certificate.certificate.encoded as NSData
}

/// A short name of the certificate's subject for people: the common name if there is one.
///
/// - Returns: `nil` when the certificate has neither a readable subject nor an e-mail address or host name.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.certificate.subjectSummary.map { $0 as NSString }
}

/// The common name of the certificate's subject; the last one if there are several.
///
/// - Parameter commonName: Where the name is stored.
/// - Returns: ``errSecSuccess``, or -26276 (an internal error) if the subject has no common name.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    guard let name = certificate.certificate.commonNames.last else { return errSecInternal }
    commonName.pointee = name as NSString
    return errSecSuccess
}

/// The e-mail addresses of the certificate: those of the alternative names, then those of the subject.
///
/// - Parameter emailAddresses: Where the array of strings is stored; it may be empty.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    emailAddresses.pointee = certificate.certificate.emailAddresses as NSArray
    return errSecSuccess
}

/// The content bytes of the certificate's serial number, a leading zero byte included.
///
/// - Parameter error: Never set: every certificate has a serial number.
@discardableResult
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    certificate.certificate.serialNumber as NSData
}

/// The certificate's issuer as a DER Name in the normal form that searches compare.
@discardableResult
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    certificate.certificate.issuer.normalizedSequence as NSData
}

/// The certificate's subject as a DER Name in the normal form that searches compare.
@discardableResult
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    certificate.certificate.subject.normalizedSequence as NSData
}

/// The public key of the certificate's subject.
///
/// - Returns: `nil` if the key is neither RSA nor on one of the NIST prime curves, or is malformed.
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    certificate.certificate.publicKey.key.map(SecKey.init(_:))
}

/// The older name of ``SecCertificateCopyKey(_:)``.
@discardableResult
public func SecCertificateCopyPublicKey(_ certificate: SecCertificate) -> SecKey? {
    SecCertificateCopyKey(certificate)
}

/// The older form of ``SecCertificateCopySerialNumberData(_:_:)``.
@discardableResult
public func SecCertificateCopySerialNumber(_ certificate: SecCertificate) -> CFData? {
    SecCertificateCopySerialNumberData(certificate, nil)
}

/// The first moment at which the certificate is valid.
@discardableResult
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.certificate.notBefore as NSDate
}

/// The last moment at which the certificate is valid.
@discardableResult
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.certificate.notAfter as NSDate
}
