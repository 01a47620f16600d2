import Crypto
import CryptoExtras
import Foundation
import TestSupport
import Testing

@testable import MountedFolder

/// Names and links against `Peer/names.py`, which was written from the description of the format, and the vector in it.
@Suite struct NamePeerTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Peer/names.py"

    private let python: Worker

    init() throws {
        python = try Worker(["-B", Self.script], command: "python3")
    }

    private func peer(_ words: String...) throws -> String {
        python.send(Array((words.joined(separator: " ") + "\n").utf8))
        guard let answer = python.readLine() else { throw MountTestError("no answer to \(words)") }
        return answer
    }

    private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    @Test func vector() throws {
        let key = Array(UInt8(0)...0x1F)
        let folder = Data(UInt8(0x40)...0x4F)
        let cipher = NameKey(key).names(inFolder: folder)
        let name = Array("report.txt".utf8)
        let below = "lm_C6F72jD9pcdkq-af2mjYb3m7LKiE_EsI"
        #expect(try cipher.encrypt(name).text == below)
        #expect(try peer("name", hexadecimal(key), hexadecimal(folder), hexadecimal(name)) == below)
        let link = "AAAAAAAAAAAAAAABkIhsoDtCxvY0ubpcRS9oAW5OCTI"
        #expect(try NameKey(key).links.decrypt(Array(link.utf8)) == Array("../a".utf8))
    }

    @Test func bothWays() throws {
        var random = SeededGenerator()
        for count in [1, 15, 16, 17, 100, NameCipher.limit] {
            let (key, folder) = ([UInt8](random.bytes(32)), random.bytes(16))
            // "." and ".." are names of no file.
            let name = random.bytes(count).map { [0, UInt8(ascii: "/"), UInt8(ascii: ".")].contains($0) ? 1 : $0 }
            let below = try NameKey(key).names(inFolder: folder).encrypt(name).text
            #expect(try peer("name", hexadecimal(key), hexadecimal(folder), hexadecimal(name)) == below)
            #expect(try peer("plain", hexadecimal(key), hexadecimal(folder), below) == hexadecimal(name))
            let link = name.withUnsafeBytes { bytes in
                Result { () throws(Errno) in try NameKey(key).links.encrypt(bytes) }
            }
            #expect(try peer("link", hexadecimal(key), link.get().text) == hexadecimal(name))
        }
    }
}
