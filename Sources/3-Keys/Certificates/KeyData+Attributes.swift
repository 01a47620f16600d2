import Bytes
import KeychainModel

/// The allowed uses of a key, by the names of the capability attributes.
package struct KeyCapabilities: Sendable {
    package static let names: [AttributeName] = [
        "encr", "decr", "drve", "sign", "vrfy", "snrc", "vyrc", "wrap", "unwp",
    ]
    private let allowed: Set<AttributeName>

    /// Sets Apple's defaults. RSA public keys claim to decrypt, as on Apple systems: the raw operation is the same in
    /// both directions.
    package init(of type: KeyData.KeyType, _ keyClass: KeyData.KeyClass) {
        allowed =
            switch (type, keyClass) {
            case (.ellipticCurve, .private): ["decr", "drve", "sign", "unwp"]
            case (.ellipticCurve, .public): ["encr", "vrfy", "wrap"]
            case (.ed25519, .private): ["sign"]
            case (.ed25519, .public): ["vrfy"]
            case (.rsa, .private): ["decr", "sign", "unwp"]
            case (.rsa, .public): ["encr", "decr", "vrfy", "wrap"]
            }
    }

    package subscript(name: AttributeName) -> Bool { allowed.contains(name) }
}

extension KeyData {
    /// Returns the attributes that find the item of this key again. Other attributes of the item do not matter.
    ///
    /// - Parameter tokenID: The holder of the private half, if this is the public half of such a pair; nil for a key of
    ///   this process.
    package func identifyingAttributes(keptBy tokenID: String? = nil) -> ItemAttributes {
        var attributes: ItemAttributes = [
            .keyClass: .number(Int64((tokenID == nil ? keyClass : .private).rawValue)),
            .applicationLabel: .data(applicationLabel),
            .type: .number(Int64(type.rawValue)),
            "bsiz": .number(Int64(sizeInBits)),
            "esiz": .number(Int64(sizeInBits)),
        ]
        if let tokenID { attributes[.tokenID] = .string(tokenID) }
        return attributes
    }

    /// Returns the attributes that are yes or no. As on Apple systems, `priv` is also yes for public keys.
    ///
    /// - Parameter tokenID: As for ``identifyingAttributes(keptBy:)``.
    package func flags(keptBy tokenID: String? = nil) -> [AttributeName: Bool] {
        let isKept = tokenID != nil
        let capabilities = KeyCapabilities(of: type, isKept ? .private : keyClass)
        var flags = Dictionary(uniqueKeysWithValues: KeyCapabilities.names.map { ($0, capabilities[$0]) })
        for name in ["perm", .isPrivate, "modi"] as [AttributeName] { flags[name] = true }
        flags["extr"] = !isKept
        for name in ["sens", "asen", "next"] as [AttributeName] { flags[name] = isKept }
        return flags
    }

    /// Returns the attributes that are stored with the key's value.
    ///
    /// - Parameter tokenID: As for ``identifyingAttributes(keptBy:)``.
    package func storedAttributes(keptBy tokenID: String? = nil) -> ItemAttributes {
        var attributes = identifyingAttributes(keptBy: tokenID)
        for (name, flag) in flags(keptBy: tokenID) { attributes[name] = .number(flag ? 1 : 0) }
        return attributes
    }
}
