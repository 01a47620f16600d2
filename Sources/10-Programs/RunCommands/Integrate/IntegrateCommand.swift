import ArgumentParser
import CLibrary
import CommandKit
import FoundationEssentials
import PrivateFiles
import StatusCodes

/// Makes another program keep its secrets in the keychain.
struct IntegrateCommand: DocumentedCommand {
    static let summary = "Make git, docker, browsers and others keep their secrets in the keychain."
    static let details = """
        The command shows the lines that the program's configuration file gets, and asks. --remove takes them out \
        again. A setting of your own that is in the way stays, and the command says so.

        Without a program, it lists the programs, and which of them use the keychain.
        """
    static let examples = [
        Example("See which programs use the keychain", "keychain integrate"),
        Example("Make git use it", "keychain integrate git"),
        Example("Logins for Firefox", "keychain integrate firefox"),
        Example("In a script", "keychain integrate docker --yes"),
        Example("Take it back", "keychain integrate git --remove"),
    ]
    static let configuration: CommandConfiguration = documented("integrate")

    @Argument(
        help: """
            git, docker, podman, cargo, aws, session-bus, portal, firefox, chromium, chrome, brave, edge or vivaldi.
            """, completion: .list(names))
    var program: Integration?

    @Flag(help: "Take the lines out again.")
    var remove = false

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: .json)
    var json = false

    private static var names: [String] { Integration.allCases.map(\.rawValue) }

    private struct Answer: Encodable {
        struct File: Encodable {
            var path: String
            var lines: [String]
            var present: Bool
        }

        var program: String
        var integrated: Bool
        var files: [File]
    }

    func validate() throws {
        guard program != nil || !remove && !yes else { throw ValidationError("name a program") }
    }

    func run() throws {
        guard let program else { return try list() }
        let changes = try program.changes(bin: Self.bin())
        let plans = try changes.map { try Plan($0, remove: remove) }
        let open = plans.filter { $0.text != nil }
        if !open.isEmpty {
            if !json { try StandardOutput.write(line: open.map { $0.shown(remove: remove) }.joined(separator: "\n\n")) }
            if !yes { try confirm() }
            for plan in open { try plan.write() }
        }
        if json {
            try StandardOutput.write(
                json: Answer(
                    program: program.rawValue, integrated: !remove,
                    files: plans.map {
                        .init(path: $0.change.path, lines: $0.change.edit.lines, present: !remove)
                    }))
        } else if open.isEmpty {
            let files = changes.map(\.path.escapedForTerminal).joined(separator: ", ")
            CommandNote.show(remove ? "\(files): there is nothing to take out" : "\(files): it is there already")
        }
        if !remove { for note in program.notes(changes) { CommandNote.show(note) } }
    }

    private func confirm() throws {
        guard isatty(0) == 1, let terminal = CommandTerminal() else {
            throw Failure(
                status: errSecInteractionNotAllowed, "there is nobody to confirm it, and nothing was changed: say --yes"
            )
        }
        let answer = try terminal.ask("Change \(remove ? "it back" : "the file")? [y/N] ")
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw Failure(status: errSecUserCanceled, "not confirmed: nothing was changed")
        }
    }

    private func list() throws {
        let bin = try Self.bin()
        let answers = Integration.allCases.map { program in
            let files = program.changes(bin: bin).map { change in
                Answer.File(path: change.path, lines: change.edit.lines, present: change.isPresent)
            }
            return (program, Answer(program: program.rawValue, integrated: files.allSatisfy(\.present), files: files))
        }
        if json { return try StandardOutput.write(json: answers.map(\.1)) }
        let rows = answers.map { program, answer in
            [program.rawValue, answer.integrated ? "yes" : "no", program.programs]
        }
        try StandardOutput.write(Table(rows, heads: ["program", "set up", "what it is"]))
    }

    /// The folder of this program, where its other names are.
    private static func bin() throws -> String {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/usr/bin/keychain"
        return URL(fileURLWithPath: path).deletingLastPathComponent().path
    }
}

extension Integration: ExpressibleByArgument {}

extension Integration.Change {
    fileprivate var isPresent: Bool {
        guard let text = try? text() else { return false }
        // A file with another setting throws.
        do { return try edit.added(to: text) == nil } catch { return false }
    }

    /// The file as it is; empty if there is none.
    func text() throws(Failure) -> String {
        guard access(path, F_OK) == 0 || errno != ENOENT else { return "" }
        guard let text = String(validating: try RunInput.read(path), as: UTF8.self) else {
            throw .input(path, "is not UTF-8: change it with an editor")
        }
        return text
    }
}

/// What is done to one file.
private struct Plan {
    let change: Integration.Change
    /// The file as it will be; nil if it stays as it is.
    let text: String?

    init(_ change: Integration.Change, remove: Bool) throws(Failure) {
        self.change = change
        let present = try change.text()
        do throws(ConfigurationEdit.Conflict) {
            text = remove ? try change.edit.removed(from: present) : try change.edit.added(to: present)
        } catch {
            let line = error.line.escapedForTerminal
            throw .input(
                change.path,
                remove
                    ? "is not as `keychain integrate` wrote it ('\(line)'): change it with an editor"
                    : "has '\(line)', which is in the way: change it with an editor, to\n"
                        + change.edit.lines.joined(separator: "\n"))
        }
    }

    func shown(remove: Bool) -> String {
        ([change.path.escapedForTerminal + (remove ? " loses" : " gets")] + change.edit.lines.map { "    " + $0 })
            .joined(separator: "\n")
    }

    func write() throws {
        guard let text else { return }
        // A link stays a link: many people keep such files in another folder.
        let path = realpath(change.path, nil).map { pointer in
            defer { free(pointer) }
            return String(cString: pointer)
        }
        if let path, text.isEmpty {
            guard unlink(path) == 0 else { throw Failure.system("\(path.escapedForTerminal) cannot be deleted", errno) }
            return
        }
        var status = stat()
        let mode = path.flatMap { stat($0, &status) == 0 ? status.st_mode & 0o777 : nil }
        let target = path ?? change.path
        do {
            let folder = URL(fileURLWithPath: target).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileReplacement.make(target, by: "\(target).\(getpid())", isReplacing: path != nil) { descriptor in
                try FileOutput.write(Data(text.utf8), to: descriptor)
                // Some browsers read it as another user.
                if let mode { fchmod(descriptor, mode) } else if case .file = change.edit { fchmod(descriptor, 0o644) }
            }
        } catch let error as FileReplacement.Failure {
            throw Failure.system("\(error.path.escapedForTerminal) cannot be written", error.errno)
        }
    }
}
