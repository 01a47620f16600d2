import Crypto
import Synchronization
import Testing

@testable import Credentials

@Suite struct SignInThrottleTests {
    private final class Clock: Sendable {
        private let start = ContinuousClock.now
        private let passed = Mutex(Duration.zero)
        func advance(_ by: Duration) { passed.withLock { $0 += by } }
        var now: ContinuousClock.Instant { start + passed.withLock { $0 } }
    }

    private let clock = Clock()

    private func throttle(capacity: Int = 1_000, devices: DeviceTokens? = nil) -> SignInThrottle {
        SignInThrottle(account: .account, address: .address, device: .device, devices: devices, capacity: capacity) {
            [clock] in clock.now
        }
    }

    @Test func anAccountIsTried() {
        let throttle = throttle()
        for number in 0..<5 { #expect(throttle.begin(account: "ada", address: "192.0.2.\(number)") == nil) }
        #expect(throttle.begin(account: "ada", address: "192.0.2.9") == .seconds(1))
        #expect(throttle.begin(account: "bob", address: "192.0.2.9") == nil)
        var waits: [Duration] = []
        for number in 0..<9 {
            let wait = throttle.begin(account: "ada", address: "192.0.2.\(number)") ?? .zero
            waits.append(wait)
            clock.advance(wait)
            #expect(throttle.begin(account: "ada", address: "192.0.2.\(number)") == nil)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
        // Waiting is not counted as trying.
        #expect(throttle.begin(account: "ada", address: "192.0.2.1") == .seconds(60))
        clock.advance(.seconds(60))
        #expect(throttle.begin(account: "ada", address: "192.0.2.1") == nil)
        throttle.succeeded(account: "ada", address: "192.0.2.1")
        for _ in 0..<5 { #expect(throttle.begin(account: "ada", address: "192.0.2.200") == nil) }
        #expect(throttle.begin(account: "ada", address: "192.0.2.200") != nil)
    }

    /// Whoever was refused because too many were waiting has not tried.
    @Test func triesThatWereNotLookedAt() {
        let throttle = throttle()
        for _ in 0..<100 {
            #expect(throttle.begin(account: "ada", address: "192.0.2.1") == nil)
            throttle.notLookedAt(account: "ada", address: "192.0.2.1")
        }
        for _ in 0..<5 { #expect(throttle.begin(account: "ada", address: "192.0.2.1") == nil) }
        #expect(throttle.begin(account: "ada", address: "192.0.2.1") != nil)
    }

    @Test func anAddressTriesAccounts() {
        let throttle = throttle()
        for number in 0..<20 { #expect(throttle.begin(account: "\(number)", address: "2001:db8::\(number)") == nil) }
        #expect(throttle.begin(account: "x", address: "2001:db8::ffff") == .seconds(1))
        #expect(throttle.begin(account: "x", address: "2001:db8:0:1::1") == nil)
    }

    @Test func rightPasswordsOfManyBehindOneAddress() {
        let throttle = throttle()
        for number in 0..<1_000 {
            #expect(throttle.begin(account: "\(number)", address: "192.0.2.1") == nil)
            throttle.succeeded(account: "\(number)", address: "192.0.2.1")
        }
    }

    @Test func triesAreForgotten() {
        let throttle = throttle()
        for _ in 0..<5 { #expect(throttle.begin(account: "ada", address: "192.0.2.1") == nil) }
        clock.advance(.seconds(3_600))
        for _ in 0..<5 { #expect(throttle.begin(account: "ada", address: "192.0.2.2") == nil) }
    }

    /// A busy address with a wrong password now and then does not come to wait.
    @Test func triesAreForgottenOneByOne() {
        let throttle = throttle()
        for number in 0..<1_000 {
            clock.advance(.seconds(86_400 / 20))
            #expect(throttle.begin(account: "\(number)", address: "192.0.2.1") == nil)
        }
    }

    /// Many at the same time are many.
    @Test func all() async {
        let throttle = throttle()
        let allowed = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { throttle.begin(account: "ada", address: "192.0.2.1") == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(allowed == 5)
    }

    @Test func namesDoNotFillTheMemory() {
        let throttle = throttle(capacity: 100)
        for _ in 0..<5 { _ = throttle.begin(account: "ada", address: "192.0.2.1") }
        #expect(throttle.begin(account: "ada", address: "192.0.2.2") != nil)
        for number in 0..<10_000 {
            clock.advance(.microseconds(1))
            #expect(throttle.begin(account: "\(number)", address: "2001:db8:\(String(number, radix: 16))::1") == nil)
        }
        #expect(throttle.count.accounts <= 100 && throttle.count.addresses <= 100)
        // The one who has to wait was not forgotten.
        #expect(throttle.begin(account: "ada", address: "192.0.2.2") != nil)
    }

    /// A device that is known for the account has tries of its own, whoever tries the account from elsewhere.
    @Test func knownDevices() throws {
        let devices = try DeviceTokens(key: SymmetricKey(size: .bits256))
        let throttle = throttle(devices: devices)
        let (phone, laptop) = (devices.make(for: "ada"), devices.make(for: "ada"))
        for number in 0..<5 { #expect(throttle.begin(account: "ada", address: "192.0.2.\(number)") == nil) }
        #expect(throttle.begin(account: "ada", address: "192.0.2.9") != nil)
        // Unknown and forged ones, and those of somebody else, count as none.
        let strangers = try DeviceTokens(key: SymmetricKey(size: .bits256)).make(for: "ada")
        for token in [strangers, devices.make(for: "eve"), "", "x", phone + "A", String(phone.dropLast(4))] {
            #expect(throttle.begin(account: "ada", address: "192.0.2.9", device: token) != nil)
        }
        for _ in 0..<5 { #expect(throttle.begin(account: "ada", address: "198.51.100.1", device: phone) == nil) }
        #expect(throttle.begin(account: "ada", address: "198.51.100.1", device: phone) == .seconds(1))
        #expect(throttle.begin(account: "ada", address: "198.51.100.1", device: laptop) == nil)
        // The right password on one device gives neither another one nor strangers more tries.
        throttle.succeeded(account: "ada", address: "198.51.100.1", device: laptop)
        #expect(throttle.begin(account: "ada", address: "198.51.100.1", device: phone) == .seconds(1))
        #expect(throttle.begin(account: "ada", address: "192.0.2.9") != nil)
        clock.advance(.seconds(1))
        #expect(throttle.begin(account: "ada", address: "198.51.100.1", device: phone) == nil)
        throttle.succeeded(account: "ada", address: "198.51.100.1", device: phone)
        for _ in 0..<5 { #expect(throttle.begin(account: "ada", address: "203.0.113.1", device: phone) == nil) }
        // What a device tries does not count for the account.
        throttle.succeeded(account: "bob", address: "192.0.2.1")
        let bobs = devices.make(for: "bob")
        for _ in 0..<5 { #expect(throttle.begin(account: "bob", address: "203.0.113.2", device: bobs) == nil) }
        #expect(throttle.begin(account: "bob", address: "203.0.113.3") == nil)
        // Its address waits as any other.
        for number in 0..<20 { _ = throttle.begin(account: "\(number)", address: "203.0.113.4") }
        #expect(throttle.begin(account: "bob", address: "203.0.113.4", device: devices.make(for: "bob")) == .seconds(1))
    }

    /// Without a key nobody is known.
    @Test func withoutDevices() throws {
        let throttle = throttle()
        let token = try DeviceTokens(key: SymmetricKey(size: .bits256)).make(for: "ada")
        for _ in 0..<5 { #expect(throttle.begin(account: "ada", address: "192.0.2.1", device: token) == nil) }
        #expect(throttle.begin(account: "ada", address: "192.0.2.2", device: token) != nil)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8::1", "20:1:d:b8:0:0:0:0"),
        ("", "none"),
        ("unix", "none"), ("192.0.2.1:51234", "192.0.2.1"), ("[2001:db8::1]:443", "20:1:d:b8:0:0:0:0"),
        ("fe80::1%eth0", "fe:80:0:0:0:0:0:0"),
    ])
    func subscribers(_ address: (given: String, subscriber: String)) {
        #expect(SignInThrottle.subscriber(address.given) == address.subscriber)
    }
}
