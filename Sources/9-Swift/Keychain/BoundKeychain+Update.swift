import Foundation
import KeychainServices

extension BoundKeychain {
    /// How often an update starts again when others keep changing the item. Each failed attempt means
    /// that somebody else's change went through, so only a runaway writer uses them all up.
    static let updateAttempts = 1_000

    func replace<Value: KeychainValue & Equatable>(
        _ account: String, expecting expected: Value?, with new: Value?
    ) throws -> Bool {
        let newData = try new?.keychainData()
        for _ in 0..<Self.updateAttempts {
            let present = try dataForChange(account)
            // Values are compared, not bytes: two encodings of one value are the same value.
            guard try present.map({ data in try Value(keychainData: data) }) == expected else {
                return false
            }
            if newData == present { return true }
            if try exchange(account, expecting: present, with: newData) { return true }
        }
        throw KeychainError.contended
    }

    func update<Value: KeychainValue>(
        _ account: String, _ body: (inout Value?) throws -> Void
    ) throws -> Value? {
        for _ in 0..<Self.updateAttempts {
            let present = try dataForChange(account)
            var value = try present.map { data in try Value(keychainData: data) }
            try body(&value)
            let new = try value?.keychainData()
            if new == present { return value }
            if try exchange(account, expecting: present, with: new) { return value }
        }
        throw KeychainError.contended
    }
}

extension KeychainError {
    /// Others changed the item before every one of the attempts.
    static let contended = KeychainError(
        .busy, status: errSecNotAvailable, message: "others kept changing the item; try again when they are done")
}
