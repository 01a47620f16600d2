import DataProtection
import Foundation
import TestSupport
import Testing

/// Files under a password, with no vault anywhere.
@Suite struct PasswordProtectedFileTests {
    private let folder: TemporaryFolder
    private let file: PasswordProtectedFile
    private let cost: Argon2Cost
    private let right: PasswordProtectedFile.Password
    private let wrong: PasswordProtectedFile.Password

    init() throws {
        folder = try TemporaryFolder()
        file = PasswordProtectedFile(URL(filePath: folder.path(of: "file.kcp")))
        cost = Argon2Cost(memoryKiB: 8_192, passes: 1)
        right = try PasswordProtectedFile.Password("right")
        wrong = try PasswordProtectedFile.Password(bytes: Data("wrong".utf8))
    }

    @Test func wholeFiles() throws {
        var random = SeededGenerator()
        let data = random.bytes(200_000)
        let (plain, back) = (URL(filePath: folder.path(of: "plain")), URL(filePath: folder.path(of: "back")))
        try data.write(to: plain)
        try file.encrypt(plain, password: right, cost: cost)
        #expect(try Data(contentsOf: plain) == data)
        #expect(try file.data(password: right) == data)
        #expect(try file.info().size == 200_000)
        #expect(try file.info().cost == "Argon2id, 1 × 8 MiB")
        try file.decrypt(to: back, password: right)
        #expect(try Data(contentsOf: back) == data)
        #expect(throws: failure(.wrongPassword)) { try file.data(password: wrong) }
        #expect(throws: failure(.fileExists)) { try file.decrypt(to: back, password: right) }
        #expect(throws: failure(.fileExists)) { try file.encrypt(plain, password: right, cost: cost) }
        try file.write(Data("new".utf8), password: wrong, cost: cost, replacing: true)
        #expect(try file.data(password: wrong) == Data("new".utf8))
        #expect(throws: failure(.alreadyProtected)) {
            try PasswordProtectedFile(back).encrypt(file.url, password: right, cost: cost, replacing: true)
        }
    }

    @Test func anyPlace() throws {
        try file.write(Data(repeating: 1, count: 100_000), password: right, cost: cost)
        let handle = try file.handleForUpdating(password: right)
        try handle.write(contentsOf: Data("new".utf8), at: 70_000)
        #expect(throws: failure(.notProtected)) { try handle.setProtection(.complete) }
        handle.close()
        let reader = try file.handleForReading(password: right)
        #expect(try reader.read(upToCount: 5, at: 69_999) == Data([1]) + Data("new".utf8) + Data([1]))
        #expect(throws: failure(.wrongPassword)) { try file.handleForReading(password: wrong) }
    }

    @Test func refused() throws {
        #expect(throws: failure(.invalidRequest)) { try PasswordProtectedFile.Password("") }
        #expect(throws: failure(.invalidRequest)) {
            try file.write(Data(), password: right, cost: Argon2Cost(memoryKiB: 1 << 20, passes: 17))
        }
        #expect(throws: failure(.fileNotFound)) { try file.data(password: right) }
        try Data("plain".utf8).write(to: file.url)
        #expect(throws: failure(.notProtected)) { try file.data(password: right) }
        #expect(throws: failure(.unsupported)) { try file.decrypt(to: file.url, password: right) }
    }
}

/// Errors are equal when their codes are.
private func failure(_ code: ProtectedFileError.Code) -> ProtectedFileError {
    ProtectedFileError(code, message: "")
}
