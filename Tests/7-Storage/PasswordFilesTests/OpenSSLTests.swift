import Bytes
import Foundation
import ProtectedFiles
import TestSupport
import Testing

@testable import PasswordFiles

@Suite struct OpenSSLTests {
    private func encrypted(_ data: Data, iterations: Int, in folder: TemporaryFolder) throws -> Data {
        try FolderContents.write(data, to: folder.path(of: "data"))
        try FolderContents.write(Data("right\n".utf8), to: folder.path(of: "password"))
        let worker = try Worker(
            [
                "enc", "-aes-256-cbc", "-pbkdf2", "-iter", String(iterations), "-pass",
                "file:\(folder.path(of: "password"))", "-in", folder.path(of: "data"), "-out", folder.path(of: "out"),
            ], command: "openssl")
        let output = worker.remainingLines()
        try #require(worker.wait() == 0, "\(output)")
        return try Data(contentsOf: URL(filePath: folder.path(of: "out")))
    }

    private func opened(_ file: Data, _ password: String = "right", iterations: UInt32) throws -> Data {
        var data = Data()
        try OpenSSLFile(MemoryStream(file), path: "file", iterations: iterations)
            .decrypt(SecretBytes(password)) { data.append(contentsOf: $0) }
        return data
    }

    @Test(arguments: [0, 1, 15, 16, 65_519, 65_520, 65_535, 65_536, 65_537, 200_000])
    func program(size: Int) throws {
        var random = SeededGenerator()
        let folder = try TemporaryFolder()
        let data = random.bytes(size)
        let file = try encrypted(data, iterations: 100, in: folder)
        #expect(try OpenSSLFile.begins(MemoryStream(file)))
        #expect(try opened(file, iterations: 100) == data)
        // A wrong password shows by chance only: one time in 256 what comes out ends as it should.
        for wrong in [(try? opened(file, "wrong", iterations: 100)), try? opened(file, iterations: 101)] {
            #expect(wrong != data)
        }
        #expect(throws: SealedFileError.self) { try opened(file.dropLast(1), iterations: 100) }
        #expect(throws: SealedFileError.self) { try opened(file.prefix(16), iterations: 100) }
        #expect(throws: SealedFileError.self) { try opened(file.prefix(12), iterations: 100) }
    }

    @Test func refused() throws {
        let file = Data("Salted__12345678".utf8) + Data(count: 16)
        #expect(
            throws: SealedFileError.tooCostly(path: "file", cost: PasswordCost.pbkdf2(iterations: .max).description)
        ) {
            try opened(file, iterations: .max)
        }
        #expect(throws: SealedFileError.wrongPassword(path: "file")) { try opened(file, iterations: 1) }
    }
}
