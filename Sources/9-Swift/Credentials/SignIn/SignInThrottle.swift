import CLibrary
import Foundation
import Synchronization

/// Slows down tries at passwords: of each account, from each address, and from each device that has signed in to the
/// account before.
///
/// ```swift
/// if let wait = throttle.begin(account: form.email, address: client.address, device: cookie) {
///     return tooManyTries(retryAfter: wait)
/// }
/// guard try await hasher.verify(password, against: hash).isCorrect else { return wrong }
/// throttle.succeeded(account: form.email, address: client.address, device: cookie)
/// ```
///
/// A try counts from its beginning, so that tries at the same time all count. After a few free ones each try doubles
/// the wait. An account waits a minute at most, since an attacker with many addresses makes its owner wait as well. A
/// device from which the owner has signed in before, and which shows the token that it got then (``DeviceTokens``), has
/// tries of its own for the account and does not wait for those of others. Addresses wait in any case. Tries are kept
/// in memory only, and are forgotten little by little.
///
/// Name accounts as the app looks them up: trimmed, in lower case.
public final class SignInThrottle: Sendable {
    /// How tries are slowed down.
    public struct Limits: Sendable, Hashable {
        /// The number of tries without a wait.
        public var freeTries: Int
        /// The first wait.
        public var firstDelay: Duration
        /// The wait grows up to this.
        public var longestDelay: Duration
        /// In this time ``freeTries`` tries are forgotten, one after the other. After this time without any try, all
        /// are forgotten.
        public var memory: Duration

        /// Limits; see the properties.
        public init(freeTries: Int, firstDelay: Duration, longestDelay: Duration, memory: Duration) {
            (self.freeTries, self.firstDelay) = (freeTries, firstDelay)
            (self.longestDelay, self.memory) = (longestDelay, memory)
        }

        /// Five tries, then from one second to one minute; forgotten after an hour.
        public static let account = Limits(
            freeTries: 5, firstDelay: .seconds(1), longestDelay: .seconds(60), memory: .seconds(3600))
        /// Twenty tries, then from one second to a quarter of an hour; forgotten after a day. Many people may share an
        /// address.
        public static let address = Limits(
            freeTries: 20, firstDelay: .seconds(1), longestDelay: .seconds(900), memory: .seconds(86_400))
        /// As an account: five tries, then from one second to one minute; forgotten after an hour.
        public static let device = account
    }

    private struct State {
        var accounts: TryLedger
        var addresses: TryLedger
        var devices: TryLedger
    }

    private let state: Mutex<State>
    private let tokens: DeviceTokens?
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - account: For each account, where the device is not known.
    ///   - address: For each address; of IPv6 the first 64 bits, which one subscriber has. Ports do not count, and all
    ///     that is no address counts as one.
    ///   - device: For each device that is known for the account.
    ///   - devices: What devices are known by; nil for none.
    ///   - capacity: How many accounts, addresses and devices are remembered. Beyond that, those with few tries and the
    ///     longest silence are forgotten first. One that has to wait is kept, unless twice as many have to wait.
    public convenience init(
        account: Limits = .account, address: Limits = .address, device: Limits = .device,
        devices: DeviceTokens? = nil, capacity: Int = 100_000
    ) {
        self.init(account: account, address: address, device: device, devices: devices, capacity: capacity) {
            ContinuousClock.now
        }
    }

    init(
        account: Limits, address: Limits, device: Limits, devices: DeviceTokens?, capacity: Int,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        state = Mutex(
            State(
                accounts: TryLedger(account, capacity: capacity), addresses: TryLedger(address, capacity: capacity),
                devices: TryLedger(device, capacity: capacity)))
        (tokens, self.now) = (devices, now)
    }

    /// Before a password is looked at.
    ///
    /// - Parameter token: What the device has shown to be known by; one that was not made for the account counts as
    ///   none.
    /// - Returns: How long to wait before the next try, if this one may not be made; nil if it may, and is counted.
    public func begin(account name: String, address source: String, device token: String? = nil) -> Duration? {
        let now = now()
        let (ledger, key) = budget(name, token)
        let subscriber = TryLedger.Key(Self.subscriber(source))
        return state.withLock { state in
            let wait = max(state[keyPath: ledger].wait(key, now), state.addresses.wait(subscriber, now))
            guard wait <= .zero else { return wait }
            state[keyPath: ledger].note(key, now)
            state.addresses.note(subscriber, now)
            return nil
        }
    }

    /// After the right password: the device's tries are forgotten, or where it is not known the account's, and of the
    /// address the one that was counted.
    ///
    /// - Parameter token: The same as before.
    public func succeeded(account name: String, address source: String, device token: String? = nil) {
        let now = now()
        let (ledger, key) = budget(name, token)
        let subscriber = TryLedger.Key(Self.subscriber(source))
        state.withLock { state in
            state[keyPath: ledger].forget(key)
            state.addresses.takeBack(subscriber, now)
        }
    }

    /// After a try whose password was not looked at, as when hashing has refused with ``CredentialsError/Code/busy``:
    /// it does not count.
    ///
    /// - Parameter token: The same as before.
    public func notLookedAt(account name: String, address source: String, device token: String? = nil) {
        let now = now()
        let (ledger, key) = budget(name, token)
        let subscriber = TryLedger.Key(Self.subscriber(source))
        state.withLock { state in
            state[keyPath: ledger].takeBack(key, now)
            state.addresses.takeBack(subscriber, now)
        }
    }

    /// Where tries of an account are counted.
    private func budget(_ name: String, _ token: String?) -> (WritableKeyPath<State, TryLedger>, TryLedger.Key) {
        if let token, tokens?.isValid(token, for: name) == true { return (\.devices, TryLedger.Key(token)) }
        return (\.accounts, TryLedger.Key(name))
    }

    /// How many accounts and addresses are known.
    var count: (accounts: Int, addresses: Int) { state.withLock { ($0.accounts.count, $0.addresses.count) } }

    /// The part of an address that one subscriber has: all of IPv4, 64 bits of IPv6 (RFC 4291, section 2.5.4).
    static func subscriber(_ address: String) -> String {
        var address = address.prefix(64)[...]
        if address.first == "[" { address = address.dropFirst().prefix { $0 != "]" } }
        if address.count(where: { $0 == ":" }) == 1 { address = address.prefix { $0 != ":" } }
        address = address.prefix { $0 != "%" }
        var (bytes, older) = (in6_addr(), in_addr())
        if inet_pton(AF_INET, String(address), &older) == 1 { return String(address) }
        guard inet_pton(AF_INET6, String(address), &bytes) == 1 else { return "none" }
        return withUnsafeBytes(of: bytes) { bytes in
            // ::ffff:a.b.c.d stands for an IPv4 address.
            if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
                return bytes[12...].map(String.init).joined(separator: ".")
            }
            return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
        }
    }
}
