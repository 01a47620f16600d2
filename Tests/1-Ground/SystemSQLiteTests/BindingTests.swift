import SystemSQLite
import Testing

/// What is bound comes back as it was, with its type.
struct BindingTests {
    private let connection: SQLConnection
    private let echo: SQLStatement

    init() throws {
        connection = try SQLConnection(":memory:", .readWrite)
        echo = try connection.prepare("SELECT ?1, typeof(?1), length(?1)")
    }

    private func bytes(_ column: Int32) -> [UInt8]? { echo.withBlob(column) { Array($0) } }

    @Test(arguments: [0, 1, -1, .min, .max, 1 << 32]) func integers(_ integer: Int64) throws {
        try echo.bind(integer, at: 1)
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .integer)
        #expect(echo.integer(0) == integer)
        #expect(echo.text(1) == "integer")
        #expect(echo.real(0) == nil && echo.text(0) == nil && bytes(0) == nil)
    }

    @Test(arguments: [0, -0.5, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity])
    func reals(_ real: Double) throws {
        try echo.bind(real, at: 1)
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .real)
        #expect(echo.real(0) == real)
        #expect(echo.integer(0) == nil && echo.text(0) == nil && bytes(0) == nil)
    }

    @Test func whatIsNoNumberIsNull() throws {
        try echo.bind(Double.nan, at: 1)
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .null)
    }

    @Test(arguments: ["", "a", "keychain", "Zürich 🗝", "a\0b", "\0", String(repeating: "x", count: 100_000)])
    func texts(_ text: String) throws {
        try echo.bind(text, at: 1)
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .text)
        #expect(echo.text(0) == text)
        #expect(echo.withText(0) { Array($0) } == Array(text.utf8))
        #expect(echo.integer(0) == nil && echo.real(0) == nil && bytes(0) == nil)
    }

    @Test func textThatIsNotUTF8() throws {
        let text: [UInt8] = [0x61, 0xFF, 0x62]
        try text.withUnsafeBytes { try echo.bind(text: $0, at: 1) }
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .text)
        #expect(echo.text(0) == "a\u{FFFD}b")
        #expect(echo.withText(0) { Array($0) } == text)
    }

    @Test(arguments: [1, 15, 16, 4096, 1_000_000]) func blobs(_ count: Int) throws {
        let blob = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        try blob.withUnsafeBytes { try echo.bind($0, at: 1) }
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .blob)
        #expect(bytes(0) == blob)
        #expect(echo.integer(2) == Int64(count))
        #expect(echo.integer(0) == nil && echo.real(0) == nil && echo.text(0) == nil)
    }

    @Test func anEmptyBlobIsNotNull() throws {
        let byte: [UInt8] = [7]
        let withAnAddress = { (body: (UnsafeRawBufferPointer) throws -> Void) in
            try byte.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<0])) }
        }
        let without = { (body: (UnsafeRawBufferPointer) throws -> Void) in
            try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        for withEmpty in [withAnAddress, without] {
            try withEmpty { try echo.bind($0, at: 1) }
            #expect(try echo.step())
            #expect(echo.kind(of: 0) == .blob)
            #expect(echo.text(1) == "blob")
            #expect(bytes(0) == [])
            echo.reset()
            var lent: SQLStatement.Kind?
            try withEmpty { empty in
                lent = try echo.lending(empty, at: 1) { try echo.step() ? echo.kind(of: 0) : nil }
            }
            #expect(lent == .blob)
        }
        try echo.bind(text: UnsafeRawBufferPointer(start: nil, count: 0), at: 1)
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .text)
        #expect(echo.text(0) == "")
    }

    @Test func null() throws {
        try echo.bind(Int64(1), at: 1)
        try echo.bindNull(at: 1)
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .null)
        #expect(echo.integer(0) == nil && echo.real(0) == nil && echo.text(0) == nil && bytes(0) == nil)
        #expect(echo.withText(0) { $0.count } == 0)
    }

    /// SQLite reads the very bytes, and has nothing of them afterwards.
    @Test func lentBytes() throws {
        let blob = [UInt8](repeating: 7, count: 100_000)
        try blob.withUnsafeBytes { bytes in
            try echo.lending(bytes, at: 1) {
                let hasRow = try echo.step()
                #expect(hasRow)
                #expect(self.bytes(0) == blob)
                #expect(echo.withBlob(0) { $0.baseAddress } == bytes.baseAddress)
            }
        }
        #expect(!echo.isBusy)
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .null)
    }

    @Test func lentBytesAreTakenBackAfterAFailure() throws {
        struct Stop: Error {}
        let blob: [UInt8] = [1, 2, 3]
        #expect(throws: Stop.self) {
            try blob.withUnsafeBytes { bytes in
                try echo.lending(bytes, at: 1) {
                    _ = try echo.step()
                    throw Stop()
                }
            }
        }
        #expect(!echo.isBusy)
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .null)
    }

    @Test func resettingKeepsWhatIsBound() throws {
        try echo.bind(Int64(5), at: 1)
        try echo.run()
        #expect(try echo.step())
        #expect(echo.integer(0) == 5)
        echo.reset()
        echo.clearBindings()
        #expect(try echo.step())
        #expect(echo.kind(of: 0) == .null)
    }

    @Test func columns() throws {
        let statement = try connection.prepare("SELECT 1 AS one, 'two' AS \"second, quoted\"")
        #expect(statement.columnCount == 2)
        #expect(statement.name(of: 0) == "one")
        #expect(statement.name(of: 1) == "second, quoted")
        #expect(statement.isReadOnly)
        let creation = try connection.prepare("CREATE TABLE item (id INTEGER PRIMARY KEY)")
        #expect(creation.columnCount == 0)
        #expect(!creation.isReadOnly)
    }

    @Test func numbersAsSQLitePrintsThem() throws {
        let statement = try connection.prepare("SELECT 42, 0.5, NULL")
        #expect(try statement.step())
        #expect(statement.withText(0) { String(decoding: $0, as: UTF8.self) } == "42")
        #expect(statement.withText(1) { String(decoding: $0, as: UTF8.self) } == "0.5")
        #expect(statement.withText(2) { $0.count } == 0)
    }
}
