import Bytes
import FoundationEssentials
import KeychainModel
import PasswordFiles
import ProtectedFiles
import VaultInterface

/// The address of a file that is encrypted with a password of the user's own, be it there already or about to be made.
///
/// ```swift
/// let copy = PasswordProtectedFile(url)
/// try copy.encrypt(document, password: .init("correct horse battery staple"))
/// let data = try copy.data(password: .init("correct horse battery staple"))
/// ```
///
/// Such a file can be read wherever the password is known; no vault takes part and no class opens or closes it. It has
/// the same format as other protected files, with the key of the file wrapped under the password, so that it is read
/// and written at any place, and what was damaged or cut off is noticed. Trying a password takes memory and time on
/// purpose: each operation that takes one blocks the calling thread for a quarter of a second or more.
public struct PasswordProtectedFile: Sendable, Hashable {
    /// Where the file is.
    public let url: URL

    /// - Parameter url: Of the scheme `file`; operations on others throw ``ProtectedFileError/Code/invalidRequest``.
    public init(_ url: URL) { self.url = url }

    /// A password, in memory that is wiped in the end.
    public struct Password: Sendable {
        let secret: SecretBytes

        /// The bytes of `text` in UTF-8, as they are. The string itself cannot be wiped.
        ///
        /// - Throws: ``ProtectedFileError/Code/invalidRequest`` for a password without characters.
        public init(_ text: String) throws {
            try self.init(bytes: Data(text.utf8))
        }

        /// A copy of `bytes`; the caller wipes the original.
        ///
        /// - Throws: ``ProtectedFileError/Code/invalidRequest`` for a password without bytes.
        public init(bytes: some ContiguousBytes) throws {
            guard let secret = try? bytes.withUnsafeBytes({ try SecretBytes(copying: $0) }) else {
                throw ProtectedFileError(.outOfMemory, message: "there is no memory for the password")
            }
            guard !secret.isEmpty else {
                throw ProtectedFileError(.invalidRequest, message: "the password is empty")
            }
            self.secret = secret
        }
    }

    private var file: ProtectedFile { ProtectedFile(url) }

    // MARK: Whole files

    /// Encrypts the plain file at `source` into this one, for its owner alone (0600). The original is kept.
    ///
    /// The file has its name once it is complete and on the disk. Memory does not grow with the size.
    ///
    /// - Parameters:
    ///   - source: A plain file; a protected one gives its plain data with ``ProtectedFile/data()``.
    ///   - password: What opens the copy.
    ///   - cost: What trying a password takes: 8 to 1,048,576 KiB, 1 to 64 passes, and no more than 16 GiB for all
    ///     passes together. Nil for 256 MiB, and as many passes as take a quarter of a second here, at least three.
    ///   - replacing: Whether a file that has the name may be replaced.
    ///   - progress: Called with the bytes of each piece that was done.
    /// - Throws: ``ProtectedFileError/Code/alreadyProtected`` if `source` is no plain file, and
    ///   ``ProtectedFileError/Code/fileExists``.
    public func encrypt(
        _ source: URL, password: Password, cost: Argon2Cost? = nil, replacing: Bool = false,
        progress: (UInt64) -> Void = { _ in }
    ) throws {
        let from = try ProtectedFile(source).checkedPath()
        try writing(password, cost, replacing) { writer in
            let input = try InputBytes(from)
            guard try input.peek(8) != Data("SKPFILE\0".utf8) else {
                throw SealedFileError.alreadyProtected(path: from)
            }
            try PasswordFile.encrypt(input, with: writer, progress: progress)
        }
    }

    /// Puts `data` into the file, in place of all it had, or into a new one, for its owner alone (0600).
    ///
    /// - Parameters:
    ///   - data: What is encrypted.
    ///   - password: What opens the file.
    ///   - cost: What trying a password takes: 8 to 1,048,576 KiB, 1 to 64 passes, and no more than 16 GiB for all
    ///     passes together. Nil for 256 MiB, and as many passes as take a quarter of a second here, at least three.
    ///   - replacing: Whether a file that has the name may be replaced.
    /// - Throws: ``ProtectedFileError``.
    public func write(
        _ data: some DataProtocol, password: Password, cost: Argon2Cost? = nil, replacing: Bool = false
    ) throws {
        try writing(password, cost, replacing) { writer in
            for region in data.regions {
                try region.withBytes { bytes in try writer.write(bytes) }
            }
        }
    }

