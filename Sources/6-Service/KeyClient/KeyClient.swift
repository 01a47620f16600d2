import CLibrary
import DaemonLink
import Frames
import PlainBytes
import Synchronization

/// A client of the vault's daemon that finds and uses keys. Any number of threads can use it at once.
///
/// After a fork, the child makes a new client: the connections are the parent's.
package final class KeyClient: Sendable {
    private let sockets: [String]
    // A connection is for one thread at a time: a thread takes it out of the list and puts it back.
    private let resting = Mutex<[Resting]>([])
    private static let mostResting = 16
    private static let mostAttempts = 3

    /// Safe to send: see `resting`.
    private struct Resting: @unchecked Sendable { let connection: KeyConnection }

    /// Starts what asks a person, and returns the socket to it.
    package typealias Asker = @Sendable () -> FrameSocket?

    private let asker: Asker?

    /// - Parameters:
    ///   - sockets: Where a daemon may listen, in the order to try.
    ///   - asker: What asks a person; nil if nobody can be asked here.
    package init(sockets: [String], asker: Asker? = nil) { (self.sockets, self.asker) = (sockets, asker) }

    /// Returns whether a daemon can be reached.
    package func isReachable() -> Bool {
        guard let connection = try? take() else { return false }
        put(connection)
        return true
    }

    /// The numbers of the operations in the protocol (Documentation/Specify/Protocol.md).
    private enum Operation: UInt8 {
        case deleteItems = 5
        case copyKeyObjects = 45
        case useKey = 46
        case addKey = 47
        case storeCertificate = 48
        case copyPassword = 49
    }

    /// Returns the keys and certificates that the program may see.
    ///
    /// - Parameter includingPasswords: Whether generic passwords are among them.
    package func objects(includingPasswords: Bool = false) throws(KeyClientError) -> [ClientKeyObject] {
        var objects: [ClientKeyObject] = []
        try perform(.copyKeyObjects) { buffer in
            objects = []
            // Of all labels.
            buffer.append(false)
            buffer.append(includingPasswords)
        } part: { (reader) throws(FrameError) in
            objects.append(try ClientKeyObject(from: &reader))
        } reply: { _ in
        }
        return objects
    }

    /// Uses a private or secret key.
    ///
    /// - Parameters:
    ///   - key: The private half, or the secret key.
    ///   - algorithm: Apple's name, such as `algid:sign:ECDSA:digest-RFC4754`, or one of the protocol's
    ///     (Documentation/Specify/Protocol.md).
    ///   - context: The nonce of GCM, the vector of CBC, or the context of ML-DSA.
    ///   - binding: What GCM authenticates besides.
    /// - Returns: The signature, the code, the plaintext, the ciphertext or the shared secret.
    package func use(
        _ key: ClientKeyObject, to purpose: ClientKeyPurpose, by algorithm: String, _ input: UnsafeRawBufferPointer,
        context: [UInt8] = [], binding: [UInt8] = []
    ) throws(KeyClientError) -> [UInt8] {
        var result: [UInt8] = []
        try perform(.useKey) { buffer in
            buffer.append(key.accessGroup)
            key.hash.withUnsafeBytes { buffer.append(counted: $0) }
            buffer.append(purpose.rawValue)
            buffer.append(algorithm)
            buffer.append(counted: input)
            context.withUnsafeBytes { buffer.append(counted: $0) }
            binding.withUnsafeBytes { buffer.append(counted: $0) }
            Self.appendAuthentication(to: buffer, prompt: "use the key '\(key.label)'")
        } reply: { (reader) throws(FrameError) in
            result = Array(try reader.counted())
        }
        return result
    }

    /// Returns the value of a password.
    package func value(of password: ClientKeyObject) throws(KeyClientError) -> [UInt8] {
        var result: [UInt8] = []
        try perform(.copyPassword) { buffer in
            buffer.append(password.accessGroup)
            buffer.appendRaw(password.identifier)
            Self.appendAuthentication(to: buffer)
        } reply: { (reader) throws(FrameError) in
            result = Array(try reader.counted())
        }
        return result
    }

    /// Makes or imports a key, and returns its ``ClientKeyObject/hash``.
    package func add(_ key: NewClientKey) throws(KeyClientError) -> [UInt8] {
        var hash: [UInt8] = []
        try perform(.addKey, isRepeatable: false) { buffer in
            buffer.append(key.keyClass.rawValue)
            buffer.append(key.keyType)
            buffer.append(key.sizeInBits)
            buffer.append(key.isInEnclave)
            buffer.append(key.label)
            key.name.withUnsafeBytes { buffer.append(counted: $0) }
            key.value.withUnsafeBytes { buffer.append(counted: $0) }
        } reply: { (reader) throws(FrameError) in
            hash = Array(try reader.counted())
        }
        return hash
    }

    /// Stores a certificate in DER.
    package func store(certificate: [UInt8], label: String?) throws(KeyClientError) {
        try perform(.storeCertificate, isRepeatable: false) { buffer in
            certificate.withUnsafeBytes { buffer.append(counted: $0) }
            buffer.append(optional: label) { buffer.append($0) }
        } reply: { _ in
        }
    }

    /// Deletes an item.
    package func delete(_ object: ClientKeyObject) throws(KeyClientError) {
        try perform(.deleteItems, isRepeatable: false) { buffer in
            // The class of the item; no attributes, no group, of both scopes.
            buffer.append(object.kind.itemClass)
            buffer.append(UInt32(0))
            buffer.append(false)
            buffer.append(UInt8(2))
            buffer.append(true)
            buffer.appendRaw(object.identifier)
            // No limit, no filters, no tombstones, no reports.
            buffer.append(false)
            buffer.append(UInt32(0))
            buffer.append(false)
            buffer.append(UInt8(0))
            Self.appendAuthentication(to: buffer)
            // No custom attributes; expired items too.
            buffer.append(UInt32(0))
            buffer.append(true)
        } reply: { (reader) throws(FrameError) in
            _ = try reader.integer(UInt64.self)
        }
    }

    /// How a person may be asked: in any way.
    ///
    /// - Parameter prompt: What for; nil for the vault's own words.
    private static func appendAuthentication(to buffer: FrameBuffer, prompt: String? = nil) {
        buffer.append(UInt8(0))
        buffer.append(optional: prompt) { buffer.append($0) }
        for _ in 0..<2 { buffer.append(false) }
    }

    private func perform(
        _ operation: Operation, isRepeatable: Bool = true, _ write: (FrameBuffer) -> Void,
        part: (inout FrameReader) throws(FrameError) -> Void = { _ throws(FrameError) in
            throw FrameError("unexpected frame")
        },
        reply: (inout FrameReader) throws(FrameError) -> Void
    ) throws(KeyClientError) {
        var attempt = 1
        while true {
            let connection = try take()
            switch connection.perform(operation.rawValue, asker, write, part: part, reply: reply) {
            case .answered:
                put(connection)
                return
            case .refused(let error):
                put(connection)
                throw error
            case .lost(let reason):
                // A daemon that ends closes all connections, so the others are of no use either.
                resting.withLock { $0 = [] }
                guard isRepeatable, attempt < Self.mostAttempts else { throw .unreachable(reason: reason) }
                attempt += 1
            }
        }
    }

    private func take() throws(KeyClientError) -> KeyConnection {
        while let next = resting.withLock({ $0.popLast() }) {
            if next.connection.isUsable { return next.connection }
        }
        var failure = KeyClientError.unreachable(reason: "no daemon listens")
        for path in sockets {
            let greeting: DaemonGreeting
            do {
                greeting = try DaemonGreeting(to: path)
            } catch {
                if case .unusable(let reason) = error { failure = .unreachable(reason: reason) }
                continue
            }
            return try KeyConnection(greeting)
        }
        throw failure
    }

    private func put(_ connection: KeyConnection) {
        guard connection.isUsable else { return }
        let entry = Resting(connection: connection)
        resting.withLock { if $0.count < Self.mostResting { $0.append(entry) } }
    }
}

extension ClientKeyObject.Kind {
    /// The number of the item's class in the protocol.
    fileprivate var itemClass: UInt8 {
        switch self {
        case .password: 1
        case .certificate: 3
        case .publicKey, .privateKey, .secretKey: 4
        }
    }
}
