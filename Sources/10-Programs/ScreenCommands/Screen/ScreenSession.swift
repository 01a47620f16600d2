import ArgumentParser
import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import PasswordCommands

/// The screen, the vault and the person, until the person leaves.
struct ScreenSession {
    /// Between two readings of a vault that changes all the time.
    private static let pause = Duration.milliseconds(300)
    /// After so long without a further byte, the escape key was pressed.
    private static let escapeTime = Duration.milliseconds(50)

    private let screen: TerminalScreen
    /// When the clipboard is emptied.
    private let clipboardSeconds: Int
    private let signals: ScreenSignals
    private let vault: ScreenVault
    private let view: ScreenView
    private let notices: (changes: ChangeNotices, locks: ChangeNotices)
    private let reader: ScreenReader
    private var model = ScreenModel()
    private var parser = KeyParser()
    /// When the vault is read again; nil if it did not change.
    private var readingTime: ContinuousClock.Instant?
    /// The signal that ends the program; 0 if the person leaves.
    private var end: Int32?

    /// - Parameter seconds: When the clipboard is emptied; 0 for never.
    /// - Throws: `ExitCode` if a signal ended it, with the status that a shell gives to that.
    static func run(copyingFor seconds: Int) throws {
        let screen = try TerminalScreen()
        defer { screen.leave() }
        var session = try ScreenSession(screen, copyingFor: seconds)
        let end = try session.loop()
        if end != 0 {
            screen.leave()
            throw ExitCode(128 + end)
        }
    }

    private init(_ screen: TerminalScreen, copyingFor seconds: Int) throws {
        (self.screen, clipboardSeconds) = (screen, seconds)
        vault = try ScreenVault(ScreenPrompt(screen))
        guard let signals = ScreenSignals() else {
            throw Failure.system("no descriptor is left: end other programs", errno)
        }
        self.signals = signals
        // Before the first look, so that no change falls in between.
        notices = try vault.notices()
        reader = ScreenReader(vault, signals)
        view = ScreenView(.ofLocale())
        (model.columns, model.rows) = screen.size
        reader.start()
    }

    private mutating func loop() throws -> Int32 {
        while true {
            try draw()
            try wait()
            if let end { return end }
        }
    }

    private mutating func draw() throws {
        try screen.enter()
        try screen.draw(view.lines(&model, now: .now), columns: model.columns)
    }

    /// Waits until something happens, and does what follows from it.
    private mutating func wait() throws {
        let escape = parser.isWaiting ? ContinuousClock.now + Self.escapeTime : nil
        let next = [escape, model.nextMoment(.now), readingTime].compactMap(\.self).min()
        let descriptors = [screen.descriptor, signals.descriptor, notices.changes.descriptor, notices.locks.descriptor]
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0) }
        let ready = poll(&entries, nfds_t(clamping: entries.count), Self.milliseconds(until: next))
        if ready < 0, errno != EINTR {
            throw Failure.system("the terminal cannot be waited for: start this again", errno)
        }
        if ready > 0 {
            if entries[1].revents != 0 { try take(signals.take()) }
            if end == nil, entries[0].revents != 0 { try type() }
            if entries[2].revents != 0 { notices.changes.drain() }
            if entries[3].revents != 0 { notices.locks.drain() }
            if entries[2].revents != 0 || entries[3].revents != 0 { readingTime = readingTime ?? .now + Self.pause }
        } else if parser.isWaiting, let key = parser.finish() {
            try carryOut(model.handle(key))
        }
        try carryOut(model.tick(.now))
        if let time = readingTime, time <= .now {
            readingTime = nil
            reader.start()
        }
    }

    /// Rounded up: when the time is over, the moment has come.
    private static func milliseconds(until moment: ContinuousClock.Instant?) -> Int32 {
        guard let moment else { return -1 }
        return Int32(clamping: max(0, (ContinuousClock.now.duration(to: moment) / .milliseconds(1)).rounded(.up)))
    }

    private mutating func type() throws {
        guard let bytes = screen.read() else {
            // The terminal is gone.
            end = SIGHUP
            return
        }
        for key in parser.take(bytes) where end == nil { try carryOut(model.handle(key)) }
    }

    private mutating func take(_ numbers: Set<Int32>) throws {
        if let number = [SIGTERM, SIGINT, SIGHUP, SIGQUIT].first(where: numbers.contains) {
            end = number
            return
        }
        if numbers.contains(SIGTSTP) {
            model.hide()
            try stop()
        }
        if numbers.contains(SIGCONT) { try screen.forget() }
        if numbers.contains(SIGWINCH) {
            (model.columns, model.rows) = screen.size
            // A terminal of another size has moved what it showed.
            try screen.forget()
        }
        for result in reader.take() {
            switch result {
            case .success(let contents): model.take(contents)
            case .failure(let failure): model.tell(failure.message, isError: true, now: .now)
            }
        }
    }

    private func stop() throws {
        screen.leave()
        ScreenSignals.stop()
        try screen.enter()
    }

    private mutating func carryOut(_ effects: [ScreenEffect]) throws {
        for effect in effects where end == nil {
            switch effect {
            case .leave: end = 0
            case .stop: try stop()
            case .redraw: try screen.forget()
            default:
                do {
                    try ask(effect)
                } catch {
                    model.tell(Self.message(error), isError: true, now: .now)
                }
            }
        }
    }

    private mutating func ask(_ effect: ScreenEffect) throws {
        switch effect {
        case .leave, .stop, .redraw: break
        case .versions(let entry): model.show(versions: try vault.versions(of: entry))
        case .reveal(let entry):
            guard let text = String(validating: try vault.secret(of: entry), as: UTF8.self) else {
                throw Failure.usage("the secret is not text: `keychain get` writes it to a file")
            }
            model.reveal(text, now: .now)
        case .copy(let entry):
            let sentence = try copy { try vault.secret(of: entry) }
            model.tell(sentence, now: .now)
        case .copyCode(let code):
            let sentence = try copy { Data(code.utf8) }
            model.tell(sentence, now: .now)
        case .code(let entry):
            do {
                let (code, seconds) = try vault.code(of: entry)
                model.show(code: code, of: entry, seconds: seconds, now: .now)
            } catch {
                // One that is over must not stay.
                model.hide()
                throw error
            }
        case .audit: model.show(audit: try vault.auditRows())
        case .lock:
            try vault.lock()
            model.hide()
            model.tell("locked", now: .now)
            reader.start()
        case .unlock:
            model.hide()
            model.tell(try vault.unlock().joined(separator: " "), now: .now)
            reader.start()
        }
    }

    /// - Returns: What a person is told.
    private func copy(_ secret: () throws -> Data) throws -> String {
        try CopiedSecret(seconds: clipboardSeconds, secret).sentence
    }

    private static func message(_ error: any Error) -> String {
        Failure(reporting: error)?.message ?? "this did not work: try again"
    }
}
