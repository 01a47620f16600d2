import Foundation
import ProcessVault
import VaultInterface

// Items outlive the program that stored them: removing a program removes its folders and not its items.
// A program that is installed again would find the sign-in of the installation before.
extension Keychain {
    /// Removes what an earlier installation of the program left in the keychain.
    ///
    /// Call it at every launch, before anything else stores or reads items. The marker is a file that
    /// lives and dies with the installation: put it into the program's data folder, which goes away when
    /// the program is removed. No marker means a first launch, so items that are there come from an
    /// installation before this one; they are removed and the marker is written. With the marker there,
    /// nothing happens.
    ///
    /// ```swift
    /// let data = URL.applicationSupportDirectory.appending(path: "com.example.mail")
    /// try Keychain.removeItemsOfEarlierInstallation(
    ///     of: [tokens, passwords], marker: data.appending(path: "installed"))
    /// ```
    ///
    /// Items go first, the marker is written last, each durably. A crash in between leaves no marker, and
    /// the next launch removes again what is left: an item of the earlier installation is never taken
    /// for one of this. Programs that start at the same moment wait for each other, so none removes what
    /// another has stored since. When the marker's folder cannot be examined or written, nothing is
    /// removed.
    ///
    /// Only the items of the given keychains are removed. Name all of the program's own with one marker;
    /// leave out groups that other programs share, and synchronizable items, which would be removed from
    /// the user's other machines.
    ///
    /// - Parameters:
    ///   - keychains: The keychains of this program.
    ///   - marker: The file; its folder is made, with mode 0700, if it is not there.
    /// - Returns: How many items were removed.
    /// - Throws: ``KeychainError``.
    @discardableResult
    public static func removeItemsOfEarlierInstallation(
        of keychains: [Keychain], marker: URL
    ) throws -> Int {
        try removeItems(of: keychains, session: .currentForKeychain(), marker: marker)
    }

    /// Removes what an earlier installation of the program left in the keychain. See the synchronous
    /// form.
    ///
    /// - Throws: ``KeychainError``.
    @discardableResult
    public static func removeItemsOfEarlierInstallation(
        of keychains: [Keychain], marker: URL
    ) async throws -> Int {
        let provider = VaultSession.override
        return try await BlockingThreads.shared.run {
            if let provider { return try removeItems(of: keychains, session: provider.session, marker: marker) }
            return try removeItems(of: keychains, session: .currentForKeychain(), marker: marker)
        }
    }

    private static func removeItems(
        of keychains: [Keychain], session: VaultSession, marker: URL
    ) throws -> Int {
        let marker = try InstallationMarker(marker)
        if try marker.exists() { return 0 }
        var removed = 0
        for keychain in keychains {
            removed += try BoundKeychain(keychain: keychain, session: session).removeAll()
        }
        try marker.write()
        return removed
    }
}
