import Bytes
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
    init?(hexadecimal digits: String) {
        guard let bytes = [UInt8](lowercaseHexadecimal: digits.utf8) else { return nil }
        self.init(bytes)
    }

    var hexadecimal: String { self.hexadecimal() }
}
