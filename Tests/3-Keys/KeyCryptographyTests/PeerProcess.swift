import Foundation
import Synchronization
import TestSupport
import Testing

@testable import KeychainServices

/// `Peer/peer.py`: the same operations by Python's cryptography, in a process of its own.
final class PeerProcess: Sendable {
    /// One for all tests, because it takes a while to start; it ends with its input.
    private static let started = Result { try PeerProcess() }
    private let worker: Mutex<Worker>

    static func shared() throws -> PeerProcess { try started.get() }

    private init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Peer/peer.py")
        worker = Mutex(try Worker(["-B", script.path], command: "python3"))
    }

    private func ask(_ request: [String: Any]) throws -> [String: Any] {
        var line = [UInt8](try JSONSerialization.data(withJSONObject: request))
        line.append(0x0A)
        let reply = worker.withLock { [line] worker in
            worker.send(line)
            return worker.readLine()
        }
        let answer = try #require(reply, "the peer ended")
        let object = try JSONSerialization.jsonObject(with: Data(answer.utf8))
        let members = try #require(object as? [String: Any])
        if let error = members["error"] { throw PeerError(description: "\(error)") }
        return members
    }

    private func result(_ request: [String: Any]) throws -> Data {
        let digits = try #require(try ask(request)["result"] as? String)
        return try #require(Data(hexadecimal: digits))
    }

    func randomPair(_ type: String, _ bits: Int) throws -> KeyPair {
        let answer = try ask(["op": "generate", "type": type, "bits": bits])
        let halves = try ["private", "public"].map { half in
            let digits = try #require(answer[half] as? String)
            return try #require(Data(hexadecimal: digits))
        }
        return try KeyPair(private: halves[0], public: halves[1])
    }

    /// The RSA key with this modulus and these exponents, which is all that some files give of it.
    func completePair(modulus: Data, publicExponent: Data, privateExponent: Data) throws -> SecKey {
        let request = [
            "op": "complete", "n": modulus.hexadecimal, "e": publicExponent.hexadecimal,
            "d": privateExponent.hexadecimal,
        ]
        return try SecKey.make(try result(request), kSecAttrKeyClassPrivate)
    }

    func sign(_ input: Data, with key: SecKey, _ algorithm: String) throws -> Data {
        try result(
            ["op": "sign", "key": key.external().hexadecimal, "algorithm": algorithm, "input": input.hexadecimal])
    }

    func verify(_ signature: Data, of input: Data, by key: SecKey, _ algorithm: String) throws -> Bool {
        let answer = try ask([
            "op": "verify", "key": key.external().hexadecimal, "algorithm": algorithm, "input": input.hexadecimal,
            "signature": signature.hexadecimal,
        ])
        return try #require(answer["isValid"] as? Bool)
    }

    func encrypt(_ input: Data, for key: SecKey, _ algorithm: String) throws -> Data {
        try result(
            ["op": "encrypt", "key": key.external().hexadecimal, "algorithm": algorithm, "input": input.hexadecimal])
    }

    func decrypt(_ input: Data, with key: SecKey, _ algorithm: String) throws -> Data {
        try result(
            ["op": "decrypt", "key": key.external().hexadecimal, "algorithm": algorithm, "input": input.hexadecimal])
    }

    func exchange(_ key: SecKey, _ peer: SecKey, _ algorithm: String, count: Int, sharedInfo: Data) throws -> Data {
        try result([
            "op": "exchange", "key": key.external().hexadecimal, "peer": peer.external().hexadecimal,
            "algorithm": algorithm, "count": count, "sharedInfo": sharedInfo.hexadecimal,
        ])
    }
}

struct PeerError: Error, CustomStringConvertible {
    let description: String
}
