import Certificates
import Foundation
import Testing

@testable import KeychainServices

/// The file of known answers.
struct Vectors: Decodable {
    struct Key: Decodable {
        let `private`: Hexadecimal
        let `public`: Hexadecimal
    }

    struct Signature: Decodable {
        let key: String
        let algorithm: String
        let input: Hexadecimal
        let signature: Hexadecimal
    }

    struct Encryption: Decodable {
        let key: String
        let algorithm: String
        let input: Hexadecimal
        let ciphertext: Hexadecimal
    }

    struct Exchange: Decodable {
        let key: String
        let peer: Hexadecimal
        let algorithm: String
        let count: Int
        let sharedInfo: Hexadecimal
        let result: Hexadecimal
    }

    let keys: [String: Key]
    let signatures: [Signature]
    let encryptions: [Encryption]
    let exchanges: [Exchange]

    static func read() throws -> Vectors {
        let url = try #require(
            Bundle.module.url(forResource: "vectors", withExtension: "json", subdirectory: "Fixtures"))
        return try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: url))
    }

    /// Both halves of a key of the file.
    func pair(_ name: String) throws -> KeyPair {
        let key = try #require(keys[name])
        return try KeyPair(private: key.private.data, public: key.public.data)
    }
}

/// Bytes written as hexadecimal digits.
struct Hexadecimal: Decodable {
    let data: Data

    init(from decoder: any Decoder) throws {
        let digits = try decoder.singleValueContainer().decode(String.self)
        guard let data = Data(hexadecimal: digits) else { throw CocoaError(.coderReadCorrupt) }
        self.data = data
    }
}

extension Data {
    private static let digits = Array("0123456789abcdef".utf8)

    init?(hexadecimal digits: String) {
        let values = digits.utf8.map { digit -> UInt8? in
            switch digit {
            case 0x30...0x39: digit - 0x30
            case 0x61...0x66: digit - 0x61 + 10
            default: nil
            }
        }
        guard values.count.isMultiple(of: 2), !values.contains(nil) else { return nil }
        self.init(
            stride(from: 0, to: values.count, by: 2).map { ((values[$0] ?? 0) << 4) | (values[$0 + 1] ?? 0) })
    }

    var hexadecimal: String {
        String(decoding: flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
