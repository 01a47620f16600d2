import Bytes
import Crypto
import Foundation
import KeychainModel
import ProtectedFiles
import TestSupport
import Testing

@testable import PasswordFiles

/// Bytes in memory.
final class MemoryStream: ByteStream {
    private var rest: Data

    init(_ bytes: Data) { rest = bytes }

    func read(_ count: Int) -> Data {
        defer { rest = Data(rest.dropFirst(count)) }
        return Data(rest.prefix(count))
    }

    func peek(_ count: Int) -> Data { Data(rest.prefix(count)) }
}

/// Files as age makes them, from the description at age-encryption.org/v1, at a cost that tests can pay.
struct AgeSample {
    var salt = Data(repeating: 7, count: 16)
    var logN = "2"
    var fileKey = Data(repeating: 9, count: 16)
    var nonce = Data(repeating: 3, count: 16)
    var stanzas: (_ scrypt: String) -> String = { $0 }
    var chunkSize = 65_536

    static func base64(_ bytes: Data) -> String { bytes.base64EncodedString().replacing("=", with: "") }

    func file(_ data: Data, passphrase: String = "right") throws -> Data {
        let cost = PasswordCost.scrypt(logN: UInt32(logN) ?? 2, blockSize: 8, parallelism: 1)
        let wrapping = try cost.stretch(
            SecretBytes(passphrase), salt: Array("age-encryption.org/v1/scrypt".utf8) + salt
        ).withUnsafeBytes { SymmetricKey(data: $0) }
        let none = try ChaChaPoly.Nonce(data: Data(count: 12))
        let body = try ChaChaPoly.seal(fileKey, using: wrapping, nonce: none).combined.dropFirst(12)
        let stanza = "-> scrypt \(Self.base64(salt)) \(logN)\n\(Self.base64(Data(body)))\n"
        let text = Data("age-encryption.org/v1\n\(stanzas(stanza))---".utf8)
        func derived(_ salt: Data, _ info: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: fileKey), salt: salt, info: Data(info.utf8), outputByteCount: 32)
        }
        let code = Data(HMAC<SHA256>.authenticationCode(for: text, using: derived(Data(), "header")))
        var file = text + Data(" \(Self.base64(code))\n".utf8) + nonce
        let key = derived(nonce, "payload")
        let count = max(1, (data.count + chunkSize - 1) / chunkSize)
        for number in 0..<count {
            let chunk = data.dropFirst(number * chunkSize).prefix(chunkSize)
            let counter =
                Data(count: 7) + withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { Data($0) }
            let last = Data([number == count - 1 ? 1 : 0])
            let sealed = try ChaChaPoly.seal(Data(chunk), using: key, nonce: ChaChaPoly.Nonce(data: counter + last))
            file += sealed.combined.dropFirst(12)
        }
        return file
    }

    static func armored(_ file: Data, end: String = "\n") -> Data {
        let text = file.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Data(
            "-----BEGIN AGE ENCRYPTED FILE-----\n\(text)\n-----END AGE ENCRYPTED FILE-----\n".replacing("\n", with: end)
                .utf8)
    }
}

@Suite struct AgeTests {
    static func opened(_ file: Data, _ passphrase: String = "right") throws -> Data {
        var data = Data()
        try AgeFile(MemoryStream(file), path: "file").decrypt(SecretBytes(passphrase)) { data.append(contentsOf: $0) }
        return data
    }

