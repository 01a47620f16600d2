import CLibrary
// Protected files are there: one module for those who use both.
@_exported import DataProtectionEssentials
import Foundation
import KeychainModel
import ProtectedFiles
import VaultInterface

/// A `FileManager` that does what `.protectionKey` says; Foundation's own ignores it on Linux.
///
/// ```swift
/// let manager = ProtectedFileManager.default
/// try manager.setAttributes([.protectionKey: FileProtectionType.complete], ofItemAtPath: path)
/// try manager.attributesOfItem(atPath: path)[.protectionKey] as? FileProtectionType  // complete
/// ```
///
/// Code written for iOS runs with it in the place of `FileManager.default`. For plain files it is a `FileManager`, with
/// one difference: in a folder with a default class (``ProtectedFolder``), ``createFile(atPath:contents:attributes:)``
/// and copying make protected files. `Data.write(to:options:)`, `FileHandle` and the like know nothing of it: see
/// ``ProtectedFile`` and ``ProtectedFileHandle``.
///
/// What fails throws a `CocoaError`, whose underlying error is a ``ProtectedFileError``: a closed class, for instance,
/// is `fileReadNoPermission` or `fileWriteNoPermission`, as on iOS.
// Safe to share between threads: `FileManager` is Sendable, this class adds no stored property to it, and an unchecked
// conformance that is inherited has to be stated again. A subclass with state of its own answers for that itself.
open class ProtectedFileManager: FileManager, @unchecked Sendable {
    private static let shared = ProtectedFileManager()

    /// The one that is shared by the whole process.
    override open class var `default`: FileManager { shared }

    // MARK: Attributes

    /// Sets attributes of a file or folder.
    ///
    /// With `.protectionKey`, a `FileProtectionType`, a plain file is protected in its place and a protected one moved
    /// to that class. For a folder it is the class that its new files and folders get; what is there stays as it is.
    override open func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        var others = attributes
        if let value = others.removeValue(forKey: .protectionKey) {
            try Self.translating(reading: false) {
                let type = try FileProtectionType(attribute: value, for: path)
                if ProtectedFolder.isFolder(path) {
                    try ProtectedFolder(path: path).setDefaultProtection(type)
                } else {
                    try ProtectedFile(path: path).setProtection(type)
                }
            }
            guard !others.isEmpty else { return }
        }
        try super.setAttributes(others, ofItemAtPath: path)
    }

    /// The attributes of a file or folder. A symbolic link is not followed.
    ///
    /// For a protected file, `.protectionKey` is its class and `.size` the bytes of its data, whether or not the class
    /// is open; for a folder with a default class, `.protectionKey` is that. Plain files and other folders have no
    /// `.protectionKey`.
    override open func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        var attributes = try super.attributesOfItem(atPath: path)
        switch attributes[.type] as? FileAttributeType {
        case FileAttributeType.typeRegular?:
            guard let info = Self.protectedInfo(path) else { break }
            attributes[.protectionKey] = FileProtectionType(info.fileClass)
            attributes[.size] = NSNumber(value: info.length)
        case FileAttributeType.typeDirectory?:
            let folder = ProtectedFolder(path: path)
            let type = try Self.translating(reading: true) {
                try folder.defaultProtection
            }
            if let type { attributes[.protectionKey] = type }
        default: break
        }
        return attributes
    }

    // MARK: Contents

    /// The data of a file, plain or protected; nil if they cannot be read, as while the class is closed.
    override open func contents(atPath path: String) -> Data? {
        guard Self.beginsAsProtected(path) else { return super.contents(atPath: path) }
        return try? ProtectedFile(path: path).data()
    }

    /// Makes a file, or puts `data` in the place of all that a file has.
    ///
    /// It is protected if `attributes` has a `.protectionKey`, if it replaces a protected file, or if its folder has a
    /// default class, in this order; otherwise it is a plain file. A protected one is replaced in one step, and is for
    /// its owner alone (0600) if it is new and `attributes` has no `.posixPermissions`.
    ///
    /// - Returns: Whether it was made.
    override open func createFile(
        atPath path: String, contents data: Data?, attributes attr: [FileAttributeKey: Any]? = nil
    ) -> Bool {
        var attributes = attr ?? [:]
        let value = attributes.removeValue(forKey: .protectionKey)
        do {
            let type = try value.map { try FileProtectionType(attribute: $0, for: path) }
            guard let fileClass = try Self.classOfNewFile(path, type) else {
                return super.createFile(atPath: path, contents: data, attributes: attr)
            }
            let writer = try ProtectedFileWriter(
                ProtectedFile(path: path), protection: FileProtectionType(fileClass),
                permissions: (attributes[.posixPermissions] as? NSNumber)?.intValue)
            try writer.write(contentsOf: data ?? Data())
            try writer.finish()
            attributes[.posixPermissions] = nil
            if !attributes.isEmpty { try super.setAttributes(attributes, ofItemAtPath: path) }
            return true
        } catch {
            return false
        }
    }

    /// Whether two files or folders have the same contents; of protected files, the data are compared.
    override open func contentsEqual(atPath path1: String, andPath path2: String) -> Bool {
        guard Self.beginsAsProtected(path1) || Self.beginsAsProtected(path2) else {
            return super.contentsEqual(atPath: path1, andPath: path2)
        }
        guard let first = try? ComparedFile(path1), let second = try? ComparedFile(path2) else { return false }
        return (try? first.isEqual(to: second)) ?? false
    }

    // MARK: Folders

    /// Makes a folder.
    ///
    /// With `.protectionKey`, new files in it, and in the folders that are made on the way, get that class; without,
    /// they get that of the folder above, if it has one.
    override open func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        var others = attributes ?? [:]
        let value = others.removeValue(forKey: .protectionKey)
        let missing = Self.missingFolders(path, all: createIntermediates)
        guard let first = missing.first else {
            return try super.createDirectory(
                atPath: path, withIntermediateDirectories: createIntermediates, attributes: others)
        }
        let record = try Self.translating(reading: false) { () -> FolderRecord? in
            var type: FileProtectionType?
            if let value { type = try FileProtectionType(attribute: value, for: path) }
            // A vault is needed only where something is protected.
            let above = try ProtectedFolder.storedRecord(of: ProtectedFile.folder(of: first))
            guard type != nil || above != nil else { return nil }
            return try ProtectedFolder.inheritedRecord(forNew: first, type, try .currentForFiles())
        }
        try super.createDirectory(
            atPath: path, withIntermediateDirectories: createIntermediates,
            attributes: others.isEmpty ? nil : others)
        guard let record else { return }
        do {
            try Self.translating(reading: false) {
                let session = try VaultSession.currentForFiles()
                for folder in missing {
                    try ProtectedFileError.translating(folder) {
                        try record.inherited().write(in: folder, keys: session)
                    }
                }
            }
        } catch {
            // Without their class they must not stay: files made in them would be plain.
            for folder in missing.reversed() {
                unlink(FolderRecord.path(in: folder))
                rmdir(folder)
            }
            throw error
        }
    }

    /// See ``createDirectory(atPath:withIntermediateDirectories:attributes:)``.
    override open func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        guard url.isFileURL else {
            return try super.createDirectory(
                at: url, withIntermediateDirectories: createIntermediates, attributes: attributes)
        }
        try createDirectory(
            atPath: url.path(percentEncoded: false), withIntermediateDirectories: createIntermediates,
            attributes: attributes)
    }

    /// What is in a folder, without the record of its default class.
    override open func contentsOfDirectory(atPath path: String) throws -> [String] {
        try super.contentsOfDirectory(atPath: path).filter { $0 != FolderRecord.fileName }
    }

    /// What is below a folder, without records of default classes.
    override open func subpathsOfDirectory(atPath path: String) throws -> [String] {
        try super.subpathsOfDirectory(atPath: path).filter {
            $0 != FolderRecord.fileName && !$0.hasSuffix("/" + FolderRecord.fileName)
        }
    }

    // MARK: Copying

    /// Copies a file, or a folder with all that is in it.
    ///
    /// A protected file is copied under a key of its own and keeps its class, which has to be open; a plain file
    /// becomes protected where the folder it gets to has a default class. Moving and linking need nothing of the kind:
    /// the file itself, and with it its class, gets the other name. `replaceItemAt` cannot be relied on: Foundation's
    /// loses files on Linux, and no subclass can mend it; use ``ProtectedFile/replace(with:)``.
    override open func copyItem(atPath srcPath: String, toPath dstPath: String) throws {
        try FileCopy(manager: self) { try super.copyItem(atPath: $0, toPath: $1) }
            .copy(srcPath, to: dstPath)
    }

    /// See ``copyItem(atPath:toPath:)``.
    override open func copyItem(at srcURL: URL, to dstURL: URL) throws {
        guard srcURL.isFileURL, dstURL.isFileURL else { return try super.copyItem(at: srcURL, to: dstURL) }
        try copyItem(atPath: srcURL.path(percentEncoded: false), toPath: dstURL.path(percentEncoded: false))
    }
}

