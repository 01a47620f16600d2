import Access
import SystemBus

/// The calls to fprintd, over a connection that one thread uses.
final class FingerprintService {
    /// The names of fprintd's D-Bus interface (net.reactivated.Fprint.Manager and .Device).
    private static let service = "net.reactivated.Fprint"

    private let connection: BusConnection
    private let device: BusTarget
    private let user: String

    /// Finds the reader. Starting fprintd and waking up the device can take a while.
    init(_ address: BusAddress, user: String) throws(FingerprintFailure) {
        self.user = user
        do throws(BusError) {
            connection = try BusConnection(address)
            let manager = BusTarget(
                service: Self.service, path: "/net/reactivated/Fprint/Manager", interface: Self.service + ".Manager")
            guard let path = try connection.call(manager, "GetDefaultDevice").first?.string else {
                throw BusError.unexpectedAnswer(member: "GetDefaultDevice")
            }
            device = BusTarget(service: Self.service, path: path, interface: Self.service + ".Device")
        } catch {
            throw FingerprintFailure(error)
        }
    }

    /// Returns the reader's name.
    func name() throws(FingerprintFailure) -> String {
        let properties = BusTarget(
            service: Self.service, path: device.path, interface: "org.freedesktop.DBus.Properties")
        do {
            let answer = try connection.call(properties, "Get", [.string(device.interface), .string("name")])
            return answer.first?.content?.string ?? ""
        } catch {
            throw FingerprintFailure(error)
        }
    }

    /// Returns the names of the enrolled fingers; empty if there are none.
    func enrolledFingers() throws(FingerprintFailure) -> [String] {
        do {
            return try connection.call(device, "ListEnrolledFingers", [.string(user)])
                .first?.elements?.compactMap(\.string) ?? []
        } catch .refused("net.reactivated.Fprint.Error.NoEnrolledPrints", _) {
            return []
        } catch {
            throw FingerprintFailure(error)
        }
    }

    /// Holds the reader exclusively while `body` runs.
    func claimed<Result>(_ body: (FingerprintService) throws(FingerprintFailure) -> Result)
        throws(FingerprintFailure) -> Result
    {
        do {
            try connection.listen(
                "type='signal',sender='\(Self.service)',path='\(device.path)',interface='\(device.interface)',"
                    + "member='VerifyStatus'")
            try connection.call(device, "Claim", [.string(user)])
        } catch {
            throw FingerprintFailure(error)
        }
        // If this fails, the end of the connection releases the reader, too.
        defer { _ = try? connection.call(device, "Release") }
        return try body(self)
    }

    /// Waits for a finger.
    ///
    /// - Returns: Whether the finger matches; nil if none came before the deadline or if the waiting was interrupted.
    func verify(until deadline: ContinuousClock.Instant, interruption: Int32) throws(FingerprintFailure) -> Bool? {
        do {
            try connection.call(device, "VerifyStart", [.string("any")])
            defer { _ = try? connection.call(device, "VerifyStop") }
            while let signal = try connection.nextSignal(
                from: Self.service, until: deadline, interruption: interruption)
            {
                guard signal.member == "VerifyStatus", signal.path == device.path else { continue }
                switch signal.values.first?.string {
                case "verify-match": return true
                case "verify-no-match": return false
                case "verify-disconnected": throw FingerprintFailure(.biometryDisconnected)
                // The finger was placed or moved in a wrong way. The person may try again.
                default: if signal.values.last?.boolean == true { throw FingerprintFailure(.biometryNotAvailable) }
                }
            }
            return nil
        } catch let failure as FingerprintFailure {
            throw failure
        } catch let error as BusError {
            throw FingerprintFailure(error)
        } catch {
            throw FingerprintFailure(.biometryNotAvailable)
        }
    }
}

/// The reason why a finger cannot be read, as an ``AuthenticationFailure``.
struct FingerprintFailure: Error, Equatable {
    var failure: AuthenticationFailure

    init(_ failure: AuthenticationFailure) { self.failure = failure }

    init(_ error: BusError) {
        failure =
            switch error {
            case .refused("net.reactivated.Fprint.Error.NoEnrolledPrints", _): .biometryNotEnrolled
            default: .biometryNotAvailable
            }
    }
}
