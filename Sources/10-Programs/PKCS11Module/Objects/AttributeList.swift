import CPKCS11

/// The attributes of an object, as bytes.
struct AttributeList: Sendable {
    private(set) var values: [CK_ATTRIBUTE_TYPE: [UInt8]] = [:]

    mutating func set(_ type: CK_ATTRIBUTE_TYPE, _ bytes: [UInt8]) { values[type] = bytes }

    mutating func set(_ type: CK_ATTRIBUTE_TYPE, _ text: String) { values[type] = Array(text.utf8) }

    mutating func set(_ type: CK_ATTRIBUTE_TYPE, _ flag: Bool) { values[type] = [flag ? 1 : 0] }

    /// Sets a CK_ULONG, in the byte order of the machine.
    mutating func set(_ type: CK_ATTRIBUTE_TYPE, _ number: CK_ULONG) {
        values[type] = withUnsafeBytes(of: number) { Array($0) }
    }

    mutating func remove(_ type: CK_ATTRIBUTE_TYPE) { values[type] = nil }

    /// Whether it has all of the attributes of a template, with the same values.
    func matches(_ template: AttributeList) -> Bool {
        template.values.allSatisfy { values[$0.key] == $0.value }
    }

    init() {}

    /// A copy of a caller's template.
    ///
    /// - Throws: CKR_ARGUMENTS_BAD for a null pointer with a length, CKR_ATTRIBUTE_VALUE_INVALID for an impossible
    ///   length.
    init(_ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG) throws(TokenError) {
        guard count > 0 else { return }
        guard let attributes, count <= Self.most else { throw TokenError(.argumentsBad) }
        for attribute in UnsafeBufferPointer(start: attributes, count: Int(clamping: count)) {
            guard attribute.length <= Self.longest else { throw TokenError(.attributeValueInvalid) }
            guard attribute.length > 0 else {
                values[attribute.type] = []
                continue
            }
            guard let value = attribute.value else { throw TokenError(.argumentsBad) }
            values[attribute.type] = Array(UnsafeRawBufferPointer(start: value, count: Int(clamping: attribute.length)))
        }
    }

    /// More than any program gives.
    private static let most: CK_ULONG = 1024
    private static let longest: CK_ULONG = 1 << 24

    func number(_ type: CK_ATTRIBUTE_TYPE) -> CK_ULONG? {
        guard let bytes = values[type], bytes.count == MemoryLayout<CK_ULONG>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: CK_ULONG.self) }
    }
}

/// What a function returns when it does not do what it was asked.
struct TokenError: Error {
    let code: CK_RV

    init(_ code: CK_RV) { self.code = code }
}
