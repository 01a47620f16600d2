import Bytes
import CLibrary
import DataProtectionEssentials
import Foundation
import ProtectedFiles
import VaultInterface

/// Copies files and folders, protected ones and plain ones, as `FileManager` copies plain ones.
struct FileCopy {
    let manager: ProtectedFileManager
    /// What copies everything else.
    let plain: (_ source: String, _ target: String) throws -> Void

    func copy(_ source: String, to target: String) throws {
        var information = stat()
        guard lstat(source, &information) == 0 else { return try plain(source, target) }
        switch information.st_mode & S_IFMT {
        case S_IFREG: try copyFile(source, to: target)
        case S_IFDIR: try copyFolder(source, to: target, mode: information.st_mode)
        default: try plain(source, target)
        }
    }

    private func copyFile(_ source: String, to target: String) throws {
        let isProtected = ProtectedFileManager.beginsAsProtected(source)
        // Encrypted already, and for other readers than those of the folder's class.
        guard (try? PasswordFileHeader(source)) == nil else { return try plain(source, target) }
        let folder = ProtectedFile.folder(of: target)
        let record = try ProtectedFileManager.translating(reading: false) {
            try ProtectedFolder.storedRecord(of: folder)
        }
        guard isProtected || record?.defaultClass != nil else { return try plain(source, target) }
        try attempt(source, target) {
            try ProtectedFileManager.translating(reading: isProtected) {
                let session = try VaultSession.currentForFiles()
                try ProtectedFileError.translating(source) {
                    try FileConversion(keys: session).copy(
                        source, to: target, as: isProtected ? nil : record?.defaultClass)
                }
            }
        }
    }

    private func copyFolder(_ source: String, to target: String, mode: mode_t) throws {
        try attempt(source, target) {
            // Closed to others, and writable, until everything is in it.
            try manager.createDirectory(
                atPath: target, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let record = FolderRecord.path(in: source)
            var information = stat()
            if lstat(record, &information) == 0 {
                // As it is: names that are encrypted hang on the folder's identifier.
                unlink(FolderRecord.path(in: target))
                try plain(record, FolderRecord.path(in: target))
            }
            for name in try manager.contentsOfDirectory(atPath: source) {
                try copy(source + "/" + name, to: target + "/" + name)
            }
            var attributes: [FileAttributeKey: Any] = [.posixPermissions: Int(mode & 0o7777)]
            attributes[.modificationDate] = try manager.attributesOfItem(atPath: source)[.modificationDate]
            try manager.setAttributes(attributes, ofItemAtPath: target)
        }
    }

    /// Does what is asked of the manager's delegate about everything that is copied.
    private func attempt(_ source: String, _ target: String, _ body: () throws -> Void) throws {
        let (from, to) = (URL(filePath: source), URL(filePath: target))
        if let delegate = manager.delegate, !delegate.fileManager(manager, shouldCopyItemAt: from, to: to) { return }
        do {
            try body()
        } catch {
            guard
                manager.delegate?.fileManager(
                    manager, shouldProceedAfterError: error, copyingItemAt: from, to: to) == true
            else { throw error }
        }
    }
}

/// A file, plain or protected, that is read to be compared.
struct ComparedFile {
    private let sealed: SealedFile?
    private let handle: FileHandle?
    let size: UInt64

    init(_ path: String) throws {
        if ProtectedFileManager.beginsAsProtected(path) {
            let file = try SealedFile(path, .reading, keys: VaultSession.currentForFiles())
            (sealed, handle, size) = (file, nil, try file.length)
        } else {
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            (sealed, handle, size) = (nil, file, try file.seekToEnd())
        }
    }

    func isEqual(to other: ComparedFile) throws -> Bool {
        guard size == other.size else { return false }
        var offset: UInt64 = 0
        while offset < size {
            let (mine, others) = (try piece(offset), try other.piece(offset))
            guard mine == others, !mine.isEmpty else { return false }
            offset += UInt64(clamping: mine.count)
        }
        return true
    }

    private func piece(_ offset: UInt64) throws -> Data {
        let count = 1 << 18
        if let sealed {
            return try Data.wipedWhenFreed(upTo: count, orOutOfMemory: SealedFileError.memoryUnavailable) {
                try sealed.read(into: $0, at: offset)
            }
        }
        try handle?.seek(toOffset: offset)
        return try handle?.read(upToCount: count) ?? Data()
    }
}
