import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing

@testable import ProtectedFiles

@Suite("Files that somebody has open for writing")
struct WriterTests {
    @Test("are neither protected nor made plain, and are afterwards")
    func refused() throws {
        let test = try FileUnderTest()
        let data = Data("before".utf8)
        try test.put(data)
        let conversion = FileConversion(keys: test.keys)

        let writer = open(test.path, O_WRONLY | O_CLOEXEC)
        #expect(throws: SealedFileError.openForWriting(path: test.path)) {
            try conversion.protect(test.path, .complete)
        }
        #expect(try test.bytes == data)
        close(writer)
        try conversion.protect(test.path, .complete)
        #expect(try test.contents() == data)

        let sealed = try test.open(.writing)
        #expect(throws: SealedFileError.openForWriting(path: test.path)) { try conversion.unprotect(test.path) }
        try sealed.append(Data(" and after".utf8))
        sealed.close()
        try conversion.unprotect(test.path)
        #expect(try test.bytes == Data("before and after".utf8))
    }

    /// A database that is open, or a file with two names, below a folder that is made plain is no failure.
    @Test("are plain already if they are plain, also with several names")
    func plain() throws {
        let test = try FileUnderTest()
        try test.put(Data("plain".utf8))
        #expect(link(test.path, test.path + "-2") == 0)
        let writer = open(test.path, O_WRONLY | O_CLOEXEC)
        defer { close(writer) }
        #expect(throws: SealedFileError.notProtected(path: test.path)) {
            try FileConversion(keys: test.keys).unprotect(test.path)
        }
    }

    @Test("through a mapping alone, too")
    func mapped() throws {
        let test = try FileUnderTest()
        try test.put(Data("mapped".utf8))
        let descriptor = open(test.path, O_RDWR | O_CLOEXEC)
        let mapping = mmap(nil, 6, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        close(descriptor)
        defer { munmap(mapping, 6) }
        #expect(throws: SealedFileError.openForWriting(path: test.path)) {
            try FileConversion(keys: test.keys).protect(test.path, .none)
        }
    }

    @Test("a reader is in nobody's way, and the process outlives whoever opens the file meanwhile")
    func racing() throws {
        let test = try FileUnderTest()
        try test.put(Data("read".utf8))
        let reader = open(test.path, O_RDONLY | O_CLOEXEC)
        defer { close(reader) }
        let path = test.path
        let opener = Thread {
            for _ in 0..<2000 {
                let descriptor = open(path, O_WRONLY | O_CLOEXEC)
                if descriptor >= 0 { close(descriptor) }
            }
        }
        opener.start()
        let plain = try PlainFile(path)
        while !opener.isFinished { try? plain.checkWriters() }
        try plain.checkWriters()
    }
}
