import Access
import Foundation
import ProcessVault
import VaultInterface

/// Adds an item to the keychain.
///
/// - Parameters:
///   - attributes: The item: ``kSecClass``, attributes, ``kSecValueData`` or ``kSecValueRef``, and what to return.
///   - result: Where to put what the `kSecReturn…` keys ask for; nil if nothing is wanted.
/// - Returns: ``errSecSuccess``; ``errSecDuplicateItem`` if an item with the same primary key exists; another
///   status if the dictionary is malformed or the vault refuses.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { try ItemDictionary(attributes).add(in: $0).store(in: result) }
}

/// Finds items and returns their values, attributes or references.
///
/// - Parameters:
///   - query: Which items, by class, attributes and conditions, how many, and what to return.
///   - result: Where to put the result: one object, or an array unless the limit is one. Nil to learn only
///     whether there is such an item.
/// - Returns: ``errSecSuccess``; ``errSecItemNotFound`` if there is none; ``errSecInteractionNotAllowed`` if the
///   vault is locked for one of them; another status if the dictionary is malformed or the vault refuses.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { try ItemDictionary(query).copy(in: $0).store(in: result) }
}

/// Changes every item that a query finds, or none.
///
/// - Parameters:
///   - query: Which items.
///   - attributesToUpdate: The attributes to change and their new values, and ``kSecValueData`` for a new value.
///     What is not mentioned stays.
/// - Returns: ``errSecSuccess``; ``errSecItemNotFound`` if there is none; ``errSecDuplicateItem`` if two items would
///   have the same primary key; another status if a dictionary is malformed or the vault refuses.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status(groupOf: query) { try ItemDictionary(query).update(with: attributesToUpdate, in: $0) }
}

/// Deletes every item that a query finds.
///
/// - Parameter query: Which items. Of ``kSecMatchLimit`` only ``kSecMatchLimitAll`` is allowed.
/// - Returns: ``errSecSuccess``; ``errSecItemNotFound`` if there is none; another status if the dictionary is
///   malformed or the vault refuses.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status(groupOf: query) { try ItemDictionary(query).delete(in: $0) }
}

/// Runs `call` on the vault of the running task.
///
/// - Parameter query: The dictionary of a function that checks a named group before anything else.
private func status(groupOf query: NSDictionary? = nil, of call: (VaultSession) throws -> Void) -> OSStatus {
    do {
        let session = try VaultSession.current()
        do {
            try call(session)
            return errSecSuccess
        } catch let failure as SecItemFailure {
            // A missing entitlement is reported before a malformed dictionary: a client without groups may do nothing.
            guard session.client.mayUse(nil) else { return errSecMissingEntitlement }
            if let named = query?[kSecAttrAccessGroup] {
                guard let group = named as? String, session.client.mayUse(group) else {
                    return errSecMissingEntitlement
                }
            }
            return failure.status
        }
    } catch {
        return (error as? VaultError)?.osStatus ?? errSecInternal
    }
}

extension Client {
    /// Whether it may use `group`, or for nil any group.
    func mayUse(_ group: String?) -> Bool {
        (try? AccessPolicy.scope(of: .init(.copy, accessGroup: group), for: self)) != nil
    }
}
