import GRDB
import TestSupport
import Testing

/// `keychain import` after one that was killed.
struct InterruptedImportTests {
    /// The private half is stored first; a program can be killed before the public one is.
    @Test func thePublicHalfIsMadeUpFor() throws {
        let workplace = try Workplace()
        #expect(
            try workplace.shell(
                """
                openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem
                keychain import key.pem
                """
            ).status == 0)
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: workplace.home))
        let count = { try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } }
        #expect(try count() == 2)
        try database.inDatabase { database in
            try database.execute(sql: "DELETE FROM filing WHERE item = 2; DELETE FROM item WHERE id = 2")
        }
        let again = try workplace.shell("keychain import key.pem")
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.text == "private key\tkey\twas there already\n")
        #expect(try count() == 2)
    }
}
