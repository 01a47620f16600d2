import Foundation
import GRDB
import KeychainTesting
import SealedFields
import TestSupport
import Testing

/// A record with fields of the kinds that there are.
struct Note: SealedRecord, PersistableRecord, Equatable {
    static let databaseTableName = "note"
    /// Tests run side by side, each with a sealing of its own, which stands in for this one.
    static var fieldSealing: FieldSealing { get throws { throw NoSealing() } }
    static let equalityRevealingDigests = ["address": "addressDigest"]

    var id = UUID()
    var title = "a title"
    @SealedField var body: String
    @SealedField var address: String?
    @SealedField var tags: [String: Double] = [:]
    var pin: SealedColumnValue<String>?

    struct NoSealing: Error {}

    static func == (left: Note, right: Note) -> Bool {
        left.id == right.id && left.title == right.title && left.body == right.body && left.address == right.address
            && left.tags == right.tags && left.pin == right.pin
    }
}

/// A database with notes in a folder, and a keyring in a keychain of its own.
struct NoteStore {
    let world: TestKeychain
    let folder: TemporaryFolder
    let queue: DatabaseQueue
    let keys: FieldKeys
    let sealing: FieldSealing

    init(
        _ world: TestKeychain? = nil, protection: StoredKeyProtection = .keychain(.whenUnlockedThisDeviceOnly),
        algorithm: SealingAlgorithm = .chaChaPoly
    ) throws {
        let world = try world ?? TestKeychain()
        self.world = world
        folder = try TemporaryFolder()
        queue = try DatabaseQueue(path: folder.path(of: "notes.sqlite"))
        keys = world.run { FieldKeys("com.example.notes", protection: protection, prompt: "open your notes") }
        sealing = FieldSealing(database: "notes", keys: keys, algorithm: algorithm)
        try queue.write { db in
            for table in ["note", "other"] {
                try db.create(table: table) {
                    $0.column("id", .blob).primaryKey()
                    $0.column("title", .text)
                    for name in ["body", "address", "addressDigest", "tags", "pin"] { $0.column(name, .blob) }
                }
            }
        }
    }

    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try sealing.run { try queue.write(body) }
    }

    /// All bytes of the folder.
    func bytes() throws -> Data {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).reduce(into: Data()) {
            $0 += try Data(contentsOf: URL(filePath: folder.path(of: $1)))
        }
    }
}

/// Runs `body`, which must fail with the given code.
func expectFailure<Result>(
    _ code: SealedFieldsError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) {
    do {
        _ = try body()
        Issue.record("no error", sourceLocation: sourceLocation)
    } catch {
        #expect((error as? SealedFieldsError)?.code == code, "\(error)", sourceLocation: sourceLocation)
    }
}