    private func writing(
        _ password: Password, _ cost: Argon2Cost?, _ replacing: Bool,
        _ body: (SealedFileWriter) throws -> Void
    ) throws {
        let path = try file.checkedPath()
        let cost = try cost.map { try PasswordCost($0) }
        try ProtectedFileError.translating(path) {
            let keys = try PasswordFileKeys(password.secret, cost: cost)
            let writer = try SealedFileWriter(path, password: keys)
            try body(writer)
            try writer.finish(replacing: replacing)
        }
    }

    /// Decrypts the file into a plain one at `target`, for its owner alone (0600). The encrypted one is kept.
    ///
    /// The plain file has its name once all of it was found to be what was encrypted. Also reads what
    /// `age --passphrase` wrote.
    ///
    /// - Parameters:
    ///   - target: The plain file.
    ///   - password: What the file was encrypted with.
    ///   - replacing: Whether a file that has the name may be replaced.
    ///   - progress: Called with the bytes of each piece that was done.
    /// - Throws: ``ProtectedFileError/Code/wrongPassword``, ``ProtectedFileError/Code/damaged`` and
    ///   ``ProtectedFileError/Code/fileExists``.
    public func decrypt(
        to target: URL, password: Password, replacing: Bool = false, progress: (UInt64) -> Void = { _ in }
    ) throws {
        let (path, to) = (try file.checkedPath(), try ProtectedFile(target).checkedPath())
        try ProtectedFileError.translating(path) {
            let input = try InputBytes(path)
            let form = try PasswordFile.form(of: input)
            let writer = try PlainFileWriter(to)
            func write(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) {
                try writer.write(bytes)
                progress(UInt64(clamping: bytes.count))
            }
            switch form {
            case .age: try AgeFile(input, path: path).decrypt(password.secret, write: write)
            case .keychain:
                let sealed = try SealedFile(path, .reading, password: PasswordFileKeys(password.secret))
                defer { sealed.close() }
                try PasswordFile.decrypt(sealed, write: write)
            case .openssl:
                throw SealedFileError.unreadable(
                    path: path, reason: "nothing in a file of openssl's shows whether it was changed")
            }
            try writer.finish(replacing: replacing)
        }
    }

    /// All data of the file. They are wiped from memory when the last copy of the value goes.
    ///
    /// - Throws: ``ProtectedFileError/Code/wrongPassword`` and ``ProtectedFileError/Code/damaged``.
    public func data(password: Password) throws -> Data {
        let path = try file.checkedPath()
        return try ProtectedFileError.translating(path) {
            let sealed = try SealedFile(path, .reading, password: PasswordFileKeys(password.secret))
            defer { sealed.close() }
            guard let count = Int(exactly: try sealed.length) else { throw SealedFileError.memoryUnavailable }
            return try Data.wipedWhenFreed(upTo: count, orOutOfMemory: SealedFileError.memoryUnavailable) {
                try sealed.read(into: $0, at: 0)
            }
        }
    }

    // MARK: Parts

    /// Opens the file for reading at any place. No lock closes the handle.
    ///
    /// - Throws: ``ProtectedFileError/Code/wrongPassword``.
    public func handleForReading(password: Password) throws -> ProtectedFileHandle {
        try ProtectedFileHandle(file, password.secret, writing: false, .process)
    }

    /// Opens the file for reading and writing at any place. No lock closes the handle.
    ///
    /// - Parameters:
    ///   - password: What the file was encrypted with.
    ///   - durability: What each change outlives.
    /// - Throws: ``ProtectedFileError/Code/wrongPassword``.
    public func handleForUpdating(
        password: Password, durability: ProtectedFileHandle.Durability = .process
    ) throws -> ProtectedFileHandle {
        try ProtectedFileHandle(file, password.secret, writing: true, durability)
    }

    /// What the file says of itself, without the password. None of it is authenticated.
    public struct Info: Sendable, Hashable {
        /// Bytes of data.
        public let size: UInt64
        /// What trying a password takes, in words, such as "Argon2id, 3 × 256 MiB".
        public let cost: String
    }

    /// What the file says of itself, without the password.
    ///
    /// - Throws: ``ProtectedFileError/Code/notProtected`` for a file that is not encrypted with a password.
    public func info() throws -> Info {
        let path = try file.checkedPath()
        return try ProtectedFileError.translating(path) {
            let header = try PasswordFileHeader(path)
            return Info(
                size: header.length, cost: try WrappedUnderPassword(header.wrapped, path: path).cost.description)
        }
    }
}

extension PasswordCost {
    fileprivate init(_ cost: Argon2Cost) throws {
        self = .argon2id(memoryKiB: cost.memoryKiB, passes: cost.passes)
        guard isAcceptable else {
            throw ProtectedFileError(.invalidRequest, message: "no file may ask for \(self); give a lower cost")
        }
    }
}
