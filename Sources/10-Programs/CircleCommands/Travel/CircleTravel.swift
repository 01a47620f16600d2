import Access
import CircleFolder
import CommandKit
import FoundationEssentials
import PasswordGeneration
import StatusCodes
import VaultInterface

/// Has items travel between the vault and the circle's folder.
struct CircleTravel {
    let session: VaultSession
    let folder: String

    /// How a folder is called as the place where carriers meet.
    static let scheme = "folder:"

    /// - Parameter path: The folder; nil for the one that the vault remembers.
    /// - Throws: ``CommandKit/Failure`` if the vault is in no circle, or remembers no folder.
    init(_ session: VaultSession, folder path: String? = nil) throws {
        self.session = session
        if let path {
            folder = try Self.absolute(path)
            return
        }
        let status = try session.vault.perform(CollectCircleObjects(for: "folder", limit: 0), as: session.client) {
            (_: CircleObject) throws(VaultError) in
        }
        guard status.standing != .none else {
            throw Failure(
                status: errSecItemNotFound,
                "this vault is in no circle: make one with `keychain circle create`, or join one with `keychain circle join`"
            )
        }
        guard status.location.hasPrefix(Self.scheme) else {
            throw Failure(
                status: errSecParam, "the vault does not know the circle's folder: name it with `keychain circle move`")
        }
        folder = String(status.location.dropFirst(Self.scheme.count))
    }

    /// Where the vault finds a folder again, whatever the present folder of a program is.
    static func location(ofFolder path: String) throws -> String { scheme + (try absolute(path)) }

    private static func absolute(_ path: String) throws -> String {
        let path = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else {
            throw Failure.input(path, "there is no such folder: make it, or start what brings it to this machine")
        }
        return path
    }

    func carrier() -> FolderCarrier { FolderCarrier(session.vault, as: session.client, folder: folder) }

    /// Has items travel once, after a command that did its own work: says what keeps them from it, and fails not.
    func carry() {
        do {
            let carrier = carrier()
            try carrier.synchronize()
            for alarm in carrier.report.alarms { CommandNote.show("the circle's folder: \(alarm)".escapedForTerminal) }
        } catch {
            CommandNote.show(
                "nothing travels yet: \(Self.reason(error)); `keychain circle sync` tries again".escapedForTerminal)
        }
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
