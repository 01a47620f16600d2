import Bytes
import Certificates
import Foundation
import KeyCryptography
import OpenSSLCertificates

/// Reads the identities of a PKCS#12 file (RFC 7292).
///
/// Nothing is stored unless the options contain ``kSecUseDataProtectionKeychain`` with the value true, and do not
/// contain ``kSecImportToMemoryOnly`` with that value. Then every identity and the certificates of its chain are added,
/// with the other options as attributes. Items that are already stored stay.
///
/// - Parameters:
///   - pkcs12_data: The file.
///   - options: ``kSecImportExportPassphrase``, a string; without it the empty passphrase is tried.
///   - items: Where an array is stored, of one dictionary for each identity with ``kSecImportItemIdentity``,
///     ``kSecImportItemTrust`` and ``kSecImportItemCertChain``.
/// - Returns: ``errSecSuccess``; ``errSecAuthFailed`` for a wrong passphrase; ``errSecDecode`` for data that is no such
///   file; -26276 when part of it cannot be read; ``errSecParam`` for a passphrase that is no string; what
///   ``SecItemAdd(_:_:)`` returns when storing fails.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    items.pointee = nil
    let given = options[kSecImportExportPassphrase.description]
    guard given == nil || given is String else { return errSecParam }
    do {
        let passphrase = try (given as? String).map { try SecretBytes($0) }
        let file = try ExchangeFile(pkcs12_data as Data, passphrase: passphrase)
        let identities = try ImportedIdentity.identities(in: file)
        if isTrue(kSecUseDataProtectionKeychain, in: options), !isTrue(kSecImportToMemoryOnly, in: options) {
            let attributes = options.mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
            for key in [kSecImportExportPassphrase, kSecUseDataProtectionKeychain, kSecImportToMemoryOnly] {
                attributes.removeObject(forKey: key)
            }
            for identity in identities {
                let status = identity.store(with: attributes)
                guard status == errSecSuccess else { return status }
            }
        }
        items.pointee = identities.map(\.dictionary) as NSArray
        return errSecSuccess
    } catch ExchangeFile.Failure.wrongPassphrase {
        return errSecAuthFailed
    } catch ExchangeFile.Failure.malformed, ExchangeFile.Failure.tooLarge {
        return errSecDecode
    } catch {
        return errSecInternal
    }
}

private func isTrue(_ option: CFString, in options: CFDictionary) -> Bool {
    (options[option.description] as? NSNumber)?.boolValue == true
}

/// One identity of a file.
private struct ImportedIdentity {
    let identity: SecIdentity
    let chain: [SecCertificate]
    let trust: SecTrust

    /// The keys of a file with their certificates; keys without one, and certificates of nobody's chain, are dropped.
    static func identities(in file: ExchangeFile) throws -> [ImportedIdentity] {
        let certificates = file.certificates.compactMap { SecCertificate(der: $0) }
        // A key of a kind that the keychain does not have is left out, and the others are there.
        let keys = file.keys.filter { KeyData.foreignAlgorithm(ofPrivateKeyInfo: $0) == nil }
        guard !keys.isEmpty || file.keys.isEmpty else { throw ExchangeFile.Failure.undecodable }
        let known = try keys.map { try KeyData(privateKeyInfo: $0) }
        // Apple's function takes RSA keys and keys on the NIST curves.
        let taken = known.filter { $0.type != .ed25519 }
        guard !taken.isEmpty || known.isEmpty else { throw ExchangeFile.Failure.undecodable }
        return try taken.compactMap { key in
            try SoftwareKeys.checkImported(key)
            guard
                let certificate = certificates.first(where: {
                    $0.certificate.publicKeyHash == key.applicationLabel
                })
            else { return nil }
            return ImportedIdentity(
                identity: SecIdentity(certificate: certificate, key: SecKey(key)), certificates: certificates)
        }
    }

    private init(identity: SecIdentity, certificates: [SecCertificate]) {
        self.identity = identity
        // Trust in the path is not evaluated here. This code only needs to know which certificate signed which.
        let others = certificates.filter { $0 != identity.certificate }
        trust = SecTrust(certificates: [identity.certificate] + others, policies: [SecPolicyCreateBasicX509()])
        var chain = [identity.certificate]
        while let last = chain.last, !last.certificate.isSelfIssued,
            let issuer = others.first(where: {
                $0.certificate.subject.normalizedContent == last.certificate.issuer.normalizedContent
                    && !chain.contains($0)
            })
        {
            chain.append(issuer)
        }
        self.chain = chain
    }

    var dictionary: [String: Any] {
        [
            kSecImportItemIdentity.description: identity,
            kSecImportItemTrust.description: trust,
            kSecImportItemCertChain.description: chain as NSArray,
        ]
    }

    func store(with attributes: NSDictionary) -> OSStatus {
        for reference: AnyObject in [identity] as [AnyObject] + Array(chain.dropFirst()) {
            let query = attributes.mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
            query[kSecValueRef.description] = reference
            let status = SecItemAdd(query, nil)
            guard status == errSecSuccess || status == errSecDuplicateItem else { return status }
        }
        return errSecSuccess
    }
}

extension Certificate {
    fileprivate var isSelfIssued: Bool { subject.normalizedContent == issuer.normalizedContent }
}
