import KeychainModel

/// A value for each of some protection classes.
///
/// An array and no dictionary: to find out how a class is hashed, the runtime looks through all protocol conformances of the
/// program, which takes a tenth of a millisecond at each start.
struct ClassTable<Value> {
    /// By ``ProtectionClass/storedCode``, which begins with 1.
    private var values = [Value?](repeating: nil, count: ProtectionClass.allCases.count)

    subscript(protection: ProtectionClass) -> Value? {
        get { values[Int(protection.storedCode) - 1] }
        set { values[Int(protection.storedCode) - 1] = newValue }
    }

    /// How many classes have a value.
    var count: Int { values.count { $0 != nil } }

    /// The classes that have a value, and it, in the order of their stored codes.
    var entries: [(protection: ProtectionClass, value: Value)] {
        ProtectionClass.allCases
            .compactMap { protection in self[protection].map { (protection, $0) } }
            .sorted { $0.protection.storedCode < $1.protection.storedCode }
    }

    /// Takes the values of all classes away but of those that `isKept` is true for.
    mutating func keep(_ isKept: (ProtectionClass) -> Bool) {
        for protection in ProtectionClass.allCases where !isKept(protection) { self[protection] = nil }
    }
}

extension ClassTable: Equatable where Value: Equatable {}
extension ClassTable: Sendable where Value: Sendable {}
