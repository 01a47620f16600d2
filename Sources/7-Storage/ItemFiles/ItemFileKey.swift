import Bytes
import Certificates
import Crypto
import FoundationEssentials
import KeyCryptography
import KeychainModel
import ProcessVault
import SwiftASN1
import VaultInterface
import VaultKeys

/// The public key that a file of items is sealed to.
package struct ItemRecipient: Sendable {
    let key: P256.KeyAgreement.PublicKey
    /// As ``KeyData/applicationLabel``.
    let label: Data

    /// - Throws: ``ItemFileError/unsuitableRecipient(reason:)`` unless it is a key on P-256.
    package init(_ key: KeyData) throws(ItemFileError) {
        let point = key.publicKey.publicRepresentation
        guard key.curve == .p256, let key = try? P256.KeyAgreement.PublicKey(x963Representation: point) else {
            throw .unsuitableRecipient(
                reason: "a file of items is sealed to a key on P-256, and this is another; make one with "
                    + "`keychain key create`")
        }
        self.key = key
        label = Data(Insecure.SHA1.hash(data: point))
    }

    /// The public key, or the key of the certificate, in a PEM document.
    ///
    /// - Throws: ``ItemFileError/unsuitableRecipient(reason:)``.
    package init(pem: String) throws(ItemFileError) {
        guard let document = try? PEMDocument(pemString: pem) else {
            throw .unsuitableRecipient(
                reason: "this is no public key and no certificate in PEM; `keychain key public` writes one")
        }
        let der = Data(document.derBytes)
        let info: PublicKeyInfo? =
            switch document.discriminator {
            case "PUBLIC KEY": try? PublicKeyInfo(der: der)
            case "CERTIFICATE": (try? Certificate(der: der))?.publicKey
            default: nil
            }
        guard let key = info?.key else {
            throw .unsuitableRecipient(
                reason: "the PEM holds no public key and no certificate with one that can be used; "
                    + "`keychain key public` writes one")
        }
        try self.init(key)
    }
}

/// The private key that opens a file of items, in this process or in the enclave.
package struct ItemFileKey: Sendable {
    let agreement: P256AgreementKey

    /// - Throws: ``ItemFileError/keyNotFound`` unless it is a private key on P-256.
    package init(_ key: VaultKey) throws(ItemFileError) {
        let operations: any PrivateKeyOperations
        do throws(KeyError) {
            operations = try key.privateOperations()
        } catch {
            throw .keyFailed(reason: error.description)
        }
        guard key.keyClass == .private, key.keyData.curve == .p256,
            let agreement = try? P256AgreementKey(
                publicKey: key.publicKey.keyData.publicRepresentation,
                agree: { point in
                    do {
                        let peer = try KeyData(point, type: .ellipticCurve, keyClass: .public)
                        return try operations.exchange(
                            with: peer, by: KeyExchangeAlgorithm(derivation: nil), requestedSize: 0, sharedInfo: Data())
                    } catch let error as KeyError {
                        if case .refused(let refusal as VaultError) = error { throw ItemFileError.refused(refusal) }
                        throw ItemFileError.keyFailed(reason: error.description)
                    }
                })
        else { throw .keyNotFound }
        self.agreement = agreement
    }
}

extension VaultSession {
    /// Returns the items of a file for a private key of this vault.
    ///
    /// - Parameter options: How a person may be asked if the key needs one.
    /// - Throws: ``ItemFileError``.
    package func items(
        in file: ItemFile, asking options: AuthenticationOptions = .init()
    ) throws(ItemFileError) -> [StoredItem] {
        guard let label = file.keyLabel else { throw .passphraseNeeded }
        let query = ItemQuery(
            itemClass: .key, attributes: [.keyClass: .number(1), .applicationLabel: .data(label)],
            synchronizable: .any, authentication: options)
        let found: [StoredItem]
        do throws(VaultError) {
            found = try perform(CopyItems(query, includingValues: true))
        } catch .itemNotFound {
            throw .keyNotFound
        } catch {
            throw .refused(error)
        }
        guard let key = found.lazy.compactMap({ VaultKey.stored(in: $0, use: KeyUse(authentication: options)) }).first
        else { throw .keyNotFound }
        // A key of the enclave is used in the session of the task.
        let opened = asCurrent {
            Result { () throws(ItemFileError) in try file.items(openedWith: ItemFileKey(key)) }
        }
        return try opened.get()
    }

    /// Takes items in, all or none.
    ///
    /// - Returns: The items as they were stored, without their values.
    /// - Throws: ``ItemFileError/refused(_:)``.
    package func receive(_ operation: ReceiveItems) throws(ItemFileError) -> [StoredItem] {
        do throws(VaultError) {
            try operation.check()
            return try perform(operation).items
        } catch {
            throw .refused(error)
        }
    }
}
