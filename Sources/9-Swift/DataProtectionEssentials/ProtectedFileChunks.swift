import Dispatch
import FoundationEssentials
import ProcessVault
import Synchronization
import VaultInterface

extension ProtectedFile {
    /// The data in pieces, read as they are asked for, on a thread apart; memory does not grow with the file.
    ///
    /// ```swift
    /// for try await piece in ProtectedFile(url).chunks() { hash.update(data: piece) }
    /// ```
    ///
    /// The file is opened when the first piece is asked for, and closed when the iterator goes, be it at the end,
    /// because of an error or because the task was canceled.
    ///
    /// - Parameter size: Bytes of each piece but the last; at least 1.
    public func chunks(of size: Int = ProtectedFileChunks.defaultSize) -> ProtectedFileChunks {
        ProtectedFileChunks(source: .file(self), size: size)
    }

    /// The data byte by byte; see ``chunks(of:)``.
    public var bytes: ProtectedFileBytes { ProtectedFileBytes(chunks: chunks()) }
}

extension ProtectedFileHandle {
    /// The data from the position to the end in pieces, which moves the position behind each; see
    /// ``ProtectedFile/chunks(of:)``. The handle stays open.
    public func chunks(of size: Int = ProtectedFileChunks.defaultSize) -> ProtectedFileChunks {
        ProtectedFileChunks(source: .handle(self), size: size)
    }

    /// The data from the position to the end byte by byte; see ``chunks(of:)``. The position moves by whole pieces.
    public var bytes: ProtectedFileBytes { ProtectedFileBytes(chunks: chunks()) }
}

/// The data of a protected file in pieces, from ``ProtectedFile/chunks(of:)``.
public struct ProtectedFileChunks: AsyncSequence, Sendable {
    public typealias Element = Data
    public typealias Failure = any Error

    /// Bytes of a piece unless another size is asked for: 256 KiB, four chunks of the format.
    public static let defaultSize = 1 << 18

    enum Source: Sendable {
        case file(ProtectedFile)
        case handle(ProtectedFileHandle)
    }

    let source: Source
    let size: Int

    /// An iterator, which has the file open by itself.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reading: Reading(ChunkReader(source, size: Swift.max(1, size))))
    }

    /// Closes what was opened for an iterator, when the iterator goes.
    final class Reading: Sendable {
        let reader: ChunkReader

        init(_ reader: ChunkReader) { self.reader = reader }

        deinit { reader.close() }
    }

    /// Reads the pieces.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let reading: Reading

        /// The next piece, or nil at the end of the data.
        ///
        /// - Throws: ``ProtectedFileError/Code/taskCanceled`` in a task that was canceled,
        ///   ``ProtectedFileError/Code/locked`` once the class is closed, and whatever kept the file from being read.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> Data? {
            try await reading.reader.next()
        }

        /// The next piece, or nil at the end of the data.
        ///
        /// - Throws: ``ProtectedFileError``.
        public mutating func next() async throws -> Data? { try await reading.reader.next() }
    }
}

/// The data of a protected file byte by byte, from ``ProtectedFile/bytes``.
public struct ProtectedFileBytes: AsyncSequence, Sendable {
    public typealias Element = UInt8
    public typealias Failure = any Error

    let chunks: ProtectedFileChunks

    /// An iterator, which has the file open by itself.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: chunks.makeAsyncIterator())
    }

    /// Reads the bytes, a piece at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: ProtectedFileChunks.AsyncIterator
        private var piece = Data()
        private var place = 0

        init(chunks: ProtectedFileChunks.AsyncIterator) { self.chunks = chunks }

        /// The next byte, or nil at the end of the data. Throws as the iterator of ``ProtectedFileChunks`` does.
        ///
        /// - Throws: ``ProtectedFileError``.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> UInt8? {
            if place == piece.endIndex {
                guard let next = try await chunks.next(isolation: actor) else {
                    (piece, place) = (Data(), 0)
                    return nil
                }
                (piece, place) = (next, next.startIndex)
            }
            defer { place += 1 }
            return piece[place]
        }

        /// The next byte, or nil at the end of the data.
        ///
        /// - Throws: ``ProtectedFileError``.
        public mutating func next() async throws -> UInt8? { try await next(isolation: nil) }
    }
}

/// Reads a file piece by piece on a queue of its own, so that no task's thread waits for a disk.
final class ChunkReader: Sendable {
    private let source: ProtectedFileChunks.Source
    private let size: Int
    private let queue = DispatchQueue(label: "protected-file")
    private let provider: (any VaultSessionProvider)?
    /// What was opened to be read, once there was need.
    private let opened = Mutex<ProtectedFileHandle?>(nil)

    init(_ source: ProtectedFileChunks.Source, size: Int) {
        self.source = source
        self.size = size
        // The session of the task; the queue has none.
        provider = VaultSession.override
    }

    func next() async throws -> Data? {
        guard !Task.isCancelled else {
            throw ProtectedFileError(.taskCanceled, message: "the task was canceled while a file was read")
        }
        let result = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.read()) }
        }
        return try result.get()
    }

    private func read() -> Result<Data?, any Error> {
        VaultSession.$override.withValue(provider) {
            Result {
                try handle().read(upToCount: size)
            }
        }
    }

    private func handle() throws -> ProtectedFileHandle {
        switch source {
        case .handle(let handle): return handle
        case .file(let file):
            return try opened.withLock { opened in
                if let opened { return opened }
                let handle = try ProtectedFileHandle(forReadingFrom: file.url)
                opened = handle
                return handle
            }
        }
    }

    func close() {
        opened.withLock { $0?.close() }
    }
}
