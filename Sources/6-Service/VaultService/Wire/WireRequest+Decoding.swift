import Access
import FoundationEssentials
import KeychainModel
import VaultInterface

extension WireCall {
    /// The call that a whole request frame holds.
    package init(from reader: inout WireReader) throws(WireError) {
        let code = try reader.integer(UInt8.self)
        canAsk = try reader.bool()
        claim = Client(
            identifier: try reader.string(), accessGroups: try reader.strings(limit: WireLimits.accessGroups))
        request = try Self.request(code, from: &reader)
        try reader.finish()
    }

    private static func request(_ code: UInt8, from reader: inout WireReader) throws(WireError) -> WireRequest {
        switch code {
        case 1: return .add(try reader.newItem())
        case 2: return .addIdentity(certificate: try reader.newItem(), key: try reader.newItem())
        case 3:
            let (query, reports) = try reader.itemQuery()
            return .copy(query, includingValues: try reader.bool(), reports)
        case 4:
            let (query, _) = try reader.itemQuery()
            return .update(query, try reader.itemChanges())
        case 5: return .delete(try reader.itemQuery().query)
        case 6: return .put(try reader.newItem())
        case 7: return .exchange(try reader.newItem(), expected: try reader.optionalValue())
        case 8: return .status
        case 9: return .erase
        case 10: return .verify
        case 11: return .changes
        case 12: return .setPasscode(try reader.secret(), try reader.passcodeOptions())
        case 13:
            return .changePasscode(try reader.secret(), to: try reader.secret(), try reader.passcodeOptions())
        case 14: return .removePasscode(try reader.secret())
        case 15: return .unlock(try reader.secret())
        case 16: return .lock(after: .milliseconds(Int64(clamping: try reader.integer(UInt64.self) % (1 << 50))))
        case 17: return .presenceAvailability
        case 18:
            return .authenticate(
                AccessControl.Flags(rawValue: try reader.integer(UInt64.self)), context: try reader.uuid(),
                try reader.authenticationOptions())
        case 19: return .endContext(try reader.uuid())
        case 20: return .describeCaller
        case 21:
            return .auditRecords(
                AuditQuery(
                    since: try reader.optional { reader throws(WireError) in try reader.integer(Int64.self) },
                    limit: try reader.optional { reader throws(WireError) in Int(try reader.integer(UInt32.self)) }))
        case 22: return .verifyAudit
        case 24:
            guard let kind = EnclaveKeyKind(rawValue: try reader.integer(UInt8.self)) else {
                throw WireError("unknown kind of key")
            }
            return .makeEnclaveKey(kind, try reader.accessControl(), try reader.authenticationOptions())
        case 25:
            return .useEnclaveKey(
                try reader.enclaveKeyRecord(), try reader.enclaveKeyOperation(), try reader.authenticationOptions())
        case 23: return .deleteDamaged
        case 26: return .makeFileKey(try reader.fileClass(), file: try reader.data())
        case 27:
            return .fileKey(try reader.fileClass(), file: try reader.data(), wrapped: try reader.data())
        case 28:
            return .rewrapFileKey(
                try reader.fileClass(), to: try reader.fileClass(), file: try reader.data(),
                wrapped: try reader.data())
        case 29: return .lockEvents
        default: throw WireError("unknown operation")
        }
    }
}
