import Foundation
import OneTimeCodes
import TestSupport
import Testing

/// Codes by time and by counter, against the vectors of the RFCs and against oathtool.
@Suite struct OneTimePasswordTests {
    private static let digits = "12345678901234567890"

    private static func seed(_ count: Int) -> Data { Data(String(repeating: digits, count: 4).utf8.prefix(count)) }

    /// RFC 4226, appendix D.
    @Test func codesByCounter() throws {
        let codes = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        for (counter, code) in codes.enumerated() {
            let password = try OneTimePassword(secret: Self.seed(20), factor: .counter(UInt64(counter)))
            #expect(password.code(at: .now) == code)
            #expect(password.secondsLeft(at: .now) == nil)
        }
    }

    /// RFC 6238, appendix B.
    @Test(arguments: [
        (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
        (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
        (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
    ])
    func codesByTime(_ seconds: Int, _ sha1: String, _ sha256: String, _ sha512: String) throws {
        let time = Date(timeIntervalSince1970: Double(seconds))
        for (algorithm, count, code) in [
            (OneTimePassword.Algorithm.sha1, 20, sha1), (.sha256, 32, sha256), (.sha512, 64, sha512),
        ] {
            let password = try OneTimePassword(secret: Self.seed(count), algorithm: algorithm, form: .digits(8))
            #expect(password.code(at: time) == code)
        }
    }

    @Test func aCodeIsGoodToTheEndOfItsPeriod() throws {
        let password = try OneTimePassword(secret: Self.seed(20), factor: .time(period: 60))
        #expect(password.secondsLeft(at: Date(timeIntervalSince1970: 120)) == 60)
        #expect(password.secondsLeft(at: Date(timeIntervalSince1970: 179.9)) == 1)
        let codes = [120, 179.9, 180].map { password.code(at: Date(timeIntervalSince1970: $0)) }
        #expect(codes[0] == codes[1] && codes[1] != codes[2])
    }

    /// Debian's oathtool computes the same codes.
    @Test func oathtoolAgrees() throws {
        let count = TestScale.count(60, soak: 10_000)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<count {
            let secret = Data((0..<Int.random(in: 10...64)).map { _ in UInt8.random(in: 0...255, using: &random) })
            let algorithm = OneTimePassword.Algorithm.allCases.randomElement(using: &random) ?? .sha1
            let (digits, period) = (Int.random(in: 6...8), [30, 60, 15].randomElement(using: &random) ?? 30)
            let time = Date(timeIntervalSince1970: Double(Int.random(in: 0...4_000_000_000)))
            let password = try OneTimePassword(
                secret: secret, algorithm: algorithm, form: .digits(digits), factor: .time(period: period))
            let outcome = try ProgramStart([
                "/usr/bin/oathtool", "--totp=\(algorithm.rawValue.lowercased())", "--base32", password.secretText,
                "--digits=\(digits)", "--time-step-size=\(period)s", "--now", "@\(Int(time.timeIntervalSince1970))",
            ]).run()
            #expect(outcome.text == password.code(at: time) + "\n", "\(password) at \(time): \(outcome.errors)")
        }
    }

    // MARK: Text

    @Test func anAddressIsReadAndWritten() throws {
        let text =
            "otpauth://totp/ACME%20Co:john.doe@email.com?secret=HXDMVJECJJWSRB3HWIZR4IFUGFTMXBOZ&issuer=ACME%20Co&algorithm=SHA256&digits=8&period=60"
        let password = try OneTimePassword(text)
        #expect(password.issuer == "ACME Co" && password.account == "john.doe@email.com")
        #expect(password.algorithm == .sha256 && password.form == .digits(8) && password.factor == .time(period: 60))
        #expect(try OneTimePassword(password.uri) == password)
        #expect(password.uri.contains("secret=HXDMVJECJJWSRB3HWIZR4IFUGFTMXBOZ"))
    }

    @Test(arguments: [
        "JBSWY3DPEHPK3PXP", "jbsw y3dp ehpk 3pxp", "JBSW-Y3DP-EHPK-3PXP", "JBSWY3DPEHPK3PXP====", " JBSWY3DPEHPK3PXP\n",
        "otpauth://totp/x?secret=jbswy3dpehpk3pxp",
        "OTPAUTH://TOTP/x?SECRET=JBSWY3DPEHPK3PXP&digits=&algorithm=hmac-sha1",
    ])
    func peopleTypeSecretsInManyWays(_ text: String) throws {
        let password = try OneTimePassword(text)
        #expect(password.secret == Data("Hello!".utf8) + [0xDE, 0xAD, 0xBE, 0xEF])
        #expect(password.algorithm == .sha1 && password.form == .digits(6) && password.factor == .time(period: 30))
    }

    @Test(arguments: [
        "steam://JBSWY3DPEHPK3PXP", "otpauth://steam/Steam:a?secret=JBSWY3DPEHPK3PXP",
        "otpauth://totp/Steam:a?secret=JBSWY3DPEHPK3PXP&encoder=steam",
    ])
    func steamHasLettersOfItsOwn(_ text: String) throws {
        let password = try OneTimePassword(text)
        #expect(password.form == .steam)
        let code = password.code(at: Date(timeIntervalSince1970: 0))
        #expect(code.count == 5 && code.allSatisfy { "23456789BCDFGHJKMNPQRTVWXY".contains($0) })
        #expect(try OneTimePassword(password.uri).code(at: .distantPast) == code)
    }

    @Test func whatIsWrongIsNamed() {
        let cases: [(String, OneTimePasswordError)] = [
            ("", .format), ("not base32!", .format), ("otpauth://totp/x", .secret),
            ("otpauth://totp/x?secret=1", .secret),
            ("otpauth://totp/x?secret=AA&digits=5", .outOfRange("digits")),
            ("otpauth://totp/x?secret=AA&digits=99999999999999999999", .outOfRange("digits")),
            ("otpauth://totp/x?secret=AA&period=0", .outOfRange("period")),
            ("otpauth://hotp/x?secret=AA&counter=-1", .outOfRange("counter")),
            ("otpauth://totp/x?secret=AA&algorithm=MD5", .unknown("algorithm", "MD5")),
            ("otpauth://motp/x?secret=AA", .unknown("type", "motp")),
            (String(repeating: "A", count: 10_000), .format),
        ]
        for (text, error) in cases {
            #expect(throws: error) { try OneTimePassword(text) }
        }
    }

    /// Whatever is read never ends the program.
    @Test func anyTextIsReadOrRefused() {
        var random = SystemRandomNumberGenerator()
        let start = Array("otpauth://totp/Issuer:account?secret=JBSWY3DPEHPK3PXP&digits=6&period=30&counter=1".utf8)
        for _ in 0..<TestScale.count(2_000, soak: 200_000) {
            var bytes = start
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            guard let password = try? OneTimePassword(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect((try? OneTimePassword(password.uri)) == password)
        }
    }
}
