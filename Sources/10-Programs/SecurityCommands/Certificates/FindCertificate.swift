import Certificates
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import TrustSettings
import VaultInterface

/// `find-certificate`.
struct FindCertificate: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "ampZh", values: "ce")
    let usage = "[-a] [-c name] [-e email-address] [-m] [-p] [-Z] [keychain ...]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        let (name, address) = (options.value("c"), options.value("e"))
        func isMeant(_ certificate: KeychainCertificate) -> Bool {
            if let address { return CertificateFilter.hasEmailAddress(address, in: certificate.der) }
            return name.map { certificate.match($0) != .none } ?? true
        }
        guard options.contains("a") else {
            return try show(
                tool.first(options.operands) { try $0.certificates().first(where: isMeant) }, options, tool)
        }
        for keychain in try tool.searched(options.operands) {
            for certificate in try keychain.certificates() where isMeant(certificate) {
                try show(certificate, options, tool)
            }
        }
    }

    private func show(_ found: KeychainCertificate, _ options: ShortOptions, _ tool: SecurityTool) throws {
        if options.contains("Z") {
            try tool.print("SHA-256 hash: \(found.sha256)\nSHA-1 hash: \(found.sha1)")
        }
        if options.contains("m") {
            let addresses = found.certificate.emailAddresses.map(\.escapedForTerminal)
            try tool.print("email addresses: \(addresses.joined(separator: ", "))")
        }
        if options.contains("p") {
            try StandardOutput.write(PEM.encoding(found.der, as: "CERTIFICATE"))
        } else {
            try tool.print(ItemText(found.item, keychain: found.keychain.path).lines)
        }
    }
}

/// `delete-certificate`, and `delete-identity`, which also deletes the private key.
struct DeleteCertificate: SecuritySubcommand {
    let withKey: Bool
    let grammar = ShortOptions.Grammar(flags: "th", values: "cZ")
    let usage = "[-c name] [-Z hash] [-t] [keychain ...]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        let (name, hash) = (options.value("c"), options.value("Z"))
        guard name != nil || hash != nil else { throw SecurityFailure.usage("-c or -Z is needed") }
        let found: KeychainCertificate
        do {
            found = try KeychainCertificate.only(name, hash, in: tool.searched(options.operands))
        } catch SecurityFailure.operation(_, errSecItemNotFound, _) {
            tool.complain(
                plain: "Unable to delete certificate matching \"\((name ?? hash ?? "").escapedForTerminal)\"")
            throw SecurityFailure.reported
        }
        let keychain = found.keychain
        if options.contains("t") {
            try UserTrust.change { _ = $0.remove(found.der) }
        }
        try securing("SecKeychainItemDelete") {
            if withKey {
                let query = ItemQuery(
                    itemClass: .key, attributes: [.applicationLabel: .data(found.certificate.publicKeyHash)],
                    accessGroup: found.item.accessGroup, synchronizable: .any)
                do {
                    _ = try keychain.session.perform(DeleteItems(query))
                } catch VaultError.itemNotFound {
                    // Like on macOS, a certificate without a key is deleted, too.
                }
            }
            _ = try keychain.session.perform(DeleteItems(ItemQuery(item: found.item)))
        }
    }
}
