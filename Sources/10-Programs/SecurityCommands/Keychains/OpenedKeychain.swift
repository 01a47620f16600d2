import CommandKit
import FoundationEssentials
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface

/// A keychain in use.
struct OpenedKeychain {
    let place: KeychainPlace
    /// What is printed where macOS prints the path of the keychain.
    let path: String
    let session: VaultSession

    /// The group in which an item is looked for that is named without one; nil for every group. Other programs store
    /// only in the login keychain.
    var group: String? {
        get throws { try place == .login ? securing("SecKeychainSearchCopyNext") { try session.ownGroup } : nil }
    }

    func status() throws -> VaultStatus {
        try securing("SecKeychainGetStatus") { try session.perform(ReadStatus()) }
    }

    /// Returns items, none if there are none.
    func items(_ query: ItemQuery, includingValues: Bool = true) throws -> [StoredItem] {
        do {
            return try session.perform(CopyItems(query, includingValues: includingValues))
        } catch {
            if error == .itemNotFound { return [] }
            throw SecurityFailure.vault(error, during: "SecKeychainSearchCopyNext")
        }
    }
}

extension SecurityTool {
    /// The path of the login keychain.
    func loginPath() throws -> String {
        try securing("SecKeychainCopyDefault") {
            // A daemon that does not tell where its vault is has it in memory.
            if try ProcessVault.servedCaller() != nil {
                let session = try VaultSession.ofOwner()
                if let path = try session.perform(ReadStatus()).path { return path }
            }
            return try ProcessVault.defaultPath()
        }
    }

    func path(_ place: KeychainPlace) throws -> String {
        switch place {
        case .login: try loginPath()
        case .folder(let path): path
        }
    }

    /// Returns the keychain with this name.
    func place(_ name: String) throws -> KeychainPlace {
        try KeychainNames.standard().place(of: name, served: loginPath())
    }

    func open(_ place: KeychainPlace) throws -> OpenedKeychain {
        switch place {
        case .login:
            return OpenedKeychain(place: place, path: try loginPath(), session: try VaultSession.ofOwner())
        case .folder(let path):
            guard KeychainNames.isKeychain(path) else { throw KeychainNames.missing(path) }
            let vault = try securing("SecKeychainOpen \(path.escapedForTerminal)") {
                try KeychainKeeper(folder: path).open().vault
            }
            return OpenedKeychain(place: place, path: path, session: VaultSession.ofOwner(in: vault))
        }
    }

    /// Returns the keychain of an option or the only operand: the default keychain unless it is named.
    func keychain(_ name: String?) throws -> OpenedKeychain {
        if let name { return try open(place(name)) }
        return try open(SearchList.read(in: .standard()).standardKeychain)
    }

    /// Returns the keychains to search: those that the operands name, else those of the search list that exist.
    func searched(_ operands: [String]) throws -> [OpenedKeychain] {
        try searchedPlaces(operands).map(open)
    }

    private func searchedPlaces(_ operands: [String]) throws -> [KeychainPlace] {
        guard operands.isEmpty else { return try operands.map(place) }
        return try SearchList.read(in: .standard()).keychains.filter { place in
            if case .folder(let path) = place { KeychainNames.isKeychain(path) } else { true }
        }
    }

    /// Returns the first thing that `body` finds in the keychains, also if an earlier one of them cannot be opened.
    ///
    /// - Throws: If nothing is found: what went wrong in a keychain, else that the item is not there.
    func first<Found>(_ operands: [String], _ body: (OpenedKeychain) throws -> Found?) throws -> Found {
        var failure: (any Error)?
        for place in try searchedPlaces(operands) {
            do {
                if let found = try body(open(place)) { return found }
            } catch {
                if case SecurityFailure.operation(_, errSecItemNotFound, _) = error, failure != nil { continue }
                failure = failure.map { Self.isMissing($0) ? error : $0 } ?? error
            }
        }
        throw failure ?? SecurityFailure.vault(.itemNotFound, during: "SecKeychainSearchCopyNext")
    }

    private static func isMissing(_ error: any Error) -> Bool {
        if case SecurityFailure.operation(_, errSecItemNotFound, _) = error { true } else { false }
    }
}
