import Bytes
import CLibrary
import SystemBus

/// logind's signals about the watched sessions, over one connection.
final class SessionWatch {
    private static let service = "org.freedesktop.login1"
    private static let session = "org.freedesktop.login1.Session"
    private static let properties = "org.freedesktop.DBus.Properties"

    private let connection: BusConnection
    private let manager: BusTarget
    private let user: uid_t?
    /// The objects of the watched sessions.
    private var sessions: Set<String> = []
    /// The locked ones of them.
    private var locked: Set<String> = []

    /// - Parameter user: Nil for the sessions of all users.
    init(_ bus: BusAddress, user: uid_t?) throws(BusError) {
        self.user = user
        manager = BusTarget(
            service: Self.service, path: "/org/freedesktop/login1", interface: Self.service + ".Manager")
        connection = try BusConnection(bus)
        let sender = "type='signal',sender='\(Self.service)'"
        try connection.listen("\(sender),interface='\(Self.session)'")
        try connection.listen("\(sender),interface='\(manager.interface)'")
        try connection.listen("\(sender),interface='\(Self.properties)',arg0='\(Self.session)'")
        // A restarted logind does not know any more which programs inhibit sleep.
        try connection.listen(
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.service)'")
        // Listens before it lists the sessions, so that nothing is missed in between.
        for entry in try connection.call(manager, "ListSessions").first?.elements ?? [] {
            guard let fields = entry.elements, fields.count >= 5, let path = fields[4].string else { continue }
            if counts(fields[1].unsigned) { sessions.insert(path) }
        }
    }

    /// Returns a lock if sessions were already locked before the listening began.
    func stateNow() -> [LockSignal] {
        locked = sessions.filter { property("LockedHint", of: $0)?.boolean == true }
        return locked.isEmpty ? [] : [.lock]
    }

    /// Returns the next signal; nil after any other event, or if the waiting was interrupted.
    func next(interruption: Int32) throws(BusError) -> LockSignal? {
        guard let signal = try connection.nextSignal(from: Self.service, until: nil, interruption: interruption)
        else { return nil }
        switch (signal.interface, signal.member) {
        case (Self.session, "Lock") where sessions.contains(signal.path): return .lock
        case (Self.session, "Unlock") where sessions.contains(signal.path): return .unlock
        case (Self.properties, "PropertiesChanged") where sessions.contains(signal.path):
            return changed(signal)
        case (manager.interface, "PrepareForSleep"):
            return signal.values.first?.boolean == true ? .sleep : .wake
        case (manager.interface, "SessionNew"):
            guard let path = signal.values.last?.string else { return nil }
            if counts(property("User", of: path)?.elements?.first?.unsigned) { sessions.insert(path) }
            return nil
        case (manager.interface, "SessionRemoved"):
            guard let path = signal.values.last?.string, sessions.remove(path) != nil else { return nil }
            locked.remove(path)
            return .sessionEnded(left: sessions.count)
        case (_, "NameOwnerChanged"):
            // The last value is the name of the new owner.
            if signal.values.last?.string != "" { return nil }
            throw .noService(Self.service)
        default: return nil
        }
    }

    /// Handles desktops that lock by themselves, such as GNOME at a key. They change a property and send no signal.
    private func changed(_ signal: BusSignal) -> LockSignal? {
        guard signal.values.count >= 2, let isLocked = signal.values[1].entry("LockedHint")?.boolean else { return nil }
        if isLocked { return locked.insert(signal.path).inserted ? .lock : nil }
        return locked.remove(signal.path) != nil ? .unlock : nil
    }

    /// Returns a descriptor that makes the machine wait before sleep until the descriptor is closed.
    func inhibitSleep() throws(BusError) -> Int32 {
        try connection.callForDescriptor(
            manager, "Inhibit",
            [.string("sleep"), .string("keychain"), .string("Lock the keychain"), .string("delay")])
    }

    private func counts(_ owner: UInt64?) -> Bool {
        guard let owner else { return false }
        return user.map { UInt64($0) == owner } ?? true
    }

    private func property(_ name: String, of path: String) -> BusValue? {
        let target = BusTarget(service: Self.service, path: path, interface: Self.properties)
        // The session may have ended meanwhile.
        return try? connection.call(target, "Get", [.string(Self.session), .string(name)]).first?.content
    }
}
