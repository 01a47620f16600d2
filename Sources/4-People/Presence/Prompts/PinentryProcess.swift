import Access
import Bytes
import CLibrary
import KeychainModel
import SystemLibraries

/// A running pinentry, which ends with this object.
final class PinentryProcess {
    private let process: pid_t
    private let assuan: AssuanConnection
    private let terminal: String?
    private let settings: termios?

    /// Starts the program. It inherits no descriptor of this process except the connection to it.
    init(
        _ program: String, terminal: String?, conversation: AssuanConnection.Limits
    ) throws(AssuanError) {
        var ends: [Int32] = [-1, -1]
        // A socket instead of pipes: writing to a closed pipe can end this process.
        guard
            socketpair(AF_UNIX, Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else {
            throw .failed(reason: String(cString: strerror(errno)))
        }
        defer { close(ends[1]) }
        let settings = Self.settings(of: terminal)
        let started = Result { () throws(AssuanError) in try Self.start(program, connection: ends[1]) }
        if case .failure = started { close(ends[0]) }
        process = try started.get()
        self.terminal = terminal
        self.settings = settings
        assuan = AssuanConnection(ends[0], conversation)
    }

    deinit {
        assuan.close()
        end()
        // A pinentry that had to be killed does not restore the terminal's settings.
        if let terminal, var settings {
            let descriptor = open(terminal, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
            if descriptor >= 0 {
                tcsetattr(descriptor, TCSANOW, &settings)
                CLibrary.close(descriptor)
            }
        }
    }

    /// Returns the passcode. Asks twice for a new one.
    func askPasscode(_ question: PasscodeQuestion) throws(AssuanError) -> SecretBytes {
        try prepare(question.reason)
        if let cancel = PromptText.title(question.titles.cancel) {
            // An underscore marks the button's access key.
            let text = cancel.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
            try assuan.send("SETCANCEL \(AssuanText.escape(text))", tolerating: true)
        }
        let label = PromptText.label(question.titles, else: "Passcode:")
        var complaint = question.complaint
        while true {
            try assuan.send("SETPROMPT \(question.purpose == .new ? "New passcode:" : AssuanText.escape(label))")
            if let complaint { try assuan.send("SETERROR \(AssuanText.escape(PromptText.safe(complaint)))") }
            let first = try assuan.getPin()
            guard question.purpose == .new else { return first }
            try assuan.send("SETPROMPT Again:")
            if try first == assuan.getPin() { return first }
            complaint = PromptText.differ
        }
    }

    /// Shows `text` until the person dismisses it.
    func showMessage(_ text: String) throws(AssuanError) {
        try prepare(text)
        try assuan.send("SETOK Cancel", tolerating: true)
        try assuan.send("MESSAGE")
    }

    /// Asks whether the person agrees to `text`, and throws ``AssuanError/canceled`` if not.
    func confirm(_ text: String, button: String) throws(AssuanError) {
        try prepare(text)
        try assuan.send("SETOK \(AssuanText.escape(PromptText.title(button) ?? "OK"))", tolerating: true)
        try assuan.send("SETCANCEL Cancel", tolerating: true)
        try assuan.send("CONFIRM")
    }

    private func prepare(_ text: String) throws(AssuanError) {
        try assuan.awaitGreeting()
        for (name, value) in [
            ("ttyname", terminal), ("ttytype", Environment.value(of: "TERM")),
            ("lc-ctype", Environment.value(of: "LC_ALL")),
        ] {
            // A pinentry may ignore options that it does not know.
            if let value { try assuan.send("OPTION \(name)=\(AssuanText.escape(value))", tolerating: true) }
        }
        try assuan.send("OPTION no-grab", tolerating: true)
        try assuan.send("SETTIMEOUT \(assuan.secondsLeft)", tolerating: true)
        try assuan.send("SETTITLE Keychain", tolerating: true)
        try assuan.send("SETDESC \(AssuanText.escape(PromptText.safe(text)))")
    }

    private func end() {
        kill(process, SIGTERM)
        let deadline = ContinuousClock.now + .milliseconds(500)
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG) == 0 {
            if ContinuousClock.now >= deadline {
                kill(process, SIGKILL)
                waitpid(process, &status, 0)
                return
            }
            usleep(2_000)
        }
    }

    private static func start(_ program: String, connection: Int32) throws(AssuanError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in Int32(0)...1 { posix_spawn_file_actions_adddup2(&actions, connection, descriptor) }
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // The dialog may stay open for long. It must not keep descriptors of other parts of this process open.
        closeDescriptors(from: 3, in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        // Resets the signals to what a program expects, even if this process ignores some.
        resetSignals([SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGQUIT], in: &attributes)
        var arguments = [strdup(program), nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw .failed(reason: String(cString: strerror(code))) }
        return process
    }

    private static func settings(of terminal: String?) -> termios? {
        guard let terminal else { return nil }
        let descriptor = open(terminal, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { CLibrary.close(descriptor) }
        var settings = termios()
        return tcgetattr(descriptor, &settings) == 0 ? settings : nil
    }
}
