import Access
import CLibrary
import SystemLibraries

/// Asks for the passcode with pinentry, GnuPG's dialog for terminals and desktops.
package struct PinentryPrompt: PasscodePrompt {
    private let program: String?
    private let terminal: String?
    private let isChosen: Bool

    /// - Parameters:
    ///   - program: The path of a pinentry; nil for `$KEYCHAIN_PINENTRY`, or else the one in `PATH`.
    ///   - terminal: The path of the terminal to use; nil for `$GPG_TTY`, or else the terminal of standard input, if it
    ///     is one.
    package init(program: String? = nil, terminal: String? = nil) {
        let chosen = program ?? Environment.value(of: "KEYCHAIN_PINENTRY")
        isChosen = chosen != nil
        self.program = chosen ?? Self.found("pinentry")
        self.terminal =
            terminal ?? Environment.value(of: "GPG_TTY").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? Self.own
    }

    /// The pinentry of `$KEYCHAIN_PINENTRY`; nil if the variable is not set.
    static var chosen: PinentryPrompt? {
        Environment.value(of: "KEYCHAIN_PINENTRY") == nil ? nil : PinentryPrompt()
    }

    package var isAvailable: Bool {
        guard let program, access(program, X_OK) == 0 else { return false }
        return isChosen || terminal != nil || Environment.value(of: "DISPLAY") != nil
            || Environment.value(of: "WAYLAND_DISPLAY") != nil
    }

    package func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    package func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        guard let program else {
            return .unavailable(remedy: "there is no pinentry in PATH: install one, such as pinentry-curses")
        }
        do throws(AssuanError) {
            let dialog = try PinentryProcess(
                program, terminal: terminal, conversation: .init(deadline: deadline, cancellation: cancellation))
            return .passcode(try dialog.askPasscode(question))
        } catch {
            switch error {
            case .canceled: return .canceled
            case .timedOut: return .timedOut
            case .failed(let reason):
                return .unavailable(remedy: "\(program) does not work (\(reason)): choose another in KEYCHAIN_PINENTRY")
            }
        }
    }

    package func hold(
        _ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> Bool {
        guard let program else { return false }
        do throws(AssuanError) {
            let dialog = try PinentryProcess(
                program, terminal: terminal, conversation: .init(deadline: deadline, cancellation: cancellation))
            try dialog.showMessage(message)
            return true
        } catch {
            // The dialog was ended from outside or cannot show the message. The awaited event can still happen.
            return error == .canceled && !cancellation.isCanceled
        }
    }

    /// Asks whether the person agrees.
    ///
    /// - Parameter button: What the button says that agrees.
    /// - Returns: Nil if nobody answers in time, or pinentry does not work.
    package func confirm(
        _ text: String, button: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> Bool? {
        guard let program else { return nil }
        do throws(AssuanError) {
            let dialog = try PinentryProcess(
                program, terminal: terminal, conversation: .init(deadline: deadline, cancellation: cancellation))
            try dialog.confirm(text, button: button)
            return true
        } catch {
            return error == .canceled && !cancellation.isCanceled ? false : nil
        }
    }

    /// The terminal of standard input.
    private static var own: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard ttyname_r(0, &name, name.count) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func found(_ name: String) -> String? {
        (Environment.value(of: "PATH") ?? "/usr/bin:/bin").split(separator: ":")
            .filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
