import Certificates
import Foundation
import KeyCryptography
import KeychainModel
import ProcessVault
import VaultInterface
import VaultKeys

/// Makes a key pair and stores it in the keychain if that is asked for.
///
/// - Parameters:
///   - parameters: ``kSecAttrKeyType``, one of the constants, and ``kSecAttrKeySizeInBits``: 192, 224, 256, 384 or 521
///     for elliptic curves, 512 to 8192 for RSA, where sizes from 2048 on are even. All other entries are attributes
///     of both halves; ``kSecPrivateKeyAttrs`` and ``kSecPublicKeyAttrs`` hold those of one half, which take
///     precedence. A half whose ``kSecAttrIsPermanent`` is true is stored, the public one first.
///   - error: Where an error is stored: ``errSecParam`` for a type or size there is none of; ``errSecUnimplemented``
///     for a key of a token; or why a half could not be stored. If that is the private one, the public one stays.
/// - Returns: The private key, or `nil` with an error.
@discardableResult
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    do throws(KeyCreationFailure) {
        return try KeyRequest(parameters).create()
    } catch let failure {
        store(failure.status, failure.description, in: error)
        return nil
    }
}

/// Makes a key pair; the older form of ``SecKeyCreateRandomKey(_:_:)``.
///
/// - Parameters:
///   - parameters: As there.
///   - publicKey: Where the public key is stored.
///   - privateKey: Where the private key is stored.
/// - Returns: ``errSecSuccess``, or the status of the error.
@discardableResult
public func SecKeyGeneratePair(
    _ parameters: CFDictionary, _ publicKey: UnsafeMutablePointer<SecKey?>?,
    _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    do throws(KeyCreationFailure) {
        let key = try KeyRequest(parameters).create()
        publicKey?.pointee = key.publicKey
        privateKey?.pointee = key
        return errSecSuccess
    } catch {
        return error.status
    }
}

/// Why a key was not made, or was made and not stored.
private struct KeyCreationFailure: Error {
    let status: OSStatus
    let description: String
}

/// What ``SecKeyCreateRandomKey(_:_:)`` is asked.
private struct KeyRequest {
    private let type: KeyData.KeyType
    private let sizeInBits: Int
    private let publicAttributes: NSDictionary
    private let privateAttributes: NSDictionary
    /// What guards the key in the enclave; nil for a key of this process.
    private let enclaveProtection: AccessControl?

    init(_ parameters: NSDictionary) throws(KeyCreationFailure) {
        // Unlike for import, only the constants themselves are types.
        guard let name = parameters[kSecAttrKeyType] as? String,
            let type = [KeyData.KeyType.rsa, .ellipticCurve, .ed25519].first(where: { String($0.rawValue) == name })
        else {
            throw KeyCreationFailure(
                status: errSecParam, description: "kSecAttrKeyType must be one of the constants for RSA and curves.")
        }
        guard let sizeInBits = KeyNumber.decimal(parameters[kSecAttrKeySizeInBits]) else {
            throw KeyCreationFailure(
                status: errSecParam, description: "kSecAttrKeySizeInBits must say how long the key is to be.")
        }
        self.type = type
        self.sizeInBits = sizeInBits
        publicAttributes = try Self.attributes(of: kSecPublicKeyAttrs, in: parameters)
        privateAttributes = try Self.attributes(of: kSecPrivateKeyAttrs, in: parameters)
        enclaveProtection = try Self.enclaveProtection(type, sizeInBits, privateAttributes)
    }

    /// The attributes of one half: those of the whole dictionary, and over them its own. Type and size are the
    /// key's.
    private static func attributes(
        of half: NSString, in parameters: NSDictionary
    ) throws(KeyCreationFailure) -> NSDictionary {
        let attributes = parameters.changeableCopy
        if let own = parameters[half] {
            guard let own = own as? NSDictionary else {
                throw KeyCreationFailure(status: errSecParam, description: "\(half) is not a dictionary.")
            }
            for (key, value) in own {
                guard let key = key as? String else {
                    throw KeyCreationFailure(status: errSecParam, description: "A key of \(half) is not a string.")
                }
                attributes[key as NSString] = value
            }
        }
        for key in [kSecPublicKeyAttrs, kSecPrivateKeyAttrs, kSecAttrKeyType, kSecAttrKeySizeInBits] {
            attributes.removeObject(forKey: key)
        }
        return attributes
    }

