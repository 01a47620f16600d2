import Foundation
import Glibc
import TestSupport
import Testing

/// A process that works in a mount for a test (`Peer/files.py`).
final class MountPeer {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Peer/files.py"

    private let worker: Worker

    init() throws {
        worker = try Worker(["-B", Self.script], command: "python3")
    }

    private struct Request: Encodable {
        var folder: String
        var script: String
    }

    private struct Answer: Decodable {
        var text: String
        var problem: String?
    }

    /// Runs Python in a folder.
    ///
    /// - Returns: What it prints.
    @discardableResult
    func run(_ script: String, in folder: String = "/") throws -> String {
        let request = try JSONEncoder().encode(Request(folder: folder, script: script))
        worker.send(Array(request) + [0x0A])
        guard let line = worker.readLine() else {
            throw MountTestError("the peer is gone after: \(script)")
        }
        let answer = try JSONDecoder().decode(Answer.self, from: Data(line.utf8))
        if let problem = answer.problem { throw MountTestError("\(script)\n\(problem)") }
        return answer.text
    }

    /// The number that an expression comes to, or the negative number of its error.
    func attempt(_ expression: String) throws -> Int {
        guard let result = Int(try run("print(attempt(lambda: \(expression)), end='')")) else {
            throw MountTestError("no number: \(expression)")
        }
        return result
    }

    /// The error of opening a file, or 0.
    func openError(_ path: String, _ flags: Int32 = O_RDONLY) throws -> Int32 {
        Int32(-(try attempt("os.close(os.open(\(Self.quoted(path)), \(flags), 0o600))")))
    }

    func open(_ path: String, _ flags: Int32) throws -> OpenFile {
        let number = try attempt("os.open(\(Self.quoted(path)), \(flags), 0o600)")
        guard number >= 0 else { throw MountTestError("open \(path): \(String(cString: strerror(Int32(-number))))") }
        return OpenFile(peer: self, number: number)
    }

    /// What is in a file, by a copy outside the mount.
    func contents(_ path: String, by copy: String) throws -> [UInt8] {
        try run("import shutil; shutil.copyfile(\(Self.quoted(path)), \(Self.quoted(copy)))")
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: copy)))
    }

    /// As a literal of Python, which takes those of JSON for text.
    static func quoted(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self).replacing("\\/", with: "/")
    }

    func end() { worker.kill() }
}

/// A file that the peer has open.
struct OpenFile {
    fileprivate let peer: MountPeer
    fileprivate let number: Int

    /// The error of reading the first byte, or 0.
    func readError() throws -> Int32 { try readError(at: 0) }

    func readError(at place: Int) throws -> Int32 {
        Int32(-(try peer.attempt("len(os.pread(\(number), 1, \(place))) - 1")))
    }

    /// The error of writing a byte at the beginning, or 0.
    func writeError() throws -> Int32 { Int32(-(try peer.attempt("os.pwrite(\(number), b'x', 0) - 1"))) }

    /// - Returns: How many bytes were written, or the negative number of the error.
    func write(_ bytes: [UInt8]) throws -> Int {
        try peer.attempt("os.write(\(number), base64.b64decode('\(Data(bytes).base64EncodedString())'))")
    }

    func write(_ bytes: [UInt8], at place: Int) throws -> Int {
        try peer.attempt("os.pwrite(\(number), base64.b64decode('\(Data(bytes).base64EncodedString())'), \(place))")
    }

    /// Each of these returns the error, or 0.
    @discardableResult
    func close() throws -> Int32 { Int32(-(try peer.attempt("os.close(\(number))"))) }
    func closeCopy() throws -> Int32 { Int32(-(try peer.attempt("os.close(os.dup(\(number)))"))) }
    func synchronize() throws -> Int32 { Int32(-(try peer.attempt("os.fsync(\(number))"))) }

    /// Has the file synchronized while other things are done. The mount is at it when this returns.
    func beginSynchronizing() throws {
        try peer.run("begin_synchronizing(\(number))")
    }

    /// Whether what ``beginSynchronizing()`` began still waits.
    func isSynchronizing() throws -> Bool { try peer.run("print(synchronizing.is_alive(), end='')") == "True" }
}
