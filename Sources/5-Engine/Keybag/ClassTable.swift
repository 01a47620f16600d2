import Bytes
import KeychainModel

/// A value for some of the protection classes.
///
/// An array instead of a dictionary: to find out how to hash a class, the runtime searches all protocol conformances of
/// the program, which takes a tenth of a millisecond at each start.
struct ClassTable<Value> {
    /// Indexed by ``ProtectionClass/storedCode``, which begins with 1.
    private var values = [Value?](repeating: nil, count: ProtectionClass.allCases.count)

    subscript(protection: ProtectionClass) -> Value? {
        get { values[Int(protection.storedCode) - 1] }
        set { values[Int(protection.storedCode) - 1] = newValue }
    }

    /// The number of classes with a value.
    var count: Int { values.count { $0 != nil } }

    /// The classes with a value, in the order of their stored codes.
    var entries: [(protection: ProtectionClass, value: Value)] {
        ProtectionClass.allCases
            .compactMap { protection in self[protection].map { (protection, $0) } }
            .sorted { $0.protection.storedCode < $1.protection.storedCode }
    }

    /// Removes the values of all classes except those for which `isKept` returns true.
    mutating func keep(_ isKept: (ProtectionClass) -> Bool) {
        for protection in ProtectionClass.allCases where !isKept(protection) { self[protection] = nil }
    }
}

extension ClassTable: Equatable where Value: Equatable {}
extension ClassTable: Sendable where Value: Sendable {}
