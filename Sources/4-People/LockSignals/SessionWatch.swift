import SystemBus
import Glibc

/// What logind says over one connection, about the sessions that count.
final class SessionWatch {
    private static let service = "org.freedesktop.login1"
    private static let session = "org.freedesktop.login1.Session"
    private static let properties = "org.freedesktop.DBus.Properties"

    private let connection: BusConnection
    private let manager: BusTarget
    private let user: uid_t?
    /// The objects of the sessions that count.
    private var sessions: Set<String> = []
    /// Those of them that are locked.
    private var locked: Set<String> = []

    /// - Parameter user: Nil for every user's sessions.
    init(_ bus: BusAddress, user: uid_t?) throws(BusError) {
        self.user = user
        manager = BusTarget(
            service: Self.service, path: "/org/freedesktop/login1", interface: Self.service + ".Manager")
        connection = try BusConnection(bus)
        let sender = "type='signal',sender='\(Self.service)'"
        try connection.listen("\(sender),interface='\(Self.session)'")
        try connection.listen("\(sender),interface='\(manager.interface)'")
        try connection.listen("\(sender),interface='\(Self.properties)',arg0='\(Self.session)'")
        // A logind that starts anew has forgotten who inhibits sleep.
        try connection.listen(
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.service)'")
        // Listening came first, so that nothing that happens from here on is missed.
        for entry in try connection.call(manager, "ListSessions").first?.elements ?? [] {
            guard let fields = entry.elements, fields.count >= 5, let path = fields[4].string else { continue }
            if counts(fields[1].unsigned) { sessions.insert(path) }
        }
    }

    /// What was missed before the listening began: sessions that are locked already.
    func stateNow() -> [LockSignal] {
        locked = sessions.filter { property("LockedHint", of: $0)?.boolean == true }
        return locked.isEmpty ? [] : [.lock]
    }

    /// The next signal; nil when something else happened, or the waiting was interrupted.
    func next(interruption: Int32) throws(BusError) -> LockSignal? {
        guard let signal = try connection.nextSignal(until: nil, interruption: interruption) else { return nil }
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
            // The new owner's name comes last.
            if signal.values.last?.string != "" { return nil }
            throw .noService(Self.service)
        default: return nil
        }
    }

    /// Desktops that lock by themselves, as GNOME does at a key, say so in a property and send no signal.
    private func changed(_ signal: BusSignal) -> LockSignal? {
        guard signal.values.count >= 2, let isLocked = signal.values[1].entry("LockedHint")?.boolean else { return nil }
        if isLocked { return locked.insert(signal.path).inserted ? .lock : nil }
        return locked.remove(signal.path) != nil ? .unlock : nil
    }

    /// A descriptor that makes the machine wait before it sleeps, until it is closed.
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
        // The session may be gone by now.
        return try? connection.call(target, "Get", [.string(Self.session), .string(name)]).first?.content
    }
}
