extension [BusValue] {
    /// Whether the values have the types of a signature, in D-Bus's notation.
    ///
    /// A value does not tell the integers of different sizes apart, nor texts from object paths and signatures.
    package func match(_ signature: String) -> Bool {
        var types = [UInt8](signature.utf8)[...]
        return Self.match(self, &types) && types.isEmpty
    }

    /// Whether values have the types at the beginning of `types`, which are taken away.
    private static func match(_ values: [BusValue], _ types: inout ArraySlice<UInt8>) -> Bool {
        values.allSatisfy { matches($0, &types) }
    }

    /// - Parameter value: Nil for any of the type, which is only taken away.
    private static func matches(_ value: BusValue?, _ types: inout ArraySlice<UInt8>) -> Bool {
        guard let type = types.popFirst() else { return false }
        switch (UnicodeScalar(type), value) {
        case ("y", .byte?), ("b", .boolean?), ("n", .integer?), ("i", .integer?), ("x", .integer?), ("q", .unsigned?),
            ("u", .unsigned?), ("t", .unsigned?), ("d", .double?), ("s", .string?), ("o", .string?), ("g", .string?),
            ("h", .descriptor?), ("v", .variant?):
            return true
        case ("y", nil), ("b", nil), ("n", nil), ("i", nil), ("x", nil), ("q", nil), ("u", nil), ("t", nil), ("d", nil),
            ("s", nil), ("o", nil), ("g", nil), ("h", nil), ("v", nil):
            return true
        case ("a", .bytes?): return types.popFirst() == UInt8(ascii: "y")
        case ("a", .array(let elements)?):
            guard types.first != UInt8(ascii: "y") else { return false }
            let element = types
            return matches(nil, &types)
                && elements.allSatisfy { value in
                    var types = element
                    return matches(value, &types)
                }
        case ("a", nil): return matches(nil, &types)
        case ("(", .structure(let parts)?): return match(parts, &types) && types.popFirst() == UInt8(ascii: ")")
        case ("{", .structure(let parts)?):
            return parts.count == 2 && match(parts, &types) && types.popFirst() == UInt8(ascii: "}")
        case ("(", nil), ("{", nil):
            let end = UInt8(ascii: type == UInt8(ascii: "(") ? ")" : "}")
            while let next = types.first, next != end { guard matches(nil, &types) else { return false } }
            return types.popFirst() == end
        default: return false
        }
    }
}
