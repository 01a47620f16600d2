import KeychainModel
import SystemBus

/// Reads the arguments of a call, one after the other.
struct SecretArguments {
    private(set) var rest: ArraySlice<BusValue>

    init(_ values: [BusValue]) { rest = values[...] }

    private mutating func next<Value>(_ read: (BusValue) -> Value?) throws(SecretServiceError) -> Value {
        guard let value = rest.popFirst().flatMap(read) else { throw .malformed }
        return value
    }

    /// A string or an object path.
    mutating func text() throws(SecretServiceError) -> String { try next(\.string) }

    mutating func flag() throws(SecretServiceError) -> Bool { try next(\.boolean) }

    mutating func paths() throws(SecretServiceError) -> [String] {
        try next { $0.elements?.compactMap(\.string) }
    }

    mutating func secret() throws(SecretServiceError) -> TransferredSecret { try next(TransferredSecret.init) }

    /// The value inside a variant.
    mutating func content() throws(SecretServiceError) -> BusValue { try next(\.content) }

    mutating func dictionary() throws(SecretServiceError) -> BusValue { try next { $0.elements == nil ? nil : $0 } }

    mutating func attributes() throws(SecretServiceError) -> CustomAttributes { try CustomAttributes(dictionary()) }
}

extension CustomAttributes {
    /// Reads the attributes that a program sends; nil stands for none.
    init(_ value: BusValue?) throws(SecretServiceError) {
        self.init()
        for entry in value?.elements ?? [] {
            guard let name = entry.elements?.first?.string, let text = entry.elements?.last?.string else {
                throw .invalid("attributes are texts by name")
            }
            self[name] = text
        }
    }

    /// Returns the attributes if an item can have them.
    func checked() throws(SecretServiceError) -> CustomAttributes {
        if let problem { throw .invalid(problem) }
        return self
    }
}

extension BusArgument {
    /// The path that is returned where no prompt is needed.
    static let noPrompt = BusArgument.path(SecretPath.none)

    static func object(_ path: SecretPath) -> BusArgument { .path(path.text) }

    static func objects(_ paths: [SecretPath]) -> BusArgument { .array(of: "o", paths.map(object)) }
}
