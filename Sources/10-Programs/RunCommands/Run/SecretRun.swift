import Bytes
import CLibrary
import CommandKit
import SecretService
import SystemBus
import SystemLibraries
import VaultInterface

/// One run of a program with secrets, from looking them up to the program's end.
struct SecretRun {
    let variables: [RunVariable]
    let isMasking: Bool
    /// What to do when a secret changes; nil for nothing.
    let reaction: RunReaction?
    let program: String
    let lookup: SecretLookup
    /// How the vault of the Secret Service that the program gets is unlocked; nil for none.
    var secretService: PasscodeInput?
    /// What the program may use through the broker; nil for nothing.
    var brokered: BrokeredSecrets?
    /// Whether what became of the requests is said at the end.
    var isSummarizing = false

    /// The values that go into the environment, and those that go into files whose paths are in the environment.
    struct Values {
        var direct: [(RunVariable, SecretBytes)] = []
        var files: [(RunVariable, SecretBytes)] = []
    }

    /// - Returns: The program's exit status, unless it has replaced this process.
    func run() throws -> Int32 {
        MemoryFolder.removeLeftovers()
        // Before anybody is asked: the program may not be there.
        let program = try RunProgram(program, searchPath: searchPath)
        if let reaction { return try FollowedRun(secrets: self, program: program, reaction: reaction).run() }
        // Before this process has a secret.
        let starter = try secretService.map { _ in try FrontStarter(for: .programs) }
        var isolation = try brokered.flatMap { brokered in
            try brokered.places.map { try Isolation($0, databases: brokered.logins.count) }
        }
        let broker = try brokered.map { try BrokerProcess(isIsolated: $0.places != nil) }
        defer { broker?.end() }
        lookup.expectLogins(in: references)
        let values = try values()
        let masked = isMasking ? try MaskedSecrets.make(of: lookup.secrets) : []
        if broker == nil { lookup.close() }
        let environment = EnvironmentBlock()
        for (variable, value) in values.direct { try environment.set(variable.name, to: value, at: variable.place) }
        guard isMasking || secretService != nil || broker != nil || !values.files.isEmpty else {
            throw program.replaceThisProcess(environment)
        }
        RunSignals.catchAll()
        guard secretService != nil || broker != nil || !values.files.isEmpty else {
            return try supervise(masked) { try program.start(environment, output: $0) }
        }
        let folder = try MemoryFolder(otherwise: "use --env")
        defer { folder.remove() }
        if let secretService, let starter { try serve(secretService, starter, in: folder, environment) }
        var witness: BrokerWitness?
        if let broker, let brokered {
            let begun = try brokered.begin(broker, lookup, for: self.program, in: folder, environment)
            try broker.follow { begun.take($0) }
            witness = begun
            try isolation?.hide(vaultAt: lookup.pathOfVault())
        }
        for (variable, value) in values.files {
            try environment.set(variable.name, to: folder.write(value, to: variable.fileName))
        }
        let path = folder.path
        let status = try supervise(masked) { [isolation] output in
            guard let isolation, let broker else { return try program.start(environment, output: output) }
            return try isolation.start(program, environment, showing: path, for: broker, output: output)
        }
        broker?.end()
        witness?.finish()
        if isSummarizing { for line in witness?.summary ?? [] { CommandNote.show(line) } }
        return status
    }

    /// Serves the program on a socket in `folder`, which it takes for its session bus.
    private func serve(
        _ passcode: PasscodeInput, _ starter: FrontStarter, in folder: borrowing MemoryFolder,
        _ environment: EnvironmentBlock
    ) throws {
        let socket = try SecretServiceSocket(
            at: "\(folder.path)/bus", try VaultSession.ofOwner(passcode), SecretFronts(starter))
        guard DetachedThread.start("secret-service", { socket.run() }) else {
            throw Failure.file("start", "a thread", errno)
        }
        try environment.set("DBUS_SESSION_BUS_ADDRESS", to: socket.address)
    }

    func values() throws -> Values {
        var values = Values()
        // Mistakes in templates are found before the vault is opened.
        var templates: [String: SecretTemplate] = [:]
        for variable in variables {
            if case .template(let path) = variable.content {
                templates[variable.name] = try SecretTemplate(reading: path)
            }
        }
        for variable in variables {
            switch variable.content {
            case .plain(let value): values.direct.append((variable, value))
            case .secret(let reference):
                values.direct.append((variable, try lookup.secret(reference, at: variable.place)))
            case .file(let reference):
                values.files.append((variable, try lookup.secret(reference, at: variable.place)))
            case .template(let path):
                let filled = try templates[variable.name]?.filled { reference, line in
                    try lookup.secret(reference, at: "\(path.escapedForTerminal):\(line)")
                }
                if let filled { values.files.append((variable, filled)) }
            }
        }
        return values
    }

    /// Those of options. Templates are read later.
    private var references: [SecretReference] {
        variables.compactMap { variable in
            switch variable.content {
            case .secret(let reference), .file(let reference): reference
            case .plain, .template: nil
            }
        } + (brokered?.rules.map(\.reference) ?? [])
    }

    /// The `PATH` that the program will have, unless it is a secret.
    private var searchPath: String? {
        for case let variable in variables where variable.name == "PATH" {
            if case .plain(let value) = variable.content {
                return value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            }
        }
        return Environment.value(of: "PATH")
    }

    /// Starts the program and stays beside it until it ends.
    ///
    /// - Parameter start: Takes descriptors 1 and 2 of the program; nil for those of this process.
    private func supervise(
        _ masked: [SecretBytes], _ start: ((standard: Int32, error: Int32)?) throws -> pid_t
    ) throws -> Int32 {
        // An isolated program gets pipes for what would lead it out.
        let isRelaying = brokered?.places != nil && [1, 2].contains(where: RelayedInput.isNeeded)
        guard isMasking || isRelaying else {
            if let signal = RunSignals.early { return 128 + signal }
            let child = try RunSignals.begin { try start(nil) }
            return RunSignals.status(of: child, blocking: true) ?? ExitStatus.other
        }
        var output = try MaskedOutput(masking: masked)
        if let signal = RunSignals.early { return 128 + signal }
        let writers = output.writers
        let child = try RunSignals.begin { try start(writers) }
        return output.run(for: child)
    }
}