    private static func enclaveProtection(
        _ type: KeyData.KeyType, _ sizeInBits: Int, _ attributes: NSDictionary
    ) throws(KeyCreationFailure) -> AccessControl? {
        guard let token = attributes[kSecAttrTokenID], token as? String != "" else { return nil }
        guard token as? String == kSecAttrTokenIDSecureEnclave as String else {
            throw KeyCreationFailure(status: errSecParam, description: "There is no token with this identifier.")
        }
        guard type == .ellipticCurve, sizeInBits == 256 else {
            throw KeyCreationFailure(
                status: errSecParam, description: "An enclave keeps elliptic-curve keys with 256 bits only.")
        }
        let (control, name) = (attributes[kSecAttrAccessControl], attributes[kSecAttrAccessible])
        if control == nil, name == nil { return AccessControl(protection: .whenUnlocked) }
        if name == nil, let control = control as? SecAccessControl { return control.control }
        if control == nil, let protection = (name as? String).flatMap(ProtectionClass.init(rawValue:)) {
            return AccessControl(protection: protection)
        }
        throw KeyCreationFailure(
            status: errSecParam,
            description:
                "Give a SecAccessControl as kSecAttrAccessControl, or one of the constants as kSecAttrAccessible.")
    }

    func create() throws(KeyCreationFailure) -> SecKey {
        let key = if let enclaveProtection { try enclaveKey(enclaveProtection) } else { try softwareKey() }
        try Self.storeIfPermanent(key.publicKey, publicAttributes)
        try Self.storeIfPermanent(key, privateAttributes)
        return key
    }

    private func softwareKey() throws(KeyCreationFailure) -> SecKey {
        do throws(KeyError) {
            return SecKey(try SoftwareKeys.randomKey(type: type, sizeInBits: sizeInBits))
        } catch {
            throw KeyCreationFailure(status: error.osStatus, description: error.description)
        }
    }

    private func enclaveKey(_ protection: AccessControl) throws(KeyCreationFailure) -> SecKey {
        var use = KeyUse()
        if let context = privateAttributes[kSecUseAuthenticationContext] as? any _SecAuthenticationContext {
            use.context = context._keychainState
            use.authentication.context = context._keychainState.identifier
            use.authentication.applicationPassword = context._keychainState.applicationPassword
            if context.interactionNotAllowed { use.authentication.interaction = .fail }
        }
        do throws(VaultError) {
            let session = try VaultSession.current()
            let record = try session.perform(
                MakeEnclaveKey(.p256, accessControl: protection, options: use.authentication))
            if let key = VaultKey(record, use: use) { return SecKey(key) }
        } catch {
            throw KeyCreationFailure(status: error.osStatus, description: error.description)
        }
        throw KeyCreationFailure(status: errSecInternal, description: "The enclave made no key.")
    }

    private static func storeIfPermanent(_ key: SecKey, _ attributes: NSDictionary) throws(KeyCreationFailure) {
        // Numbers and strings that stand for yes do not count.
        guard let isPermanent = attributes[kSecAttrIsPermanent], AttributeCoercion.boolean(isPermanent) == true else {
            return
        }
        let item = attributes.changeableCopy
        item[kSecValueRef] = key
        item.removeObject(forKey: kSecAttrTokenID)
        if let control = key.kept == nil ? nil : attributes[kSecAttrAccessControl] as? SecAccessControl {
            // The constraints guard the use of the key, where it is kept, and not the finding of it.
            item.removeObject(forKey: kSecAttrAccessControl)
            item[kSecAttrAccessible] = control.control.protection.rawValue
        }
        let status = SecItemAdd(item, nil)
        guard status == errSecSuccess else {
            let half = key.keyClass == .public ? "public" : "private"
            throw KeyCreationFailure(
                status: status, description: "The \(half) key was not stored: \(StatusMessages.text(for: status))")
        }
    }
}

extension NSDictionary {
    fileprivate var changeableCopy: NSMutableDictionary {
        mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
    }
}
