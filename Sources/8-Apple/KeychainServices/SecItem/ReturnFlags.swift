/// Which of the `kSecReturn…` keys are true.
struct ReturnFlags: OptionSet, Hashable {
    let rawValue: UInt8

    static let data = ReturnFlags(rawValue: 1 << 0)
    static let attributes = ReturnFlags(rawValue: 1 << 1)
    static let reference = ReturnFlags(rawValue: 1 << 2)
    static let persistentReference = ReturnFlags(rawValue: 1 << 3)

    /// Reads an entry whose key starts with `r`. Only a Boolean is a value; false is the same as no entry.
    mutating func read(_ key: String, _ value: Any) throws(SecItemFailure) {
        let flag: ReturnFlags
        switch key {
        case "r_Data": flag = .data
        case "r_Attributes": flag = .attributes
        case "r_Ref": flag = .reference
        case "r_PersistentRef": flag = .persistentReference
        default: throw .parameter
        }
        guard let isSet = AttributeCoercion.boolean(value) else { throw .parameter }
        if isSet { insert(flag) }
    }
}
