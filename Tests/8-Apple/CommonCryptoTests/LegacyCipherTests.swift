import CommonCrypto
import Foundation
import TestSupport
import Testing

/// CAST, RC2 and Blowfish with keys of all sizes, and without OpenSSL's legacy provider. `CryptorTests` has their
/// messages.
@Suite struct LegacyCipherTests {
    struct Vector: Sendable {
        var algorithm: Int
        var key: String
        var text: String
        var sealed: String
    }

    /// RFC 2144, appendix B.1; RFC 2268, section 5, where all bits of the key count; and "set_key test data" of Eric
    /// Young's vectors for Blowfish (Schneier, 1994).
    static let vectors = [
        Vector(
            algorithm: kCCAlgorithmCAST, key: "0123456712345678234567893456789a", text: "0123456789abcdef",
            sealed: "238b4fe5847e44b2"),
        Vector(
            algorithm: kCCAlgorithmCAST, key: "01234567123456782345", text: "0123456789abcdef",
            sealed: "eb6a711a2c02271b"),
        Vector(algorithm: kCCAlgorithmCAST, key: "0123456712", text: "0123456789abcdef", sealed: "7ac816d16e9b302e"),
        Vector(
            algorithm: kCCAlgorithmRC2, key: "ffffffffffffffff", text: "ffffffffffffffff", sealed: "278b27e42e2f0d49"),
        Vector(
            algorithm: kCCAlgorithmRC2, key: "3000000000000000", text: "1000000000000001", sealed: "30649edf9be7d2c2"),
        Vector(
            algorithm: kCCAlgorithmRC2, key: "88bca90e90875a7f0f79c384627bafb2", text: "0000000000000000",
            sealed: "2269552ab0f85ca6"),
        Vector(
            algorithm: kCCAlgorithmBlowfish, key: "f0e1d2c3b4a59687", text: "fedcba9876543210",
            sealed: "e87a244e2cc85e82"),
        Vector(
            algorithm: kCCAlgorithmBlowfish, key: "f0e1d2c3b4a5968778695a4b3c2d1e0f", text: "fedcba9876543210",
            sealed: "93142887ee3be15c"),
        Vector(
            algorithm: kCCAlgorithmBlowfish, key: "f0e1d2c3b4a5968778695a4b3c2d1e0f0011223344556677",
            text: "fedcba9876543210", sealed: "05044b62fa52d080"),
    ]

    private static func crypt(_ operation: Int, _ algorithm: Int, key: Data, _ data: Data) -> (CCCryptorStatus, Data) {
        var (output, moved) = ([UInt8](repeating: 0, count: data.count), 0)
        let status = CCCrypt(
            CCOperation(operation), CCAlgorithm(algorithm), CCOptions(kCCOptionECBMode), Array(key), key.count, nil,
            Array(data), data.count, &output, output.count, &moved)
        return (status, Data(output.prefix(moved)))
    }

    @Test(arguments: vectors) func publishedMessages(_ vector: Vector) {
        let (key, text) = (Data(hex: vector.key), Data(hex: vector.text))
        let (status, sealed) = Self.crypt(kCCEncrypt, vector.algorithm, key: key, text)
        #expect(status == kCCSuccess && sealed.hex == vector.sealed)
        #expect(Self.crypt(kCCDecrypt, vector.algorithm, key: key, sealed).1 == text)
    }

    /// Every byte of a key counts.
    @Test(arguments: [
        (kCCAlgorithmCAST, kCCKeySizeMinCAST, kCCKeySizeMaxCAST), (kCCAlgorithmRC2, kCCKeySizeMinRC2, 64),
        (kCCAlgorithmBlowfish, kCCKeySizeMinBlowfish, kCCKeySizeMaxBlowfish),
    ]) func keysOfAllSizes(_ algorithm: Int, _ least: Int, _ most: Int) {
        let text = Data(repeating: 7, count: 8)
        var seen: Set<Data> = []
        for size in least...most {
            for last: UInt8 in [1, 2] {
                let key = Data(repeating: 3, count: size - 1) + [last]
                let (status, sealed) = Self.crypt(kCCEncrypt, algorithm, key: key, text)
                #expect(status == kCCSuccess && seen.insert(sealed).inserted, "\(size)")
                #expect(Self.crypt(kCCDecrypt, algorithm, key: key, sealed).1 == text, "\(size)")
            }
        }
    }

    @Test(arguments: [(nil, "0 0 0 0"), ("/nowhere", "0 -4305 -4305 -4305")] as [(String?, String)])
    func withoutTheProvider(_ folder: String?, _ statuses: String) throws {
        let binary = URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "CipherWorker")
        let run = try ProgramStart([binary.path], environment: folder.map { ["OPENSSL_MODULES=\($0)"] } ?? []).run()
        #expect(run.text == statuses + "\n", "\(run.errors)")
    }
}
