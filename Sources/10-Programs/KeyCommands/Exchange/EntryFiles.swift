import Bytes
import CLibrary
import CommandKit
import ExchangeFormats
import FoundationEssentials
import KeychainModel
import ProtectedFiles
import SecureMemory
import StatusCodes
import VaultInterface

/// The attachments of entries: protected files in a folder, or parts of an item if they are small enough.
struct EntryFiles {
    /// Where they go; nil for the item `entry-details`.
    let folder: String?
    let fileClass: FileProtectionClass
    let session: VaultSession
    /// Whether nothing is written.
    let isTrial: Bool

    /// The field with the path of a file.
    private static let field = "file"

    /// Puts the attachments of all entries where they go.
    ///
    /// A file is written before the item that names it, so that none names a file that is not there.
    ///
    /// - Returns: What is not taken, and why.
    func place(_ entries: inout [ExchangeEntry]) throws -> [EntryImport.Outcome] {
        var problems: [EntryImport.Outcome] = []
        for index in entries.indices where !entries[index].attachments.isEmpty {
            if let folder {
                try write(&entries[index], below: folder)
            } else {
                problems += fit(&entries[index])
            }
        }
        return problems
    }

    // MARK: In the item

    /// Leaves out the attachments for which the item has no room.
    private func fit(_ entry: inout ExchangeEntry) -> [EntryImport.Outcome] {
        var problems: [EntryImport.Outcome] = []
        let attachments = entry.attachments
        entry.attachments = []
        var details = EntryDetails(entry)
        details.fields = entry.fields
        details.note = entry.note
        var room = ItemLimits.value - ((try? details.json.encoded().count) ?? 0) - 1_024
        for attachment in attachments {
            // Base64, the name, which JSON may write with six letters for one, and what is around both.
            let size = (attachment.contents.count + 2) / 3 * 4 + attachment.name.utf8.count * 6 + 64
            guard size <= room else {
                let reason =
                    "its file '\(attachment.name)' has \(attachment.contents.count) bytes, for which an item has no "
                    + "room: --files FOLDER writes it into a protected file"
                problems.append(
                    .init(title: entry.title, account: entry.username, result: .refused, reason: reason))
                continue
            }
            room -= size
            entry.attachments.append(attachment)
        }
        return problems
    }

    // MARK: In a folder

    private func write(_ entry: inout ExchangeEntry, below folder: String) throws {
        let place = "\(folder)/\(Self.safeName(entry.title, else: "untitled"))"
        if !isTrial { try Self.makeFolder(place) }
        for (number, attachment) in entry.attachments.enumerated() {
            let name = Self.safeName(attachment.name, else: "file")
            let path = isTrial ? "\(place)/\(name)" : try write(attachment.contents, place, name)
            let field = number == 0 ? Self.field : "\(Self.field) \(number + 1)"
            entry.fields.append(.init(field, path, isConcealed: false))
        }
        entry.attachments = []
    }

    /// Returns the path of the file with these contents: one that is there already, or else a new one, with a number if
    /// another file has the name.
    private func write(_ contents: Data, _ place: String, _ name: String) throws -> String {
        for number in 1...10_000 {
            let path = "\(place)/\(Self.numbered(name, number))"
            do throws(SealedFileError) {
                var information = stat()
                if lstat(path, &information) == 0 {
                    if try hasContents(path, information, contents) { return path }
                    continue
                }
                let writer = try SealedFileWriter(path, fileClass, keys: session)
                try writer.write(contents)
                try writer.finish(replacing: false)
                return path
            } catch {
                // Another program was faster.
                if case .alreadyExists = error { continue }
                throw Self.failure(error)
            }
        }
        throw Failure(
            status: errSecDuplicateItem,
            "\(place.escapedForTerminal) has too many files with one name: name another folder with --files")
    }

    private func hasContents(
        _ path: String, _ information: stat, _ contents: Data
    ) throws(SealedFileError) -> Bool {
        guard information.st_mode & S_IFMT == S_IFREG else { return false }
        let file: SealedFile
        do throws(SealedFileError) {
            file = try SealedFile(path, .reading, keys: session)
        } catch {
            // What is not ours, or cannot be read, stays as it is.
            if case .refused = error { throw error }
            return false
        }
        guard try file.length == UInt64(clamping: contents.count) else { return false }
        var found = Data(count: contents.count)
        defer { found.wipe() }
        var offset = 0
        while offset < contents.count {
            let count = try Self.read(file, &found, from: offset)
            guard count > 0 else { return false }
            offset += count
        }
        return isEqualInConstantTime(found, contents)
    }

    private static func read(
        _ file: SealedFile, _ room: inout Data, from offset: Int
    ) throws(SealedFileError) -> Int {
        let outcome = room.withUnsafeMutableBytes { bytes -> Result<Int, SealedFileError> in
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
            do throws(SealedFileError) {
                return .success(try file.read(into: rest, at: UInt64(clamping: offset)))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private static func makeFolder(_ path: String) throws {
        var information = stat()
        if mkdir(path, 0o700) == 0 { return }
        let code = errno
        guard code == EEXIST, lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else {
            let reason = code == EEXIST ? "something else has its name" : String(cString: strerror(code))
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "the folder \(path.escapedForTerminal) cannot be made (\(reason)): name a folder with --files that you "
                    + "can write to")
        }
    }

    private static func failure(_ error: SealedFileError) -> Failure {
        if case .refused(let refusal) = error { return Failure(refusal) }
        return Failure(status: errSecIO, exitCode: ExitStatus.other, error.description.escapedForTerminal)
    }

    // MARK: Names

    /// The longest name, in bytes. A file system has room for 255, and a number may follow.
    private static let longestName = 200

    /// Returns a name that stays in its folder and shows nothing else than it is, whatever the archive says.
    static func safeName(_ text: String, else fallback: String) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            let isSafe: Bool =
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
                default: scalar != "/" && scalar != "\\"
                }
            name.unicodeScalars.append(isSafe ? scalar : "_")
        }
        name = name.trimmed
        // Such a name would be hidden, or another folder.
        if name.hasPrefix(".") { name = "_" + name.dropFirst() }
        guard name.utf8.count > longestName else { return name.isEmpty ? fallback : name }
        // The end tells the kind of a file.
        let ending = name.lastIndex(of: ".").map { String(name[$0...]) } ?? ""
        let kept = ending.utf8.count <= 16 ? ending : ""
        var short = ""
        for character in name {
            guard short.utf8.count + String(character).utf8.count + kept.utf8.count <= longestName else { break }
            short.append(character)
        }
        return short.isEmpty ? fallback : short + kept
    }

    /// `scan.png` becomes `scan 2.png`.
    private static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 1 else { return name }
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(name) \(number)" }
        return "\(name[..<dot]) \(number)\(name[dot...])"
    }
}