    static func error(_ file: Data, _ passphrase: String = "right") -> SealedFileError? {
        do {
            _ = try opened(file, passphrase)
            return nil
        } catch {
            return error as? SealedFileError
        }
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])
    func comesBack(size: Int) throws {
        var random = SeededGenerator()
        let data = random.bytes(size)
        let file = try AgeSample().file(data)
        #expect(try Self.opened(file) == data)
        #expect(try Self.opened(AgeSample.armored(file)) == data)
        #expect(try Self.opened(AgeSample.armored(file, end: "\r\n") + Data(" \n".utf8)) == data)
        #expect(Self.error(file, "wrong") == .wrongPassword(path: "file"))
    }

    /// Whatever is cut off, added or changed is noticed, and nothing that was changed is handed out.
    @Test func changes() throws {
        var random = SeededGenerator()
        let data = random.bytes(70_000)
        let file = try AgeSample().file(data)
        for count in [0, 10, 21, 60, 100, 150, 190, 220, 65_700, file.count - 1] {
            #expect(Self.error(file.prefix(count)) != nil, "\(count) bytes")
        }
        #expect(Self.error(file.dropLast(70_000 - 65_536 + 16)) == .truncated(path: "file"))
        #expect(Self.error(file + Data([0])) == .damaged(path: "file", part: .chunk(1)))
        for _ in 0..<TestScale.count(300, soak: 20_000) {
            var bytes = file
            let place = random.int(below: file.count)
            bytes[place] ^= 1 << UInt8(truncatingIfNeeded: random.int(below: 8))
            var found = Data()
            #expect(throws: SealedFileError.self, "byte \(place), seed \(random.seed)") {
                try AgeFile(MemoryStream(bytes), path: "file").decrypt(SecretBytes("right")) {
                    found.append(contentsOf: $0)
                }
            }
            #expect(data.starts(with: found), "byte \(place), seed \(random.seed)")
        }
    }

    @Test func headers() throws {
        var sample = AgeSample()
        func error(_ change: (inout AgeSample) -> Void) throws -> SealedFileError? {
            var sample = sample
            change(&sample)
            return Self.error(try sample.file(Data("data".utf8)))
        }
        let damage = SealedFileError.damaged(path: "file", part: .header)
        #expect(try error { _ in } == nil)
        #expect(try error { $0.logN = "02" } == damage)
        #expect(try error { $0.logN = "+2" } == damage)
        #expect(try error { $0.salt = Data(repeating: 1, count: 15) } == damage)
        #expect(try error { $0.fileKey = Data(repeating: 1, count: 32) } == damage)
        #expect(try error { $0.stanzas = { $0.replacing("scrypt ", with: "scrypt  ") } } == damage)
        #expect(try error { $0.stanzas = { $0.replacing("\n", with: "\r\n") } } == damage)
        for stanzas in [{ "-> X25519 abc\nabc\n" + $0 }, { $0 + $0 }] as [(String) -> String] {
            guard case .unreadable = try error({ $0.stanzas = stanzas }) else {
                Issue.record("taken")
                continue
            }
        }
        sample.logN = "2"
        let costly = String(decoding: try sample.file(Data()).prefix(70), as: UTF8.self).replacing(
            " 2\n", with: " 21\n")
        let rest = try sample.file(Data()).dropFirst(70)
        guard case .tooCostly = Self.error(Data(costly.utf8) + rest) else {
            Issue.record("not refused: \(costly)")
            return
        }
    }

    @Test func armor() throws {
        let file = AgeSample.armored(try AgeSample().file(Data("data".utf8)))
        let text = String(decoding: file, as: UTF8.self)
        for changed in [
            text.replacing("END AGE", with: "END THE"), text.replacing("\n-----END", with: "\n\n-----END"),
            text.replacing("\n", with: "\n "), text + "more", String(text.dropLast(40)),
        ] {
            #expect(Self.error(Data(changed.utf8)) != nil)
        }
    }

    /// What the program age makes.
    @Test(arguments: [[], ["--armor"]])
    func program(_ options: [String]) throws {
        var random = SeededGenerator()
        let folder = try TemporaryFolder()
        let data = random.bytes(140_000)
        try FolderContents.write(data, to: folder.path(of: "data"))
        // age asks at a terminal, and nowhere else.
        let script = """
            import os, pty, sys
            process, terminal = pty.fork()
            if process == 0:
                os.execvp(sys.argv[1], sys.argv[1:])
            seen, typed = b"", 0
            while True:
                try:
                    seen += os.read(terminal, 1000)
                except OSError:
                    break
                if seen.count(b"assphrase") > typed:
                    typed += 1
                    os.write(terminal, b"right\\n")
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
            """
        let out = folder.path(of: "age")
        let worker = try Worker(
            ["-c", script, "age", "--passphrase"] + options + ["--output", out, folder.path(of: "data")],
            command: "python3")
        let output = worker.remainingLines()
        try #require(worker.wait() == 0, "\(output)")
        let input = try InputBytes(out)
        #expect(try PasswordFile.form(of: input) == .age)
        var found = Data()
        try AgeFile(input, path: out).decrypt(SecretBytes("right")) { found.append(contentsOf: $0) }
        #expect(found == data)
        #expect(try AgeFile(InputBytes(out), path: out).cost == .scrypt(logN: 18, blockSize: 8, parallelism: 1))
    }

    /// Whatever the bytes, there is an error or what was encrypted.
    @Test func fuzzAge() throws {
        let data = Data(repeating: 9, count: 1000)
        let file = try AgeSample().file(data)
        let samples = [file, AgeSample.armored(file), try AgeSample().file(Data())]
        var run = FuzzRun("age", samples: samples, plain: 2_000, soak: 50_000)
        let report = try run.run { input in
            // What costs much is no finding, and slows everything down.
            guard let opened = try? AgeFile(MemoryStream(input), path: "file"),
                case .scrypt(let logN, _, _) = opened.cost, logN < 12
            else { return false }
            var found = Data()
            do {
                try opened.decrypt(SecretBytes("right")) { found.append(contentsOf: $0) }
            } catch is SealedFileError {
                return false
            }
            guard found == data || found.isEmpty else { throw FuzzFinding("other data") }
            return true
        }
        #expect(report.accepted >= min(report.tried, samples.count))
    }
}
