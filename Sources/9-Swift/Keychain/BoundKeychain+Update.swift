import Foundation
import KeychainServices
import VaultInterface

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
        _ account: String, decidedBy decider: Keychain.Decider, _ body: (inout Value?) throws -> Void
    ) throws -> Value? {
        for _ in 0..<Self.updateAttempts {
            let present = try dataForChange(account)
            var value = try present.map { data in try Value(keychainData: data) }
            try body(&value)
            let new = try value?.keychainData()
            if new == present { return value }
            switch decider {
            case .vault:
                if try exchange(account, expecting: present, with: new) { return value }
            case .circle:
                var exchange = CircleExchange(try newItem(account, new), expecting: present)
                if try decided(&exchange) { return value }
            }
        }
        throw KeychainError.contended
    }

    /// Has the circle decide, and waits.
    private func decided(_ exchange: inout CircleExchange) throws -> Bool {
        while true {
            let step = try KeychainError.translating { try exchange.step(session) }
            switch step {
            case .wait(let time): Thread.sleep(forTimeInterval: time / .seconds(1))
            case .done(.refused):
                Thread.sleep(forTimeInterval: CircleExchange.pause / .seconds(1))
                return false
            case .done(let outcome): return try isExchanged(outcome)
            }
        }
    }

    /// Whether a change is in force; if it is not, the item is to be read again.
    func isExchanged(_ outcome: CircleExchange.Outcome) throws -> Bool {
        switch outcome {
        case .exchanged: return true
        case .differs, .refused: return false
        case .undecided: throw KeychainError.undecided
        case .impossible(let obstacle): throw KeychainError(obstacle)
        }
    }
}

extension KeychainError {
    /// Others changed the item before every one of the attempts.
    static let contended = KeychainError(
        .busy, status: errSecNotAvailable, message: "others kept changing the item; try again when they are done")

    /// The store of the circle was not reached, or did not answer.
    static let undecided = KeychainError(
        .circleUnavailable, status: errSecNotAvailable,
        message:
            "the circle's etcd did not decide in time, and the change was taken back; a change that was on its way "
            + "may still come into force. Run `keychain-sync`, or see what keeps it with `keychain circle doctor`")

    init(_ obstacle: CircleObstacle) {
        let reason =
            switch obstacle {
            case .noCircle:
                "this vault is in no circle; make one with `keychain circle create --etcd`, or join one"
            case .noMember:
                "this vault is no member of its circle: have a member approve it, or leave and join again"
            case .mayNotWrite:
                "this vault may not change items of its circle; have a member invite it with that right"
            case .folder:
                "the circle meets in a folder, where nobody decides; move it with `keychain circle move --etcd`"
            case .itemStays:
                "the item stays on this device; it has to be synchronizable, without an access control, and of a class "
                    + "that does not end in 'this device only'"
            case .groupStays:
                "the items of the access group do not travel; let them with `keychain circle add`"
            case .tooLarge: "the item is too large to travel; keep large data in a file"
            }
        self.init(
            .circleUnavailable, status: errSecNotAvailable, message: "the circle cannot decide: " + reason)
    }
}
