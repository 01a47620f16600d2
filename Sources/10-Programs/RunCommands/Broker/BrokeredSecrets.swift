import Access
import Broker
import Bytes
import CLibrary
import CommandKit
import StatusCodes
import SystemLibraries
import VaultInterface

/// The rules of a run by which a program uses secrets that it does not have.
struct BrokeredSecrets {
    var rules: [(rule: BrokerRule, reference: SecretReference)]
    var others: BrokerSettings.Others
    /// The path of certificates to trust; nil for those of the system alone.
    var authority: String?
    /// What the program sees of the file system; nil for all, and for a program that is not isolated.
    var places: IsolationPlaces?

    /// The file of a project with some of the rules; nil if all are from the command line.
    var project: ProjectFile?

    /// Reads the rules of a command line, and of a project.
    ///
    /// - Parameter others: What the command line says; nil for what the project says, or else `standard`.
    init(
        _ texts: [String], of project: ProjectFile? = nil, others: BrokerSettings.Others?,
        otherwise standard: BrokerSettings.Others = .inspect, authority: String?, places: IsolationPlaces? = nil
    ) throws {
        let file = try project?.rules()
        var given: [BrokerRule] = []
        for text in texts {
            do throws(BrokerRule.Problem) {
                given.append(try BrokerRule(text))
            } catch {
                throw Failure.usage("a rule of --broker \(error.description)".escapedForTerminal)
            }
        }
        rules = try Self.checked(given, of: nil)
        if let file, let project { rules += try Self.checked(file.rules, of: project.path) }
        self.others = others ?? file?.others ?? standard
        self.authority = authority
        self.places = places
        self.project = project
        try checkLogins()
    }

    /// Checks what the vault and a program's environment make of rules.
    ///
    /// - Parameter path: The file that has them; nil for the command line.
    static func checked(
        _ rules: [BrokerRule], of path: String?
    ) throws(Failure) -> [(rule: BrokerRule, reference: SecretReference)] {
        var checked: [(rule: BrokerRule, reference: SecretReference)] = []
        for (index, rule) in rules.enumerated() {
            func problem(_ reason: String) -> Failure {
                guard let path else { return .usage("a rule of --broker \(reason)".escapedForTerminal) }
                return .input(path, "rule \(index + 1) \(reason)".escapedForTerminal)
            }
            guard RunVariable.isName(rule.variable.utf8) else {
                throw problem("names no variable: letters, digits and '_', no digit first")
            }
            guard !own.contains(rule.variable) else {
                throw problem("names \(rule.variable), which this run or the program needs itself")
            }
            do throws(SecretReference.Problem) {
                checked.append((rule, try SecretReference(rule.reference)))
            } catch {
                throw path == nil
                    ? .usage("the reference in a rule of --broker \(error.reason)".escapedForTerminal)
                    : problem("has a secret that \(error.reason)")
            }
        }
        return checked
    }

    /// The rules for PostgreSQL.
    var logins: [BrokerRule] { rules.map(\.rule).filter { $0.login != nil } }

    /// Each takes a socket.
    private static let mostLogins = 8
    /// The end of the name of a variable that gets a whole URL.
    private static let urlMark = "URL"

    private func checkLogins() throws(Failure) {
        guard logins.count <= Self.mostLogins else {
            throw .usage("there are \(logins.count) rules for PostgreSQL, and one run has at most \(Self.mostLogins)")
        }
        for login in logins {
            guard rules.count(where: { $0.rule.variable == login.variable }) == 1 else {
                throw .usage(
                    "the variable \(login.variable) of a rule for PostgreSQL has another rule: name a variable for each"
                )
            }
            guard logins.count == 1 || login.variable.hasSuffix(Self.urlMark) else {
                throw .usage(
                    "with several rules for PostgreSQL, a program finds each server by a URL: name the variables "
                        + "\(login.variable)_URL or the like")
            }
        }
    }

