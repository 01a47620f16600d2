import Foundation
import GRDB
import Glibc
import KeychainTesting
import SealedFields
import TestSupport
import Testing

@Suite struct RotationTests {
    private func store(_ count: Int) throws -> (NoteStore, [Note]) {
        let store = try NoteStore()
        let notes = (0..<count).map { Note(body: "body \($0)") }
        try store.write { db in for note in notes { try note.insert(db) } }
        return (store, notes)
    }

    private func rotation(_ store: NoteStore, batchSize: Int = 7) -> FieldRotation {
        FieldRotation(table: "note", column: "body", sealing: store.sealing, batchSize: batchSize)
    }

    private func headers(_ store: NoteStore, _ column: String = "body") throws -> Set<Data> {
        try store.queue.read { try Set(Data.fetchAll($0, sql: "SELECT substr(\(column), 1, 10) FROM note")) }
    }

    @Test func allOfAColumn() throws {
        let (store, notes) = try store(50)
        let before = try headers(store)
        #expect(try rotation(store).run(in: store.queue).sealed == 0)
        try store.keys.addGeneration()
        var seen: [FieldRotation.Progress] = []
        let outcome = try rotation(store).run(in: store.queue) { seen.append($0) }
        #expect(outcome.sealed == 50)
        #expect(outcome.unreadable == 0)
        #expect(seen.map(\.sealed) == [7, 14, 21, 28, 35, 42, 49, 50])
        #expect(seen.allSatisfy { $0.outdated == 50 })
        #expect(try headers(store).isDisjoint(with: before))
        #expect(try headers(store).count == 1)
        #expect(try headers(store, "tags") == before)
        let fetched = try store.write { try Note.fetchAll($0) }
        #expect(Set(fetched.map(\.body)) == Set(notes.map(\.body)))
    }

