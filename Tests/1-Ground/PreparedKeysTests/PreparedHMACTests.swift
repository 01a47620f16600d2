import Bytes
import Crypto
import PreparedKeys
import Testing

/// HMAC-SHA256 under a prepared key.
@Suite struct PreparedHMACTests {
    /// RFC 4231, test cases 1, 2 and 6: a short key, a message of text, a key longer than a block.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func knownCodes(_ key: [UInt8], _ message: String, _ code: String) throws {
        for preparing in [true, false] {
            let prepared = PreparedHMAC(SymmetricKey(data: key), preparing: preparing)
            let made = prepared.authenticate(Array(message.utf8)) { [UInt8]($0) }
            #expect(made == [UInt8](hexadecimal: code.utf8))
        }
    }

    @Test func agreesWithSwiftCrypto() {
        let key = SymmetricKey(size: .bits256)
        let prepared = PreparedHMAC(key)
        for size in 0..<200 {
            let message = [UInt8].random(count: size)
            let expected = Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
            #expect(prepared.authenticate(message) { [UInt8]($0) } == expected, "\(size) bytes")
        }
    }

    @Test func manyThreadsUseOneKey() async {
        let key = SymmetricKey(size: .bits256)
        let prepared = PreparedHMAC(key)
        let message = [UInt8](repeating: 7, count: 100)
        let expected = Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<2_000).allSatisfy { _ in prepared.authenticate(message) { [UInt8]($0) } == expected }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
