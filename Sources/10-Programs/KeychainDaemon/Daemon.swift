import Access
import ArgumentParser
import Audit
import Bytes
import CLibrary
import Connections
import Dispatch
import Frames
import LockSignals
import Logging
import Metrics
import Presence
import PrivateFiles
import SecretService
import ServiceLifecycle
import Synchronization
import SystemLibraries
import UnixSignals
import Vault
import VaultInterface
import VaultService

/// `keychaind`: owns a vault and serves it over a socket.
struct Daemon: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychaind",
        abstract: "Own a vault, and serve it to programs over a Unix socket.",
        discussion: """
            Programs that use the keychain find the daemon by themselves. The daemon tells them apart, and grants each \
            its access groups. It stops at SIGTERM and SIGINT.

            For example, to try it with a vault of its own:

              keychaind --socket /tmp/try/socket --home /tmp/try/vault
              KEYCHAIN_SOCKET=/tmp/try/socket keychain status
            """,
        version: DaemonProgram.version)

    @OptionGroup var options: DaemonOptions

    func validate() throws {
        guard Logger.Level(rawValue: options.log) != nil else {
            throw ValidationError("--log can be error, notice, info or debug")
        }
        guard (0...86_400).contains(options.lockGrace) else {
            throw ValidationError("--lock-grace takes 0 to 86400 seconds")
        }
        guard (0...3_600).contains(options.unlockWait) else {
            throw ValidationError("--unlock-wait takes 0 to 3600 seconds")
        }
        guard options.sessionBus || !options.replace else {
            throw ValidationError("--replace is for --session-bus")
        }
        guard !options.sessionBus || !options.system else {
            throw ValidationError("--session-bus is for the daemon of one user: leave it out with --system")
        }
        guard options.metrics?.hasPrefix("/") ?? true else {
            throw ValidationError("--metrics takes an absolute path")
        }
        // More descriptors than a process can have are of no use: five for each connection.
        guard options.rate >= 0, (1...200_000).contains(options.connections) else {
            throw ValidationError("--rate is a number of requests, and --connections takes 1 to 200,000")
        }
    }

    // No second thread starts before the measures are in force that a thread passes on to its children.
    func run() throws {
        // Before these processes can inherit anything, and while this one can start others.
        let starters = Result { try FrontStarters(options) }
        let measures = Hardening.apply()
        limitArenas()
        Hardening.raiseDescriptorLimit(for: options.connections)
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        umask(0o077)
        let logger = Self.logger(level: options.log)
        for measure in measures {
            if let failure = measure.failure {
                logger.notice("without protection", metadata: ["measure": "\(measure.name)", "reason": "\(failure)"])
            }
        }
        do {
            try serve(starters.get(), logger)
            logger.notice("stopped")
        } catch {
            logger.error("\(error)")
            throw ExitCode.failure
        }
    }

    /// Serves until a signal ends it.
    private func serve(_ starters: FrontStarters, _ logger: Logger) throws {
        for reason in starters.missing {
            logger.notice("without protection of the front processes", metadata: ["reason": "\(reason)"])
        }
        let paths = try DaemonPaths(options)
        let entitlements = try readEntitlements(paths.entitlements, logger)
        let passed = try Systemd.passedSockets()
        let listener = try passed[.vault] ?? Self.newListener(paths.socket, isSystem: options.system)
        defer { if passed[.vault] == nil { unlink(paths.socket) } }
        let bus = try otherListener(paths.busSocket, passed[.bus], if: options.secretService)
        defer { if bus?.isOurs ?? false { unlink(paths.busSocket) } }
        let credentials = try otherListener(paths.credentialsSocket, passed[.credentials], if: options.credentials)
        defer { if credentials?.isOurs ?? false { unlink(paths.credentialsSocket) } }
        if options.landlock { try confine(to: paths) }
        let audit = BufferedAudit()
        EmbeddedVault.observeTakingOver { done, all in
            guard done == 0 || done == all else { return }
            logger.notice(
                "takes over the vault of an older version", metadata: ["done": "\(done)", "items": "\(all)"])
        }
        let vault = try EmbeddedVault.open(
            at: paths.home, surroundings: surroundings(audit, entitlements, starters, logger))
        try Self.claim(paths.home)
        try Self.unlockWithCredential(vault, logger)
        audit.record(AuditEvent(.started, client: "keychaind"))
        defer {
            audit.record(AuditEvent(.stopped, client: "keychaind"))
            vault.close()
        }
        let metrics = metricsFile(VaultMetrics(vault: vault, entitlements: entitlements), logger)
        let activity = RequestActivity()
        let journal = Journal(logger: logger, activity: activity)
        defer { journal.writeAllRejections() }
        let server = try VaultServer(
            vault: vault, entitlements: entitlements, ownerTool: paths.ownerTool, limits: limits,
            observer: journal, audit: audit)
        var services: [any Service] = [
            VaultServiceUnit(server: server, listener: listener, journal: journal, entitlements: entitlements)
        ]
        services += try secretService(starters, vault, server, bus?.descriptor, logger)
        if let credentials { server.serveCredentials(credentials.descriptor) }
        services += lockSignals(vault, paths.home, logger) + metrics
        var units = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
        if options.endsWhenLocked {
            let end = KeychainEnd(
                vault: vault, folder: try PrivateFolder(existing: paths.home), activity: activity, logger: logger)
            units.append(.init(service: end, successTerminationBehavior: .gracefullyShutdownGroup))
        }
        let group = ServiceGroup(
            configuration: .init(
                services: units, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        logger.notice(
            "serving",
            metadata: [
                "vault": "\(paths.home)", "socket": "\(paths.socket)", "rules": "\(entitlements.inForce().rules)",
            ])
        try Self.wait(for: group)
    }

    private func readEntitlements(_ file: String, _ logger: Logger) throws -> EntitlementsSource {
        if options.entitlements != nil, access(file, F_OK) != 0 {
            logger.warning(
                "there is no such entitlements file; no rules are in force", metadata: ["file": "\(file)"])
        }
        return try EntitlementsSource(file: file) { reading in
            switch reading {
            case .rules(let count): logger.notice("entitlements read again", metadata: ["rules": "\(count)"])
            case .missing:
                logger.warning(
                    "the entitlements file is gone; no rules are in force", metadata: ["file": "\(file)"])
            case .mistake(let error):
                logger.error(
                    "entitlements not taken over; the last ones stay in force", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func surroundings(
        _ audit: BufferedAudit, _ entitlements: EntitlementsSource, _ starters: FrontStarters, _ logger: Logger
    ) -> VaultSurroundings {
        VaultSurroundings(
            // The reader has the fingers of the user that the daemon runs as. A system daemon serves other users.
            authenticator: PersonAuthenticator(
                prompt: RemotePrompt(), biometry: options.system ? nil : FingerprintReader()),
            audit: audit,
            tellFindings: { findings in
                for sentence in findings.sentences { logger.error("\(sentence)") }
            },
            otherProblems: {
                [entitlements.inForce().mistake.map { VaultProblem(mistake: $0) }].compactMap(\.self)
                    + starters.problems
            },
            quota: { entitlements.current().entitlements.quota(of: $0) })
    }

    /// Bounds the memory that the C library keeps apart for threads: as many arenas as there are threads that work,
    /// and not eight for each processor. A block of 256 KiB or more stays apart from the others, so that the system has
    /// its memory back when it is freed; otherwise the C library learns to keep ever larger ones (mallopt(3)).
    private func limitArenas() {
        // The overlay does not have the header malloc.h. M_ARENA_MAX is -8, M_MMAP_THRESHOLD -3.
        let set: (@convention(c) (Int32, Int32) -> Int32)? = libraryFunction("mallopt")
        _ = set?(-8, Int32(clamping: 2 * Processors.count))
        _ = set?(-3, 256 << 10)
    }

    /// Makes this the one daemon of the vault until the process ends: two daemons would each have a lock state.
    private static func claim(_ home: String) throws {
        do throws(FileError) {
            try PrivateFolder(existing: home).lockUntilExit("daemon")
        } catch .lockTimeout {
            throw DaemonError(
                "another daemon serves the vault in \(home), at another socket: stop that daemon, or give another "
                    + "--home")
        }
    }

    private static func wait(for group: ServiceGroup) throws {
        let ended = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        Task {
            do {
                try await group.run()
            } catch {
                failure.withLock { $0 = error }
            }
            ended.signal()
        }
        ended.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func confine(to paths: DaemonPaths) throws {
        _ = try PrivateFolder(creating: paths.home)
        let system = ["/usr", "/lib", "/lib64", "/etc", "/run", "/proc", "/sys", "/dev"]
        let entitlements = DaemonPaths.folder(of: paths.entitlements)
        // The machine's TPM, if the vault is in it, and the folder of the metrics.
        let others = [EnclavePlace.device, options.metrics.map(DaemonPaths.folder(of:))].compactMap { $0 }
        let own = [paths.home, paths.socketFolder] + others
        let readable = system + [entitlements] + [EnclavePlace.folderForTurns].compactMap { $0 }
        guard FileConfinement.apply(own: own, readable: readable) == 0 else {
            throw DaemonError(
                "the daemon cannot be confined (Landlock): \(String(cString: strerror(errno))); leave out --landlock")
        }
    }

    /// Unlocks at boot if systemd passes the passcode. A wrong one leaves the vault locked.
    private static func unlockWithCredential(_ vault: EmbeddedVault, _ logger: Logger) throws {
        guard let passcode = try ServiceCredential.passcode() else { return }
        do throws(VaultError) {
            try vault.perform(UnlockVault(with: passcode), as: LockSignalUnit.client)
            logger.notice("unlocked with the service's credential")
        } catch {
            logger.error("not unlocked with the service's credential", metadata: ["reason": "\(error)"])
        }
    }

    private func secretService(
        _ starters: FrontStarters, _ vault: EmbeddedVault, _ server: VaultServer, _ listener: Int32?,
        _ logger: Logger
    ) throws -> [any Service] {
        guard listener != nil || options.sessionBus else { return [] }
        let hub = SecretHub(
            server.unlocking, lockState: { vault.lockState }, patience: .seconds(options.unlockWait)
        ) { program in
            logger.notice(
                "a program waits for the vault to be unlocked: run `keychain unlock`",
                metadata: ["program": "\(program)"])
        }
        var units: [any Service] = []
        if let listener, let starter = starters.ofPrograms {
            let fronts = SecretFronts(starter)
            server.serve(listener) { SecretGuests.answer($0, $1, hub, fronts) }
        }
        if options.sessionBus, let starter = starters.ofBus {
            units.append(
                try SecretBusUnit(
                    address: DaemonPaths.sessionBus(), replacing: options.replace, server: server, hub: hub,
                    starter: starter, logger: logger))
        }
        return units
    }

    private func lockSignals(_ vault: EmbeddedVault, _ home: String, _ logger: Logger) -> [any Service] {
        guard options.lockSignals else { return [] }
        let signals = LockSignals(user: options.system ? nil : getuid()) { report in
            switch report {
            case .listening: logger.info("listening for locks")
            case .notListening(let reason): logger.info("not listening for locks", metadata: ["reason": "\(reason)"])
            }
        }
        return [
            LockSignalUnit(
                vault: vault, signals: signals, grace: .seconds(options.lockGrace), logger: logger,
                isHeeded: { [endsWhenLocked = options.endsWhenLocked] in
                    guard endsWhenLocked, let folder = try? PrivateFolder(existing: home) else { return true }
                    return (try? KeychainSettings(in: folder))?.locksOnSleep ?? true
                })
        ]
    }

    /// Called before anything is recorded, because a recorder uses the metrics system of the time it was made.
    private func metricsFile(_ state: VaultMetrics, _ logger: Logger) -> [any Service] {
        guard let path = options.metrics else { return [] }
        let registry = MetricsRegistry(help: VaultMetrics.help)
        MetricsSystem.bootstrap(registry)
        return [MetricsFile(registry: registry, state: state, path: path, logger: logger)]
    }

    private var limits: ServerLimits {
        var limits = ServerLimits()
        limits.connections = options.connections
        limits.requestsPerSecond = options.rate
        return limits
    }

    private static func logger(level: String) -> Logger {
        var logger = Logger(label: "keychaind") { StreamLogHandler(label: $0, stream: LogStream()) }
        if let level = Logger.Level(rawValue: level) { logger.logLevel = level }
        return logger
    }

    private func otherListener(
        _ path: String, _ passed: Int32?, if isWanted: Bool
    ) throws -> (descriptor: Int32, isOurs: Bool)? {
        if let passed { return (passed, false) }
        return isWanted ? (try Self.newListener(path, isSystem: options.system), true) : nil
    }

    private static func newListener(_ path: String, isSystem: Bool) throws -> Int32 {
        let folder = DaemonPaths.folder(of: path)
        if isSystem {
            mkdir(folder, 0o755)
            chmod(folder, 0o755)
        } else {
            _ = try PrivateFolder(creating: folder)
        }
        do throws(SocketError) {
            return try UnixSocket.listen(at: path, mode: isSystem ? 0o666 : 0o600)
        } catch {
            if case .system(EADDRINUSE) = error {
                throw DaemonError(
                    "another daemon serves \(path), or it is not a socket: stop that daemon, or give another "
                        + "--socket"
                )
            }
            guard case .system(let code) = error else { throw error }
            throw DaemonError(
                "cannot listen at \(path): \(String(cString: strerror(code))); give another --socket")
        }
    }
}

extension VaultProblem {
    fileprivate init(mistake: EntitlementsError) {
        self.init(
            .entitlements,
            "the entitlements file has a mistake, and the rules before it stay in force: \(mistake). "
                + "`keychain entitlements check` reads the file as the daemon does")
    }
}
