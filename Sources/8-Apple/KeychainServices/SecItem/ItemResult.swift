import Bytes
import Foundation
import KeychainModel
import VaultKeys

/// What a call puts where its caller wants the result.
enum ItemResult {
    /// Nothing was asked for; the caller's variable keeps what it has.
    case untouched
    /// Nil where what was asked for does not exist, such as the value of an item without one.
    case object(AnyObject?)

    func store(in pointer: UnsafeMutablePointer<CFTypeRef?>?) {
        if case .object(let object) = self { pointer?.pointee = object }
    }
}

/// Makes results out of items, in the shape that the return flags ask for.
///
/// One flag alone gives the bare object; attributes, or more than one flag, give a dictionary. An item's
/// class is in a dictionary only when a reference was asked for too.
struct ResultShape {
    let returns: ReturnFlags
    /// On whose behalf keys among the results will be used.
    var use = KeyUse()

    /// The result of a search: one item's, or an array even if there is just one.
    func ofCopy(_ items: [StoredItem], asArray: Bool) -> ItemResult {
        if asArray {
            return .object(items.compactMap { returns.isEmpty ? nil : copied($0) } as NSArray)
        }
        guard !returns.isEmpty, let item = items.first else { return .untouched }
        return .object(copied(item))
    }

    /// The result of adding an item. What is asked of an item just stored differs from what a search gives in
    /// small things: the value and the persistent reference come without the attributes, a missing value is
    /// empty data, the hash is among the attributes and the tombstone mark is not.
    func ofAdd(_ item: StoredItem) -> ItemResult {
        switch returns {
        case []: return .untouched
        case .data: return .object((item.value ?? Data()) as NSData)
        case .persistentReference: return .object(persistentReference(to: item))
        case .reference: return .object(ItemReferences.reference(for: item, use: use))
        case [.data, .persistentReference]:
            let entries: [NSString: Any] = [
                kSecValueData: (item.value ?? Data()) as NSData, kSecValuePersistentRef: persistentReference(to: item),
            ]
            return .object(entries as NSDictionary)
        default: return .object(dictionary(of: item, isAdded: true))
        }
    }

    private func copied(_ item: StoredItem) -> AnyObject? {
        switch returns {
        case .data: item.value.map { $0 as NSData }
        case .persistentReference: persistentReference(to: item)
        case .reference: ItemReferences.reference(for: item, use: use)
        default: dictionary(of: item, isAdded: false)
        }
    }

    private func persistentReference(to item: StoredItem) -> NSData {
        PersistentReference(itemClass: item.itemClass, identifier: item.identifier).data as NSData
    }

    private func dictionary(of item: StoredItem, isAdded: Bool) -> NSDictionary {
        var objects = DictionaryEntries(capacity: item.attributes.count + 16)
        for part in AttributeKeys.shownDefaults(of: item.itemClass) where item.attributes[part.name] == nil {
            objects.add(part.key, part.object)
        }
        for (name, value) in item.attributes where !(name.isShownOnlyWhenSet && value.isEmpty) {
            objects.add(AttributeKeys.string(name), value.object)
        }
        objects.add(kSecAttrAccessGroup, item.accessGroup as NSString)
        objects.add(kSecAttrAccessible, item.accessControl.protection.rawValue as NSString)
        objects.add(kSecAttrAccessControl, SecAccessControl(item.accessControl))
        objects.add(kSecAttrSynchronizable, NSNumber(value: item.isSynchronizable ? 1 : 0))
        objects.add(kSecAttrCreationDate, item.creationDate as NSDate)
        objects.add(kSecAttrModificationDate, item.modificationDate as NSDate)
        if !isAdded { objects.add(kSecAttrTombstone, NSNumber(value: item.isTombstone ? 1 : 0)) }
        if isAdded || returns.contains(.data) { objects.add(kSecAttrSHA1, item.contentHash as NSData) }
        if returns.contains(.data), let value = item.value { objects.add(kSecValueData, value as NSData) }
        if returns.contains(.persistentReference) {
            objects.add(kSecValuePersistentRef, persistentReference(to: item))
        }
        if returns.contains(.reference) {
            objects.add(kSecClass, item.itemClass.rawValue as NSString)
            if let reference = ItemReferences.reference(for: item, use: use) {
                objects.add(kSecValueRef, reference)
            }
        }
        return objects.dictionary
    }
}

/// Keys and objects on their way into a dictionary.
private struct DictionaryEntries {
    private var keys: [NSObject] = []
    private var objects: [AnyObject] = []

    init(capacity: Int) {
        keys.reserveCapacity(capacity)
        objects.reserveCapacity(capacity)
    }

    mutating func add(_ key: NSString, _ object: AnyObject) {
        keys.append(key)
        objects.append(object)
    }

    /// Made by the initialiser for objects, which unlike those for values converts nothing.
    var dictionary: NSDictionary { NSDictionary(objects: objects, forKeys: keys, count: keys.count) }
}
