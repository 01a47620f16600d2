import ArgumentParser
import CLibrary

/// What `keychain run` does when a secret of its program gets another value.
enum RunReaction {
    /// Sends the program a signal.
    case signal(Signal)
    /// Ends the program and starts it again.
    case restart

    /// A signal that programs take for a wish to read their files again.
    enum Signal: String, CaseIterable, ExpressibleByArgument {
        case hup = "HUP"
        case int = "INT"
        case quit = "QUIT"
        case usr1 = "USR1"
        case usr2 = "USR2"
        case term = "TERM"
        case winch = "WINCH"

        /// Takes the name with SIG before it, too.
        init?(argument: String) {
            let name = argument.uppercased()
            self.init(rawValue: name.hasPrefix("SIG") ? String(name.dropFirst(3)) : name)
        }

        var number: Int32 {
            switch self {
            case .hup: SIGHUP
            case .int: SIGINT
            case .quit: SIGQUIT
            case .usr1: SIGUSR1
            case .usr2: SIGUSR2
            case .term: SIGTERM
            case .winch: SIGWINCH
            }
        }
    }
}
