import Certificates
import Foundation
import KeychainModel

/// What a key may be used for, by the names of the capability attributes.
struct KeyCapabilities {
    static let names: [AttributeName] = ["encr", "decr", "drve", "sign", "vrfy", "snrc", "vyrc", "wrap", "unwp"]
    private let allowed: Set<AttributeName>

    /// Apple's defaults. That RSA public keys claim to decrypt is Apple's doing: the raw operation is
    /// the same in both directions.
    init(of key: SecKey) {
        allowed =
            switch (key.keyData.type, key.keyClass) {
            case (.ellipticCurve, .private): ["decr", "drve", "sign", "unwp"]
            case (.ellipticCurve, .public): ["encr", "vrfy", "wrap"]
            case (.rsa, .private): ["decr", "sign", "unwp"]
            case (.rsa, .public): ["encr", "decr", "vrfy", "wrap"]
            }
    }

    subscript(name: AttributeName) -> Bool { allowed.contains(name) }
}

extension SecKey: ItemReference {
    package var itemClass: ItemClass { .key }

    package var storedAttributes: [AttributeName: AttributeValue] {
        var attributes = identifyingAttributes
        for (name, flag) in flags {
            attributes[name] = .number(flag ? 1 : 0)
        }
        return attributes
    }

    package var identifyingAttributes: [AttributeName: AttributeValue] {
        var attributes: [AttributeName: AttributeValue] = [
            .keyClass: .number(Int64(keyClass.rawValue)),
            .applicationLabel: .data(keyData.applicationLabel),
            .type: .number(Int64(keyData.type.rawValue)),
            "bsiz": .number(Int64(keyData.sizeInBits)),
            "esiz": .number(Int64(keyData.sizeInBits)),
        ]
        if let kept { attributes[.tokenID] = .string(kept.tokenID) }
        return attributes
    }

    package var storedValue: Data { kept?.storedValue ?? keyData.externalRepresentation }

    /// The attributes that are yes or no. `priv` is yes for public keys as well, as on Apple systems.
    private var flags: [AttributeName: Bool] {
        let capabilities = KeyCapabilities(of: self)
        var flags = Dictionary(uniqueKeysWithValues: KeyCapabilities.names.map { ($0, capabilities[$0]) })
        for name in ["perm", .isPrivate, "modi"] as [AttributeName] { flags[name] = true }
        flags["extr"] = kept == nil
        for name in ["sens", "asen", "next"] as [AttributeName] { flags[name] = kept != nil }
        return flags
    }

    /// What `SecKeyCopyAttributes` returns: type and class as decimal strings, flags as Booleans.
    var publicDictionary: [String: Any] {
        var dictionary: [String: Any] = [
            "class": ItemClass.key.rawValue,
            AttributeName.keyClass.string: String(keyClass.rawValue),
            AttributeName.type.string: String(keyData.type.rawValue),
            AttributeName.applicationLabel.string: keyData.applicationLabel,
            "bsiz": keyData.sizeInBits,
            "esiz": keyData.sizeInBits,
        ]
        if let kept {
            dictionary[AttributeName.tokenID.string] = kept.tokenID
        } else {
            dictionary["v_Data"] = keyData.externalRepresentation
        }
        for (name, flag) in flags {
            dictionary[name.string] = flag
        }
        return dictionary
    }
}
