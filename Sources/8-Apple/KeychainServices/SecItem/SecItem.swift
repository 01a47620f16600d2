import Foundation
import KeychainModel

/// Adds an item to the keychain.
///
/// - Parameters:
///   - attributes: The item: ``kSecClass``, attributes, ``kSecValueData`` or ``kSecValueRef``, and what to return.
///   - result: Where to put what the `kSecReturn…` keys ask for; nil if nothing is wanted.
/// - Returns: ``errSecSuccess``; ``errSecDuplicateItem`` if an item with the same primary key exists; another
///   status if the dictionary is malformed or the vault refuses.
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { try ItemOperations.add(attributes).store(in: result) }
}

/// Finds items and returns their values, attributes or references.
///
/// - Parameters:
///   - query: Which items, by class, attributes and conditions, how many, and what to return.
///   - result: Where to put the result: one object, or an array unless the limit is one. Nil to learn only
///     whether there is such an item.
/// - Returns: ``errSecSuccess``; ``errSecItemNotFound`` if there is none; ``errSecInteractionNotAllowed`` if the
///   vault is locked for one of them; another status if the dictionary is malformed or the vault refuses.
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { try ItemOperations.copy(query).store(in: result) }
}

/// Changes every item that a query finds, or none.
///
/// - Parameters:
///   - query: Which items.
///   - attributesToUpdate: The attributes to change and their new values, and ``kSecValueData`` for a new value.
///     What is not mentioned stays.
/// - Returns: ``errSecSuccess``; ``errSecItemNotFound`` if there is none; ``errSecDuplicateItem`` if two items would
///   have the same primary key; another status if a dictionary is malformed or the vault refuses.
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status { try ItemOperations.update(query, with: attributesToUpdate) }
}

/// Deletes every item that a query finds.
///
/// - Parameter query: Which items. Of ``kSecMatchLimit`` only ``kSecMatchLimitAll`` is allowed.
/// - Returns: ``errSecSuccess``; ``errSecItemNotFound`` if there is none; another status if the dictionary is
///   malformed or the vault refuses.
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status { try ItemOperations.delete(query) }
}

private func status(of call: () throws -> Void) -> OSStatus {
    do {
        try onVault(call)
        return errSecSuccess
    } catch {
        return error.status
    }
}