// What it finds out about files.
extension ProtectedFileManager {
    static func protectedInfo(_ path: String) -> SealedFileInfo? { try? SealedFileInfo(path) }

    /// Whether a file is protected, be it damaged or of a newer version.
    static func beginsAsProtected(_ path: String) -> Bool {
        do {
            _ = try SealedFileInfo(path)
            return true
        } catch {
            switch error {
            case .unsupportedVersion, .truncated, .damaged: return true
            default: return false
            }
        }
    }

    /// Nil for a plain file.
    static func classOfNewFile(
        _ path: String, _ type: FileProtectionType?
    ) throws -> FileProtectionClass? {
        let file = try ProtectedFile(path: path).resolvedPath()
        let record = try ProtectedFolder.storedRecord(of: ProtectedFile.folder(of: file))
        guard type != nil || record != nil || beginsAsProtected(file) else { return nil }
        return try NewFileClass.find(file, type, try .currentForFiles())
    }

    /// The folders that are about to be made, from above.
    private static func missingFolders(_ path: String, all: Bool) -> [String] {
        var missing: [String] = []
        var next = path
        while next.count > 1, next.hasSuffix("/") { next.removeLast() }
        var information = stat()
        while lstat(next, &information) != 0, errno == ENOENT {
            missing.insert(next, at: 0)
            let folder = ProtectedFile.folder(of: next)
            guard all, folder != next else { break }
            next = folder
        }
        return missing
    }

    static func translating<Value>(
        reading: Bool, _ body: () throws -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch {
            throw ProtectedFileError(error).cocoaError(reading: reading)
        }
    }
}

extension FileProtectionType {
    /// The value of `.protectionKey`, which code written for Apple's systems also gives as text.
    init(attribute value: Any, for path: String) throws {
        switch value {
        case let type as FileProtectionType: self = type
        case let name as String: self = FileProtectionType(rawValue: name)
        default:
            throw ProtectedFileError(
                .invalidRequest, path: path, message: "the attribute protectionKey of \(path) is no FileProtectionType")
        }
    }
}
