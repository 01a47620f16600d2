import DataProtection
import DatabaseFiles
import Dispatch
import Foundation
import KeychainTesting
import SystemSQLite
import TestSupport
import Testing

/// A connection without GRDB, as the commands use it, while the vault is locked and unlocked.
@Suite struct ConnectionTests {
    private let world: DatabaseUnderTest
    private let locked = ProtectedDatabaseError(.locked, message: "")

    init() throws {
        world = try DatabaseUnderTest()
        try world.keychain.run {
            try world.file.create(key: .keychain(.complete))
            let connection = try ProtectedConnection(world.file, .create)
            try connection.use { try $0.execute("CREATE TABLE entry (number); INSERT INTO entry VALUES (1)") }
            connection.close()
        }
    }

    private func count(_ connection: ProtectedConnection) throws -> Int64? {
        try connection.use { try $0.integer("SELECT count(*) FROM entry") }
    }

    @Test func isOpenedAgainAfterALock() throws {
        try world.keychain.run {
            let connection = try ProtectedConnection(world.file, .create)
            for _ in 0..<3 {
                world.keychain.lock()
                for _ in 0..<2 { #expect(throws: locked) { try count(connection) } }
                #expect(throws: locked) { try world.file.problems() }
                world.keychain.unlock()
                #expect(try count(connection) == 1)
                #expect(try world.file.problems() == [])
            }
            connection.close()
            connection.close()
            #expect(throws: ProtectedDatabaseError(.closed, message: "")) { try count(connection) }
        }
    }

    @Test func aStatementInTheMiddleIsEnded() throws {
        try world.keychain.run {
            let connection = try ProtectedConnection(world.file, .create)
            #expect(throws: locked) {
                try connection.use { connection in
                    try connection.execute("BEGIN; INSERT INTO entry VALUES (2)")
                    world.keychain.lock()
                    // Until it is interrupted.
                    while true {
                        try connection.execute(
                            """
                            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
                            INSERT INTO entry SELECT i FROM n
                            """)
                    }
                }
            }
            world.keychain.unlock()
            #expect(try count(connection) == 1)
            connection.close()
        }
    }

    /// Several threads find the lock at the same time, and one of them opens the database again.
    @Test func manyThreadsAfterALock() throws {
        try world.keychain.run {
            let connection = try ProtectedConnection(world.file, .create)
            for _ in 0..<TestScale.count(10, soak: 500) {
                world.keychain.lock()
                world.keychain.unlock()
                let counts = Collected<Int64?>()
                DispatchQueue.concurrentPerform(iterations: 4) { _ in
                    // What is asked for a key on other threads.
                    world.keychain.run { counts.append(try? count(connection)) }
                }
                #expect(counts.all == [1, 1, 1, 1])
            }
            connection.close()
        }
    }

    @Test func aLockWhileItIsClosed() throws {
        try world.keychain.run {
            for _ in 0..<TestScale.count(20, soak: 2_000) {
                let connection = try ProtectedConnection(world.file, .create)
                try connection.use {
                    try $0.execute("INSERT INTO entry VALUES (3); DELETE FROM entry WHERE number = 3")
                }
                DispatchQueue.concurrentPerform(iterations: 2) { number in
                    if number == 0 { connection.close() } else { world.keychain.lock() }
                }
                world.keychain.unlock()
            }
            let connection = try ProtectedConnection(world.file, .readOnly)
            #expect(try count(connection) == 1)
            connection.close()
        }
    }
}
