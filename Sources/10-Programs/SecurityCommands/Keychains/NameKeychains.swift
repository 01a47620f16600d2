import CommandKit
import StatusCodes

/// The domain of `-d`. The keychains here are those of the user.
enum KeychainDomain: String, CaseIterable {
    case user, system, common, dynamic

    /// - Parameter text: Like on macOS, the beginning of a name is enough.
    init(_ text: String?) throws {
        let text = text ?? "user"
        guard !text.isEmpty, let domain = Self.allCases.first(where: { $0.rawValue.hasPrefix(text) }) else {
            throw SecurityFailure.usage("-d takes user, system, common or dynamic")
        }
        self = domain
    }

    func requireUser(_ operation: String) throws {
        guard self != .user else { return }
        throw SecurityFailure.other("\(operation) \(rawValue): only the user has keychains here")
    }
}

/// `list-keychains`.
struct ListKeychains: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "sh", values: "d")
    let usage = "[-d user|system|common|dynamic] [-s [keychain ...]]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        let domain = try KeychainDomain(options.value("d"))
        guard options.contains("s") else {
            guard options.operands.isEmpty else { throw SecurityFailure.usage("say -s to set the list") }
            guard domain == .user else { return }
            for place in try SearchList.read(in: .standard()).keychains {
                try tool.print("    \"\(tool.path(place).escapedForTerminal)\"")
            }
            return
        }
        try domain.requireUser("SecKeychainSetDomainSearchList")
        var places: [KeychainPlace] = []
        for name in options.operands {
            let place = try tool.place(name)
            if !places.contains(place) { places.append(place) }
        }
        try SearchList.change(in: .standard()) { [places] in $0.keychains = places }
    }
}

/// `default-keychain`.
struct NameDefaultKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "sh", values: "d")
    let usage = "[-d user|system|common|dynamic] [-s [keychain]]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        let domain = try KeychainDomain(options.value("d"))
        guard options.operands.count <= (options.contains("s") ? 1 : 0) else {
            throw SecurityFailure.usage("say -s and the name of one keychain to choose it")
        }
        guard options.contains("s") else {
            guard domain == .user else {
                throw SecurityFailure.status(
                    errSecNoDefaultKeychain, during: "SecKeychainCopyDomainDefault \(domain.rawValue)")
            }
            let place = try SearchList.read(in: .standard()).standardKeychain
            return try tool.print("    \"\(tool.path(place).escapedForTerminal)\"")
        }
        try domain.requireUser("SecKeychainSetDomainDefault")
        let place = try options.operands.first.map(tool.place) ?? .login
        try SearchList.change(in: .standard()) { $0.standardKeychain = place }
    }
}

/// `login-keychain`.
struct NameLoginKeychain: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "sh", values: "d")
    let usage = "[-d user|system|common|dynamic] [-s keychain]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.contains("s") else { return try tool.print("    \"\(tool.loginPath())\"") }
        // macOS does not set it either.
        guard try options.operands.map(tool.place).allSatisfy({ $0 == .login }) else {
            throw SecurityFailure.other(
                "the login keychain cannot be another one: KEYCHAIN_HOME names its folder, and default-keychain -s the "
                    + "keychain for new items")
        }
    }
}
