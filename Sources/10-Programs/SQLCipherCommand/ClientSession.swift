import CLibrary
import Frames
import SQLCipherWire

/// Answers the requests of the client.
final class ClientSession {
    private enum Request {
        case hello(HelperHello)
        case open(OpenRequest)
        case query(QueryRequest)
        case script(String)
        case batch(BatchRequest)
        case rekey(CipherKey)
        case close
    }

    private struct ClientGone: Error {}

    private let input = FrameInput(0)
    private let output = FrameBuffer(capacity: 1 << 17)
    private var library: (CipherLibrary, CipherVersion)?
    private var connection: Connection?
    private var waiting: [Request] = []
    /// The number of the current request, and the number up to which requests were cancelled.
    private var current: UInt32 = 0
    private var cancelled: UInt32 = 0
    private var isEnd = false
    private var hasGreeted = false
    private var lastProgress = ContinuousClock.now
    private var steps: UInt64 = 0

    /// - Returns: The exit status.
    func run() -> Int32 {
        do {
            while let request = try next() {
                do throws(RequestFailure) {
                    try handle(request)
                } catch {
                    output.appendFrame(.failure) { error.encode(to: output) }
                }
                guard flush() else { return 0 }
                if case .close = request { return 0 }
            }
            return 0
        } catch {
            let failure = RequestFailure(.notThisProtocol, "\(error)")
            output.appendFrame(.failure) { failure.encode(to: output) }
            _ = flush()
            return 65
        }
    }

    private func next() throws(FrameError) -> Request? {
        while waiting.isEmpty, !isEnd { try read(waiting: true) }
        return waiting.isEmpty || isEnd ? nil : waiting.removeFirst()
    }

    /// Reads one frame, or without waiting all frames that are there.
    private func read(waiting isWaiting: Bool) throws(FrameError) {
        repeat {
            let outcome = try input.next(waiting: isWaiting) { kind, reader throws(FrameError) in
                try take(kind, &reader)
            }
            switch outcome {
            case .end: isEnd = true
            case .nothing: return
            case .frame: break
            }
            guard waiting.count <= FrameLimits.requests else { throw FrameError("too many requests at a time") }
        } while !isWaiting && !isEnd
    }

    private func take(_ kind: HelperFrameKind, _ reader: inout FrameReader) throws(FrameError) {
        guard hasGreeted || kind == .hello else { throw FrameError("a request came before the greeting") }
        switch kind {
        case .hello:
            guard !hasGreeted else { throw FrameError("a second greeting") }
            hasGreeted = true
            waiting.append(.hello(try HelperHello(from: &reader)))
        case .open: waiting.append(.open(try OpenRequest(from: &reader)))
        case .query: waiting.append(.query(try QueryRequest(from: &reader)))
        case .script:
            waiting.append(.script(try reader.string(limit: FrameLimits.value)))
            try reader.finish()
        case .batch: waiting.append(.batch(try BatchRequest(from: &reader)))
        case .rekey:
            waiting.append(.rekey(try CipherKey(from: &reader)))
            try reader.finish()
        case .close:
            try reader.finish()
            waiting.append(.close)
        case .cancel:
            cancelled = max(cancelled, try reader.integer())
            try reader.finish()
        default: throw FrameError("a frame that is the helper's")
        }
    }

    private func handle(_ request: Request) throws(RequestFailure) {
        if case .hello(let hello) = request { return try greet(hello) }
        current += 1
        try checkCancelled()
        switch request {
        case .hello: return
        case .open(let open):
            guard connection == nil else { throw RequestFailure(.refused, "a database is open already") }
            let (library, version) = try found()
            let connection = try Connection.open(open, library, version)
            library.setProgress(connection.handle, 20_000, continueRequest, Unmanaged.passUnretained(self).toOpaque())
            self.connection = connection
            output.appendFrame(.opened) { connection.opened.encode(to: output) }
        case .query(let query): try carryOut(query)
        case .script(let script):
            let connection = try opened()
            try connection.run(script)
            finish(connection)
        case .batch(let batch): try carryOut(batch)
        case .rekey(let key):
            let connection = try opened()
            guard connection.library.autocommit(connection.handle) != 0 else {
                throw RequestFailure(.refused, "the key cannot change within a transaction: commit it first")
            }
            connection.forgetStatements()
            try connection.apply(key, connection.library.rekey)
            // Reads under the new key: otherwise the change failed silently.
            try connection.run("SELECT count(*) FROM sqlite_master")
            finish(connection)
        case .close:
            connection = nil
            output.appendFrame(.done) {
                RequestResult(changes: 0, lastInsertedRowid: 0, isInTransaction: false).encode(to: output)
            }
        }
    }

