import Access
import CLibrary
import CircleFolder
import CommandKit
import FoundationEssentials
import PasswordGeneration
import StatusCodes
import VaultInterface

/// Has items travel between the vault and the place where the circle meets.
struct CircleTravel {
    let session: VaultSession
    let place: CircleLocation

    /// - Parameter place: Nil for the one that the vault remembers.
    /// - Throws: ``CommandKit/Failure`` if the vault is in no circle, or remembers no place.
    init(_ session: VaultSession, at place: CircleLocation? = nil) throws {
        self.session = session
        if let place {
            self.place = place
            return
        }
        let status = try session.withoutUnlocking.perform(
            CollectCircleObjects(for: CollectCircleObjects.folder, limit: 0)
        ) {
            (_: CircleObject) throws(VaultError) in
        }
        guard status.standing != .none else {
            throw Failure(
                status: errSecItemNotFound,
                "this vault is in no circle: make one with `keychain circle create`, or join one with `keychain circle join`"
            )
        }
        guard let place = CircleLocation(status.location) else {
            throw Failure(
                status: errSecParam,
                "the vault does not know where the circle meets: name the place with `keychain circle move`")
        }
        self.place = place
    }

    /// - Throws: ``CommandKit/Failure`` if the circle does not travel through a folder.
    func carrier() throws -> FolderCarrier {
        guard case .folder(let path) = place else {
            throw Failure.usage("this circle travels through etcd: `keychain-sync` does that")
        }
        return FolderCarrier(session.vault, as: session.client, folder: path)
    }

    /// Has items travel once, after a command that did its own work. Prints the reason if they cannot, and does not
    /// fail.
    func carry() {
        try? carry(toleratingUnsupported: true)
    }

    /// - Parameter isTolerated: Whether to go on if this vault cannot do what is needed, now or later.
    func carry(toleratingUnsupported isTolerated: Bool) throws {
        guard case .folder = place else { return waitForSync() }
        do {
            let carrier = try carrier()
            try carrier.synchronize()
            for alarm in carrier.report.alarms { CommandNote.show("the circle's folder: \(alarm)".escapedForTerminal) }
        } catch {
            if !isTolerated, let error = error as? VaultError, case .unsupported = error { throw Failure(error) }
            CommandNote.show(
                "nothing travels yet: \(Self.reason(error)); `keychain circle sync` tries again".escapedForTerminal)
        }
    }

    /// Gives `keychain-sync` three seconds to write what the command made.
    private func waitForSync() {
        for _ in 0..<60 {
            guard let status = try? session.perform(ReadCircle()), status.standing != .none else { return }
            if status.outgoing == 0, status.standing != .joining || status.circle != nil { return }
            usleep(50_000)
        }
        CommandNote.show("nothing was sent yet: keychain-sync is not running, or cannot reach etcd")
    }

    /// What a machine waits for that is no member yet.
    static func joining(_ status: CircleStatus) -> String {
        status.isRecovering
            ? "this machine looks for the circle of its recovery key, and becomes a member by itself"
            : "this machine waits to be admitted: a person runs `keychain circle approve` at a member; with the words of "
                + "an unattended invitation a member does it by itself, as long as the invitation has a place left"
    }

    static func unsent(_ count: Int) -> String {
        count == 1 ? "1 object has not been sent yet" : "\(count) objects have not been sent yet"
    }

    /// Runs `body`, and throws what a person is told.
    static func reporting(_ carrier: FolderCarrier, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw Failure(
                status: (error as? VaultError)?.osStatus ?? errSecIO, reason(error).escapedForTerminal)
        }
        for alarm in carrier.report.alarms { CommandNote.show("the circle's folder: \(alarm)".escapedForTerminal) }
    }

    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as FolderCarrierError: error.description
        case let error as VaultError: error.description
        default: "\(error)"
        }
    }

    /// The words by which two people compare a machine's keys: 48 bits of their digest.
    static func words(of fingerprint: Data) -> String {
        WordCode.words(for: Array(fingerprint.prefix(5))).joined(separator: " ")
    }
}
