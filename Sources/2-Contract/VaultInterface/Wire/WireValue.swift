import Access
import Bytes
import FoundationEssentials
import Frames
import KeychainModel

/// Something that has a form on the wire, in which it can be written and read.
package protocol WireValue: Sendable {
    func encode(to buffer: WireBuffer)

    /// Reads what ``encode(to:)`` wrote. What follows it stays for the next to read.
    init(from reader: inout WireReader) throws(WireError)
}

extension Never: WireValue {
    package func encode(to buffer: WireBuffer) {}

    package init(from reader: inout WireReader) throws(WireError) {
        throw WireError("a part of an answer that has none")
    }
}

extension Bool: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(self) }
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.bool() }
}

/// A number of items: 8 bytes.
extension Int: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(UInt64(clamping: self)) }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init(clamping: try reader.integer(UInt64.self))
    }
}

extension Data: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(self) }
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.data() }
}

extension StoredItem: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(self) }
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.storedItem() }
}

extension VaultStatus: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(self) }
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.status() }
}

extension IntegrityReport: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(self) }
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.integrityReport() }
}

extension PresenceAvailability: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(self) }
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.presenceAvailability() }
}

extension PresenceProofs: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(rawValue) }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init(rawValue: try reader.integer(UInt8.self))
    }
}

extension CallerDescription: WireValue {}

extension AuditRecord: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(self) }
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.auditRecord() }
}

extension AuditReport: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(self) }
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.auditReport() }
}

extension EnclaveKeyRecord: WireValue {
    package func encode(to buffer: WireBuffer) { buffer.append(encoded) }
    package init(from reader: inout WireReader) throws(WireError) { self = try reader.enclaveKeyRecord() }
}

extension FileKey: WireValue {
    package func encode(to buffer: WireBuffer) {
        buffer.append(key)
        buffer.append(wrapped)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let key = try reader.secret()
        guard key.count == Self.size else { throw WireError("the key of a file has another length") }
        self.init(key: key, wrapped: try reader.data())
    }
}