    /// Says where the program finds the databases of rules.
    ///
    /// - Parameter ports: In the order of ``logins``.
    private func setDatabases(
        _ ports: [Int], _ secrets: [BrokerStart.Secret], _ environment: EnvironmentBlock
    ) throws {
        var ports = ports[...]
        for ((rule, _), secret) in zip(rules, secrets) {
            guard let login = rule.login, let port = ports.popFirst() else {
                try environment.set(rule.variable, to: secret.placeholder)
                continue
            }
            let isURL = rule.variable.hasSuffix(Self.urlMark)
            if !isURL, rule.variable != "PGPASSWORD" {
                CommandNote.show(
                    "\(rule.variable): psql and other programs with libpq read the password from PGPASSWORD, so call the "
                        + "variable PGPASSWORD, unless the program reads this one".escapedForTerminal)
            }
            if logins.count == 1 {
                // What libpq and most other clients read.
                for (name, value) in [
                    ("PGHOST", "127.0.0.1"), ("PGHOSTADDR", "127.0.0.1"), ("PGPORT", "\(port)"),
                    ("PGUSER", login.user), ("PGSSLMODE", "disable"),
                ] { try environment.set(name, to: value) }
                if let database = login.database { try environment.set("PGDATABASE", to: database) }
            }
            try environment.set(
                rule.variable,
                to: isURL ? login.url(atPort: port, placeholder: secret.placeholder) : secret.placeholder)
        }
    }

    /// Starts the broker's work, and gives the program what it needs to find it.
    ///
    /// - Parameter folder: Where the certificates go that the program trusts.
    /// - Returns: What takes the broker's messages.
    func begin(
        _ process: BrokerProcess, _ lookup: SecretLookup, for program: String, in folder: borrowing MemoryFolder,
        _ environment: EnvironmentBlock
    ) throws -> BrokerWitness {
        lookup.expectLogins(in: rules.map(\.reference))
        let session = try lookup.quietSession()
        let (secrets, held) = try collect(lookup, session)
        let authorities = try authorities()
        let settings = BrokerSettings(
            rules: rules.map(\.rule), others: others, authorities: authorities,
            certificates: "\(folder.path)/\(Self.certificates)", port: places.map { _ in Isolation.port })
        let place = try process.begin(BrokerStart(settings: settings, secrets: secrets))
        let certificates = try folder.write(
            try .text(SystemCertificates.text() + authorities + place.certificate), to: Self.certificates)
        let proxy = "http://keychain:\(place.token)@127.0.0.1:\(place.port)"
        for name in Self.proxies { try environment.set(name, to: proxy) }
        for name in Self.exceptions { try environment.set(name, to: hasOwnLoopback ? Self.ownServers : "") }
        for name in Self.certificateFiles { try environment.set(name, to: certificates) }
        try environment.set("NODE_USE_ENV_PROXY", to: "1")
        let ports = places == nil ? place.databases : logins.indices.map(Isolation.databasePort)
        guard ports.count == logins.count else {
            throw Failure(status: errSecIO, "keychain-broker is of another version: install the one of this keychain")
        }
        try setDatabases(ports, secrets, environment)
        return BrokerWitness(
            process, session, program: program, rules: items, held: held, renewal: try renewal(lookup))
    }

    /// What gets other access tokens of the logins among the rules; nil if there are none.
    func renewal(_ lookup: SecretLookup) throws -> TokenRenewal? {
        let logins = rules.map { LoginName($0.reference) }
        return logins.contains { $0 != nil } ? TokenRenewal(logins: logins, keeper: try lookup.loginKeeper()) : nil
    }

    /// The rules, with the items that the audit log names.
    var items: [(rule: BrokerRule, item: AuditQuery.Item)] {
        rules.map { rule, reference in
            (rule: rule, item: AuditQuery.Item(service: reference.service, account: reference.account))
        }
    }

    /// The certificates in PEM of authorities that are named; empty for none.
    func authorities() throws -> String {
        try authority.map { String(decoding: try RunInput.read($0), as: UTF8.self) } ?? ""
    }

