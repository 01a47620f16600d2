import Certificates
import Foundation
import KeychainModel
import VaultKeys

extension SecKey: ItemReference {
    package var itemClass: ItemClass { .key }
    package var storedAttributes: ItemAttributes { key.storedAttributes }
    package var identifyingAttributes: ItemAttributes {
        keyData.identifyingAttributes(keptBy: kept?.tokenID)
    }
    package var storedValue: Data { key.storedValue }

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
        for (name, flag) in keyData.flags(keptBy: kept?.tokenID) {
            dictionary[name.string] = flag
        }
        return dictionary
    }
}
