import Access
import Bytes
import Crypto
import FoundationEssentials
import SystemBus

/// Recognises fingerprints with fprintd.
package struct FingerprintReader: BiometryReader {
    private let bus: BusAddress
    private let user: String
    private let prints: EnrolledPrints

    /// - Parameters:
    ///   - user: The user with these fingers; empty for the user of this process.
    ///   - prints: The folder of fprintd's enrolled prints, for processes that can read it.
    package init(bus: BusAddress = .system, user: String = "", prints: String = "/var/lib/fprint") {
        self.bus = bus
        self.user = user
        self.prints = EnrolledPrints(folder: prints, user: user)
    }

    package func availability() -> BiometryAvailability {
        do throws(FingerprintFailure) {
            let service = try FingerprintService(bus, user: user)
            let fingers = try service.enrolledFingers()
            guard !fingers.isEmpty else {
                return BiometryAvailability(kind: .fingerprint, failure: .biometryNotEnrolled, state: nil)
            }
            let state = state(reader: try service.name(), fingers: fingers)
            return BiometryAvailability(kind: .fingerprint, failure: nil, state: state)
        } catch {
            return BiometryAvailability(kind: .none, failure: error.failure, state: nil)
        }
    }

    package func recognize(
        until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> BiometryAnswer {
        do throws(FingerprintFailure) {
            let service = try FingerprintService(bus, user: user)
            let matched = try service.claimed { service throws(FingerprintFailure) in
                try service.verify(until: deadline, interruption: cancellation.descriptor)
            }
            guard let matched else { return cancellation.isCanceled ? .canceled : .timedOut }
            return matched ? .recognized : .missed
        } catch {
            return .failed(error.failure)
        }
    }

    /// Returns SHA-256 over the reader, the sorted names of the enrolled fingers and, if they can be read, the prints.
    ///
    /// fprintd itself returns only names. Without the prints, a finger that is enrolled again under the same name does
    /// not change the state.
    private func state(reader: String, fingers: [String]) -> Data {
        var digest = SHA256()
        func add(_ bytes: Data) {
            // The length before each part makes the encoding of a list unambiguous.
            withUnsafeBytes(of: UInt64(clamping: bytes.count).bigEndian) { digest.update(bufferPointer: $0) }
            digest.update(data: bytes)
        }
        add(Data("fprintd".utf8))
        add(Data(reader.utf8))
        for finger in fingers.sorted() { add(Data(finger.utf8)) }
        for print in prints.digests() { add(print) }
        return Data(digest.finalize())
    }
}