    /// Looks up the secrets.
    ///
    /// - Parameter placeholder: Makes what a program writes in the place of a secret.
    /// - Returns: What the broker gets for each rule, and the secrets of rules that ask first, by their numbers.
    func collect(
        _ lookup: SecretLookup, _ session: VaultSession,
        placeholder: (BrokerRule, SecretBytes) -> String = { Placeholder.make(forToken: $1) }
    ) throws -> (secrets: [BrokerStart.Secret], held: [Int: SecretBytes]) {
        // Before anything is looked up for rules that nobody wants.
        if let project { try Approvals(lookup.openSession()).require(project) }
        if rules.contains(where: \.rule.isAsking), try !session.perform(ReadPresenceAvailability()).isPasscodeSet {
            throw Failure(
                status: errSecParam,
                "a rule says 'ask', which needs a passcode for the vault: set one with `keychain passcode set`")
        }
        var held: [Int: SecretBytes] = [:]
        var secrets: [BrokerStart.Secret] = []
        for (rule, reference) in rules {
            let value = try Self.usable(lookup.secret(reference, at: rule.variable), rule)
            // Two rules for one variable have one placeholder.
            let known = zip(rules, secrets).first { $0.0.rule.variable == rule.variable }?.1.placeholder
            let token = lookup.tokens[reference]
            let placeholder = known ?? placeholder(rule, value)
            if rule.isAsking { held[secrets.count] = value }
            secrets.append(.init(placeholder: placeholder, value: rule.isAsking ? nil : value, token: token))
        }
        return (secrets, held)
    }

    /// Whether these names are the program's own servers, which the broker does not reach.
    private var hasOwnLoopback: Bool {
        let destinations = rules.lazy.flatMap(\.rule.destinations).filter { $0.login == nil }
        return places != nil
            && !destinations.contains { destination in
                Self.ownServers.split(separator: ",").contains { destination.isHost(String($0)) }
            }
    }

    /// The value as a request can have it: in one line.
    private static func usable(_ value: SecretBytes, _ rule: BrokerRule) throws -> SecretBytes {
        let count = value.withUnsafeBytes { bytes in
            bytes.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
        }
        let line = try value.part(0..<count)
        let isUsable = line.withUnsafeBytes { bytes in
            bytes.count > 0 && !bytes.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
                && String(validating: bytes, as: UTF8.self) != nil
        }
        guard isUsable else {
            throw Failure(
                status: errSecParam,
                "\(rule.variable): the secret is empty, has several lines or is not UTF-8, which no request can have "
                    + "in a header")
        }
        guard line.count >= shortest else {
            throw Failure(
                status: errSecParam,
                "\(rule.variable): the secret has less than \(shortest) bytes: a program would find it by trying, and "
                    + "answers would not hide it")
        }
        return line
    }

    /// In bytes.
    private static let shortest = 8

    static let certificates = "certificates.pem"
    /// Variables that cannot have a placeholder.
    private static let own = Set(
        proxies + exceptions + certificateFiles + ["NODE_USE_ENV_PROXY", "PATH", "HOME"] + places)

    /// Where clients of PostgreSQL find their server.
    private static let places = ["PGHOST", "PGHOSTADDR", "PGPORT", "PGUSER", "PGDATABASE", "PGSSLMODE"]

    private static let proxies = [
        "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy", "npm_config_proxy",
        "npm_config_https_proxy", "CARGO_HTTP_PROXY",
    ]
    private static let ownServers = "localhost,127.0.0.1,::1"
    /// Servers that are reached without the proxy: none but those of an isolated program itself.
    private static let exceptions = ["NO_PROXY", "no_proxy"]
    /// What curl, OpenSSL, Go, Python, Node, Deno, cargo, pip, git, gRPC, Nix and the tools of AWS
    /// and Google read.
    private static let certificateFiles = [
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "DENO_CERT",
        "CARGO_HTTP_CAINFO", "PIP_CERT", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO",
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "HTTPLIB2_CA_CERTS",
        "NIX_SSL_CERT_FILE",
    ]
}
