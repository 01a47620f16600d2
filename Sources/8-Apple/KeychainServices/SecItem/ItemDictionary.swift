import Foundation
import KeychainModel
import VaultKeys

/// A dictionary of the SecItem functions, taken apart by the grammar all four share.
///
/// A key of four characters is an attribute; the first character of any other key says which family it
/// belongs to. What a family's entries mean together is decided by the function that takes the
/// dictionary.
struct ItemDictionary {
    /// The most entries a dictionary may have (Apple, SecDbQuery.c).
    static let greatestCount = 128

    private var classValue: Any?
    /// As the caller gave them; what they may hold depends on the class.
    private var attributes: [(name: AttributeName, value: Any)] = []
    private(set) var itemClass = ItemClass.genericPassword
    private(set) var returns: ReturnFlags = []
    private(set) var match = MatchKeys()
    private(set) var use = UseKeys()
    private(set) var value: Data?
    private(set) var reference: ValueReference?
    private(set) var persistentReference: PersistentReference?

    init(_ dictionary: NSDictionary) throws(SecItemFailure) {
        guard dictionary.count <= Self.greatestCount else { throw .parameter }
        attributes.reserveCapacity(dictionary.count)
        var failure: SecItemFailure?
        // Of the ways to walk a dictionary this one makes the fewest copies.
        dictionary.enumerateKeysAndObjects { key, value, _ in
            do throws(SecItemFailure) {
                try read(key, value)
            } catch {
                // The first counts, unless the class is wrong: that does not depend on the order.
                failure = failure ?? error
            }
        }
        itemClass = try resolvedClass()
        if let failure { throw failure }
    }

    /// The form of the result.
    var shape: ResultShape {
        ResultShape(
            returns: returns, use: KeyUse(authentication: use.authentication, context: use.context?._keychainState))
    }

    /// The attributes, converted as the class says.
    func terms() throws(SecItemFailure) -> AttributeTerms { try AttributeTerms(attributes, of: itemClass) }

    private mutating func read(_ key: Any, _ value: Any) throws(SecItemFailure) {
        guard let key = key as? String else { throw .parameter }
        if let name = AttributeName(key) {
            // kSecUseDataProtectionKeychain has the form of an attribute and changes nothing here.
            if name != .dataProtectionKeychain { attributes.append((name, value)) }
            return
        }
        if key.utf16.count == 4 { throw .noSuchAttribute }
        switch (key, key.utf8.first) {
        case ("class", _): classValue = value
        case ("v_Data", _):
            guard let data = value as? Data else { throw .parameter }
            self.value = data
        case ("v_Ref", _):
            guard let reference = ValueReference(value) else { throw .parameter }
            self.reference = reference
        case ("v_PersistentRef", _):
            guard let data = value as? Data, let reference = PersistentReference(data) else { throw .parameter }
            persistentReference = reference
        case (_, UInt8(ascii: "m")): try match.read(key, value)
        case (_, UInt8(ascii: "r")): try returns.read(key, value)
        case (_, UInt8(ascii: "u")): try use.read(key, value)
        case (_, UInt8(ascii: "f")): break
        default: throw .parameter
        }
    }

    /// The class named, or else the one that a reference brings along.
    private func resolvedClass() throws(SecItemFailure) -> ItemClass {
        guard let classValue else {
            guard let itemClass = persistentReference?.itemClass ?? reference?.itemClass else { throw .parameter }
            return itemClass
        }
        guard let string = classValue as? String else { throw .parameter }
        guard let itemClass = ItemClass(rawValue: string) else { throw .noSuchClass }
        if let persistentReference, persistentReference.itemClass != itemClass { throw .noSuchClass }
        return itemClass
    }
}

extension AttributeName {
    static let dataProtectionKeychain: AttributeName = "nleg"
}
