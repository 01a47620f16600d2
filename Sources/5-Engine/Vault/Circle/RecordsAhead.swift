import Bytes
import CLibrary
import Circle
import Dispatch
import FoundationEssentials
import VaultInterface

/// Checks signatures of records on another core, while a transaction takes those that come before them. A third of the
/// time that a record takes is its signature.
///
/// It only notes which are right. Whatever it did not come to, or found wrong, is checked where it is taken.
final class RecordsAhead: Sendable {
    private struct State {
        /// Records that were right, by their signatures, with the certificate by which.
        var right: [Data: (object: CircleObject, certificate: WriterCertificate)] = [:]
        var isStopped = false
    }

    private let state = UnfairMutex(State())

    /// Fewer records are checked sooner than another core begins.
    private static let least = 64
    private static let signatureSize = 64

    /// - Returns: Nil if that is not worth while.
    init?(_ objects: [CircleObject], _ session: CircleSession) throws {
        let records = objects.filter { $0.kind == .record && $0.key.count == 32 && $0.value.count > 28 }
        guard records.count >= Self.least, let circle = session.log?.circle else { return nil }
        var checkers: [Data: RecordChecker] = [:]
        for record in records {
            // The number of the member and of its certificate.
            let name = Data(record.value.dropFirst(22).prefix(6))
            guard checkers[name] == nil else { continue }
            checkers[name] = try session.checker(
                UInt32(bigEndianBytes: name.prefix(4)), serial: UInt16(bigEndianBytes: name.suffix(2)))
        }
        let known = checkers
        guard !known.isEmpty else { return nil }
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            // The first ones are taken before this begins.
            for object in records.dropFirst(8) {
                guard !state.withLock({ $0.isStopped }) else { return }
                check(object, circle, known)
            }
        }
    }

    private func check(_ object: CircleObject, _ circle: Identifier16, _ checkers: [Data: RecordChecker]) {
        guard let checker = checkers[Data(object.value.dropFirst(22).prefix(6))],
            let view = Identifier16(object.key.prefix(16)), let name = Identifier16(object.key.suffix(16)),
            let record = try? CircleRecord(decoding: object.value),
            (try? record.check(at: CircleRecord.Place(circle: circle, view: view, name: name), by: checker)) != nil
        else { return }
        state.withLock {
            $0.right[Data(object.value.suffix(Self.signatureSize))] = (object, checker.certificate)
        }
    }

    /// Whether a record was checked at its place, by this certificate, and was right.
    func isRight(_ key: Data, _ value: Data, _ certificate: WriterCertificate) -> Bool {
        guard let found = state.withLock({ $0.right[Data(value.suffix(Self.signatureSize))] }) else { return false }
        return found.object.key == key && found.object.value == value && found.certificate == certificate
    }

    func stop() { state.withLock { $0.isStopped = true } }
}
