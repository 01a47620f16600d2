import Foundation
import KeychainModel

/// The attributes of a dictionary, converted, and sorted into the fields of the vault's requests.
struct AttributeTerms {
    private(set) var attributes: ItemAttributes = [:]
    private(set) var accessGroup: String?
    private(set) var accessible: ProtectionClass?
    private(set) var accessControl: AccessControl?
    private(set) var synchronizable: SynchronizableScope?
    private(set) var isTombstone: Bool?

    /// - Throws: -25303 for an attribute the class does not have, -50 for a value of the wrong type and for
    ///   an access control that disagrees with the accessibility beside it.
    init(_ entries: [(name: AttributeName, value: Any)], of itemClass: ItemClass) throws(SecItemFailure) {
        let schema = itemClass.schema
        for (name, value) in entries {
            guard let definition = schema[name] else { throw .noSuchAttribute }
            try read(value, of: name, as: definition.kind)
        }
        // The control of a returned dictionary has nothing but the protection class and equals it; one that
        // a program made always says more.
        if let accessible, let accessControl, accessControl != AccessControl(protection: accessible) {
            throw .parameter
        }
    }

    private mutating func read(_ value: Any, of name: AttributeName, as kind: AttributeKind) throws(SecItemFailure) {
        switch name {
        case .accessGroup:
            accessGroup = try AttributeCoercion.string(value)
        case .accessible:
            accessible = try AttributeCoercion.protection(value)
        case .accessControl:
            accessControl = try AttributeCoercion.accessControl(value)
        case .synchronizable:
            synchronizable = try AttributeCoercion.synchronizable(value)
        case .tombstone:
            isTombstone = try AttributeCoercion.value(value, of: name, as: kind) != .number(0)
        default:
            attributes[name] = try AttributeCoercion.value(value, of: name, as: kind)
        }
    }

    /// The attributes without those that the vault sets and a caller cannot.
    var settableAttributes: ItemAttributes {
        var settable = attributes
        for name in [.creationDate, .modificationDate, .itemHash] as [AttributeName] {
            settable.removeValue(forKey: name)
        }
        return settable
    }

    /// What the item's protection is to be, if the dictionary says.
    var control: AccessControl? {
        accessControl ?? accessible.map { AccessControl(protection: $0) }
    }

    /// Whether a dictionary names no attribute at all; one that takes in synchronizable items too restricts
    /// nothing.
    var isEmpty: Bool {
        attributes.isEmpty && accessGroup == nil && accessible == nil && accessControl == nil && isTombstone == nil
            && (synchronizable == nil || synchronizable == .any)
    }
}