    @Test func toAnotherAlgorithm() throws {
        let (store, notes) = try store(5)
        let sealing = FieldSealing(database: "notes", keys: store.keys, algorithm: .aesGCM)
        let rotation = FieldRotation(table: "note", column: "body", sealing: sealing)
        #expect(try rotation.run(in: store.queue).sealed == 5)
        #expect(
            try store.queue.read { try SealedColumnValue<String>.fetchAll($0, sql: "SELECT body FROM note") }
                .allSatisfy { $0.algorithm == .aesGCM })
        #expect(try store.write { try Note.fetchAll($0) }.count == notes.count)
    }

    private struct Stop: Error {}

    @Test func interruptedAndResumed() throws {
        let (store, _) = try store(50)
        try store.keys.addGeneration()
        #expect(throws: Stop.self) {
            try rotation(store).run(in: store.queue) { if $0.sealed > 20 { throw Stop() } }
        }
        #expect(try headers(store).count == 2)
        let outcome = try rotation(store).run(in: store.queue)
        #expect(outcome.sealed == 29)
        #expect(try headers(store).count == 1)
    }

    @Test func inTheBackground() async throws {
        let (store, _) = try store(50)
        try store.keys.addGeneration()
        let rotation = rotation(store)
        let queue = store.queue
        let task = Task.detached {
            try await rotation.run(in: queue) { if $0.sealed > 20 { withUnsafeCurrentTask { $0?.cancel() } } }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await rotation.run(in: queue).sealed == 29)
    }

    /// Others write meanwhile: what they write stays, and what is behind the cursor is found.
    @Test func besideOtherWriters() throws {
        let (store, notes) = try store(50)
        let stale = try store.queue.read { db in
            try Row.fetchAll(db, sql: "SELECT id, body FROM note ORDER BY id")
        }
        try store.keys.addGeneration()
        var isFirst = true
        let outcome = try rotation(store).run(in: store.queue) { _ in
            guard isFirst else { return }
            isFirst = false
            try store.write { db in
                // One that another program sealed with the former key, and one that was given another value.
                try db.execute(
                    sql: "UPDATE note SET body = ? WHERE id = ?", arguments: [stale[0]["body"], stale[0]["id"]])
                var note = try #require(try Note.fetchOne(db, key: stale[20]["id"] as Data))
                note.body = "another"
                try note.update(db)
            }
        }
        #expect(outcome.sealed == 50)
        #expect(try headers(store).count == 1)
        let bodies = try store.write { try Note.fetchAll($0) }.map(\.body)
        #expect(bodies.filter { $0 == "another" }.count == 1)
        #expect(Set(bodies).subtracting(["another"]).count == notes.count - 1)
    }

    @Test func damagedValuesAreLeftAndTold() throws {
        let (store, notes) = try store(20)
        try store.queue.write { db in
            try db.execute(
                sql: "UPDATE note SET body = (SELECT body FROM note WHERE id = ?) WHERE id = ?",
                arguments: [notes[1].id, notes[0].id])
            try db.execute(sql: "UPDATE note SET body = 'plain' WHERE id = ?", arguments: [notes[2].id])
            try db.execute(sql: "UPDATE note SET body = NULL WHERE id = ?", arguments: [notes[3].id])
        }
        try store.keys.addGeneration()
        let outcome = try rotation(store).run(in: store.queue)
        #expect(outcome.sealed == 17)
        #expect(outcome.unreadable == 2)
        #expect(Set(outcome.failures.map(\.error.code)) == [.notAuthentic, .notSealed])
        #expect(Set(outcome.failures.map(\.row)) == [[notes[0].id.databaseValue], [notes[2].id.databaseValue]])
        store.world.lock()
        expectFailure(.locked) { try rotation(store).run(in: store.queue) }
    }

    // MARK: Killed

    private func worker(_ folder: TemporaryFolder, _ arguments: String...) throws -> Worker {
        let binary = URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "FieldWorker").path
        return try Worker(
            [
                "KEYCHAIN_HOME=\(folder.path(of: "vault"))", "KEYCHAIN_ACCESS_GROUPS=TEAM.app", binary, arguments[0],
                folder.path(of: "lines.sqlite"),
            ] + arguments.dropFirst(), command: "env")
    }

    /// A rotation that is killed again and again comes to its end, and no value is lost.
    @Test func killed() throws {
        let folder = try TemporaryFolder()
        let count = TestScale.count(4_000, soak: 1_000_000)
        var random = SeededGenerator()
        #expect(try worker(folder, "fill", "\(count)").remainingLines() == ["filled"])
        #expect(try worker(folder, "add").remainingLines() == ["2"])
        var sealed = 0
        for _ in 0..<TestScale.count(5, soak: 20) {
            let rotating = try worker(folder, "rotate")
            let batches = 1 + random.int(below: count / 200 / TestScale.count(8, soak: 30))
            var last = 0
            for batch in 0..<batches {
                // It goes on when it is told to, so that it never gets to the end before it is killed.
                if batch > 0 { rotating.cue() }
                guard let line = rotating.readLine(), let done = Int(line.prefix { $0.isNumber }) else { break }
                last = done
            }
            // Between two batches, or in the middle of the next.
            if random.int(below: 2) == 0 {
                rotating.cue()
                usleep(UInt32.random(in: 0...20_000, using: &random))
            }
            rotating.kill()
            rotating.wait()
            sealed += last
            let parts = try #require(try worker(folder, "check").remainingLines().first).split(separator: " ")
            #expect(parts[..<2] == ["\(count)", "\(count)"])
            // At least what was told is under the new key.
            let groups = parts[2].split(separator: "+").compactMap { Int($0) }
            #expect(groups.count == 2)
            #expect(groups.contains { $0 >= sealed }, "\(groups) after \(sealed), seed \(random.seed)")
        }
        let ending = try worker(folder, "rotate")
        ending.finishInput()
        let end = ending.remainingLines().last
        #expect(end?.hasPrefix("done ") == true && end?.hasSuffix(" 0") == true, "\(end ?? "")")
        #expect(try worker(folder, "check").remainingLines() == ["\(count) \(count) \(count)"])
    }
}