    private func found() throws(RequestFailure) -> (CipherLibrary, CipherVersion) {
        if let library { return library }
        let found = try CipherLibrary()
        let pair = (found, try CipherVersion(found))
        library = pair
        return pair
    }

    private func greet(_ hello: HelperHello) throws(RequestFailure) {
        guard (hello.lowest...hello.highest).contains(FrameProtocol.version) else {
            throw RequestFailure(
                .notThisProtocol,
                "this keychain-sqlcipher speaks version \(FrameProtocol.version) alone: install it "
                    + "together with the program that starts it")
        }
        let (library, version) = try found()
        let welcome = HelperWelcome(
            version: FrameProtocol.version, cipherVersion: version.text, sqliteVersion: library.sqliteVersion,
            library: library.name)
        output.appendFrame(.welcome) { welcome.encode(to: output) }
    }

    private func opened() throws(RequestFailure) -> Connection {
        guard let connection else { throw RequestFailure(.refused, "no database is open") }
        return connection
    }

    private func finish(_ connection: Connection) {
        output.appendFrame(.done) { connection.done.encode(to: output) }
    }

    private func carryOut(_ query: QueryRequest) throws(RequestFailure) {
        let connection = try opened()
        guard let statement = try connection.prepare(query.sql, isCached: true) else { return finish(connection) }
        defer { statement.reset() }
        try statement.bind(query.bindings)
        // The first step may prepare the statement again, with other columns.
        var isRow = try statement.step()
        let columns = statement.columnNames
        output.appendFrame(.columns) {
            output.append(UInt32(columns.count))
            for name in columns { output.append(name) }
        }
        while isRow {
            isRow = try appendRows(of: statement, columns.count)
            guard isRow else { break }
            guard flush() else { throw RequestFailure(.cancelled, "the client is gone") }
            try checkCancelled()
        }
        finish(connection)
    }

    /// Appends a frame of rows, beginning with the current one.
    ///
    /// - Returns: Whether there is another row.
    private func appendRows(of statement: Statement, _ columns: Int) throws(RequestFailure) -> Bool {
        let start = output.count
        output.append(UInt32(0))
        output.append(HelperFrameKind.rows.rawValue)
        output.append(UInt32(columns))
        output.append(UInt32(0))
        var (count, end) = (UInt32(0), output.count)
        // The rows before a failure are a whole frame, too.
        defer {
            output.removeLast(output.count - end)
            output.overwrite(UInt32(end - start - 4), at: start)
            output.overwrite(count, at: start + 9)
        }
        repeat {
            try statement.appendRow(to: output)
            guard output.count - start < FrameLimits.frame else {
                throw RequestFailure(.tooLarge, "a row is larger than \(FrameLimits.value) bytes")
            }
            count += 1
            end = output.count
            guard try statement.step() else { return false }
        } while end - start < FrameLimits.rowsTogether
        return true
    }

    private func carryOut(_ batch: BatchRequest) throws(RequestFailure) {
        let connection = try opened()
        guard let statement = try connection.prepare(batch.sql, isCached: true) else { return finish(connection) }
        defer { statement.reset() }
        for row in batch.rows.rows {
            try statement.bind(row)
            while try statement.step() {}
            statement.reset()
        }
        finish(connection)
    }

    private func checkCancelled() throws(RequestFailure) {
        if wasCancelled { throw RequestFailure(.cancelled, "the request was cancelled") }
    }

    /// Whether the client cancelled the request, or is gone.
    private var wasCancelled: Bool {
        do { try read(waiting: false) } catch { isEnd = true }
        return isEnd || current <= cancelled
    }

    /// Called by SQLite again and again while it works.
    ///
    /// - Returns: Whether to go on.
    fileprivate func goOn() -> Bool {
        steps += 1
        let now = ContinuousClock.now
        // No other frame may come within a frame of rows.
        if now - lastProgress > .milliseconds(100), output.count == 0 {
            lastProgress = now
            output.appendFrame(.progress) { output.append(steps) }
            guard flush() else { return false }
        }
        return !wasCancelled
    }

    /// Sends the output so far.
    ///
    /// - Returns: Whether the client is still there.
    private func flush() -> Bool {
        defer { output.recycle() }
        return SystemCall.writeAll(output.bytes, to: 1)
    }
}

/// A progress handler (sqlite3_progress_handler) of a ``ClientSession``.
private func continueRequest(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    return Unmanaged<ClientSession>.fromOpaque(context).takeUnretainedValue().goOn() ? 0 : 1
}
