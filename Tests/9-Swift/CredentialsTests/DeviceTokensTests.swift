import Crypto
import Foundation
import Testing

@testable import Credentials

@Suite struct DeviceTokensTests {
    /// Made with Python's hmac: bytes 0x40 to 0x4F, and HMAC-SHA256 over `device`, zero, these and the account.
    @Test func aKnownToken() throws {
        let devices = try DeviceTokens(key: SymmetricKey(data: Data(0..<32)))
        let token = "QEFCQ0RFRkdISUpLTE1OTyAa0JjE1J3IOHu_r_wGb-0lSVR2AX3UN1gcpBMKP02h"
        #expect(devices.isValid(token, for: "ada@example.com"))
        #expect(!devices.isValid(token, for: "ada@example.org"))
    }

    @Test func tokensAreBound() throws {
        let (devices, others) = (
            try DeviceTokens(key: SymmetricKey(size: .bits256)), try DeviceTokens(key: SymmetricKey(size: .bits256))
        )
        let token = devices.make(for: "ada")
        #expect(devices.make(for: "ada") != token)
        #expect(token.utf8.count == 64 && devices.isValid(token, for: "ada"))
        #expect(!devices.isValid(token, for: "eve") && !devices.isValid(token, for: ""))
        #expect(!others.isValid(token, for: "ada"))
        // Each changed character, and each other spelling.
        for place in 0..<64 {
            var changed = Array(token.utf8)
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(!devices.isValid(String(decoding: changed, as: UTF8.self), for: "ada"))
        }
        for wrong in [
            "", token + "A", token + "====", " " + token.dropFirst(), token + "\n", String(token.dropLast(4)),
        ] {
            #expect(!devices.isValid(wrong, for: "ada"))
        }
    }

    @Test func keysAndDescriptions() throws {
        #expect(throws: CredentialsError(.weakKey, message: "")) {
            try DeviceTokens(key: SymmetricKey(size: .bits128))
        }
        let devices = try DeviceTokens(key: SymmetricKey(data: Data("tell nobody tell nobody tell nob".utf8)))
        var dumped = ""
        dump(devices, to: &dumped)
        #expect(!("\(devices)" + String(reflecting: devices) + dumped).contains("tell"))
    }
}
