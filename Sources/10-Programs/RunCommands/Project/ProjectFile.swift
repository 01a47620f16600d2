import Access
import Broker
import Bytes
import CLibrary
import CommandKit
import Crypto
import FoundationEssentials
import StatusCodes
import SystemLibraries

/// The rules of a project as they are in its folder. The author of the project wrote them, so they count only after the
/// owner of the vault has approved their bytes.
///
/// The file is read once. What is approved, what is compared, and what is used are the same bytes.
struct ProjectFile {
    /// Without symbolic links, apart from the file's own name.
    let path: String
    let bytes: Data

    /// SHA-256 in hexadecimal digits.
    var digest: String { String(decoding: Data(SHA256.hash(data: bytes)).hexadecimalDigits(), as: UTF8.self) }

    /// - Parameter place: The folder of the project, or the file itself.
    init(at place: String) throws(Failure) {
        let (folder, name) = try Self.place(place)
        path = Self.path(folder, name)
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw .file("open", folder, errno) }
        defer { close(directory) }
        try Self.requireOwn(directory, folder)
        // Waits for nobody, and follows no link of the project.
        let file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else {
            switch errno {
            case ENOENT:
                throw .input(path, "is not there: write the rules of the project into it, or name its folder")
            case ELOOP: throw .input(path, "is a symbolic link: rules are in a file of the project itself")
            default: throw .file("open", path, errno)
            }
        }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw .input(path, "is not a regular file: rules are in a file of the project itself")
        }
        try Self.requireOwn(file, path)
        do throws(DescriptorReader.Failure) {
            bytes = try DescriptorReader.readAll(file, limit: FileReading.longest)
        } catch {
            switch error {
            case .tooLong: throw .input(path, "has more than \(FileReading.longest >> 10) KiB, and rules are short")
            case .system(let code): throw .file("read", path, code)
            }
        }
    }

    /// Returns the path that a file of rules at this place has.
    static func path(at place: String) throws(Failure) -> String {
        let (folder, name) = try self.place(place)
        return path(folder, name)
    }

    private static func path(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    private static func place(_ place: String) throws(Failure) -> (folder: String, name: String) {
        var info = stat()
        if stat(place, &info) == 0, info.st_mode & S_IFMT == S_IFDIR { return (try real(place), RulesFile.name) }
        let parts = place.split(separator: "/", omittingEmptySubsequences: false)
        guard let name = parts.last.map(String.init), !name.isEmpty, name != ".", name != ".." else {
            throw .input(place, "is not there: name the folder of a project")
        }
        let folder = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/")
        return (try real(folder.isEmpty ? "/" : folder), name)
    }

    private static func real(_ path: String) throws(Failure) -> String {
        guard let found = realpath(path, nil) else {
            throw .input(path, "is not there (\(String(cString: strerror(errno)))): name the folder of a project")
        }
        defer { free(found) }
        guard let text = String(validatingCString: found) else {
            throw .input(path, "has a name that is not UTF-8: rules of a project need one that is")
        }
        return text
    }

    // MARK: Other users

    /// Fails if another user may write there.
    private static func requireOwn(_ descriptor: Int32, _ path: String) throws(Failure) {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw .file("look at", path, errno) }
        guard info.st_uid == geteuid() || info.st_uid == 0 else {
            throw .input(path, "belongs to another user, whose rules are not used: take a copy of your own")
        }
        guard info.st_mode & 0o002 == 0, info.st_mode & 0o020 == 0 || isOfNobodyElse(info.st_gid) else {
            throw .input(
                path,
                "may be written by other users, whose rules are not used: run `chmod go-w "
                    + "\(ShellWord.quoted(path) ?? "FILE")`")
        }
    }

    /// Whether this is the group that a user has alone, which many systems make.
    private static func isOfNobodyElse(_ group: gid_t) -> Bool {
        guard group == getegid(), let entry = getgrgid(group), let own = getpwuid(geteuid()) else { return false }
        var member = entry.pointee.gr_mem
        while let name = member?.pointee {
            guard strcmp(name, own.pointee.pw_name) == 0 else { return false }
            member = member?.advanced(by: 1)
        }
        return true
    }

    // MARK: Rules

    /// Returns what the file says.
    ///
    /// Another process parses it, which has no vault: its author may be no friend.
    func rules() throws(Failure) -> RulesFile {
        let program = try BrokerProcess.program()
        let outcome = ToolProcess.outcome(
            of: [program, "--settings"], input: bytes, limit: 4 << 20, patience: .seconds(60))
        guard let outcome, outcome.status == 0,
            let reading = try? JSONDecoder().decode(FileReading.self, from: outcome.output)
        else {
            // The parser ends at some bytes that are no TOML, and another version answers otherwise.
            throw .input(
                path,
                "cannot be read as TOML by \(program.escapedForTerminal): correct it, or install the same "
                    + "version of both programs")
        }
        switch reading {
        case .problem(let line, let reason):
            throw Failure(
                status: errSecParam, exitCode: ExitStatus.other,
                "\(path.escapedForTerminal):\(line): \(reason.escapedForTerminal)")
        case .table(let members):
            do throws(BrokerRule.Problem) {
                return try RulesFile(members)
            } catch {
                throw .input(path, error.description.escapedForTerminal)
            }
        }
    }
}
