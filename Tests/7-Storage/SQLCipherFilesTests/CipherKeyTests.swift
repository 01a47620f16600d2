import DatabaseVFS
import GRDB
import SQLCipherFiles
import TestSupport
import Testing

/// The key of a SQLCipher file while a connection has the file open.
@Suite struct CipherKeyTests {
    @Test func keysThatAreTakenAwayAreWiped() throws {
        let folder = try TemporaryFolder()
        weak var form: CipherPlace?
        func register() throws -> DatabaseRegistration {
            let place = CipherPlace(key: .raw(try DatabaseUnderTest.key()), version: .four)
            form = place
            return try EncryptingVFS.register(path: folder.path(of: "test.db"), form: place)
        }
        let registration = try register()
        let queue = try DatabaseQueue(path: registration.uri)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(x)") }
        #expect(form != nil)
        registration.revoke()
        // The form has the key and those that were derived from it.
        #expect(form == nil, "an open connection keeps the key")
        #expect(throws: DatabaseError.self) { try queue.write { try $0.execute(sql: "INSERT INTO t VALUES(1)") } }
        #expect(registration.takeFailure() == .revoked(path: registration.path))
        try? queue.close()
    }
}
