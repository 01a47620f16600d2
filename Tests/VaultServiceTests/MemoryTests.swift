import Access
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import VaultInterface
import VaultService

/// What is left of secrets in the daemon's memory once the vault is locked.
@Suite struct MemoryTests {
    private static let rule = """
        {"executable": "\(DaemonUnderTest.ownExecutable)", "groups": ["TEAM"], "rights": ["list", "unlock", "administer"]}
        """

    @Test func aLockedDaemonHoldsNoSecretOfItsClients() throws {
        try #require(geteuid() == 0, "nobody but root reads the daemon's memory")
        for _ in 0..<TestScale.count(1, soak: 20) {
            let daemon = try DaemonUnderTest(["--rate", "0"], rules: [Self.rule])
            let vault = try daemon.connect()
            let client = vault.granted
            // Made at run time, so that only those are found that went through the daemon.
            let mark = "canary-\(UUID().uuidString)"
            let passcode = try SecretBytes("passcode-" + mark)
            let cost = PasscodeOptions(cost: .explicit(memoryMiB: 8, passes: 1))
            try vault.setPasscode(passcode, options: cost, as: client)
            let count = TestScale.count(200, soak: 1_000)
            for number in 0..<count {
                _ = try vault.add(.password("mail", "\(number)", "value-\(number)-" + mark), as: client)
            }
            for number in 0..<count {
                #expect(try vault.items(.password("mail", "\(number)"), as: client).count == 1)
            }
            try vault.lock(after: .zero, as: client)
            let number = try #require(daemon.processNumber)
            let found = try occurrences(of: Array(mark.utf8), in: number)
            #expect(found.isEmpty, "\(found.prefix(5))")
            // The search itself finds what is there.
            #expect(try !occurrences(of: Array(daemon.home.utf8), in: number).isEmpty)
            try vault.unlock(with: passcode, as: client)
            #expect(try vault.items(.password("mail", "7"), as: client).count == 1)
        }
    }

    /// What surrounds each occurrence of `bytes` in the readable memory of a process.
    private func occurrences(of bytes: [UInt8], in process: pid_t) throws -> [String] {
        let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw POSIXError(.EACCES) }
        defer { close(memory) }
        var found: [String] = []
        for line in try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8).split(separator: "\n") {
            let fields = line.split(separator: " ")
            let range = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
            guard fields[1].hasPrefix("r"), range.count == 2, let start = Int(exactly: range[0]) else { continue }
            var contents = [UInt8](repeating: 0, count: Int(range[1] - range[0]))
            let count = pread(memory, &contents, contents.count, start)
            guard count > 0 else { continue }
            contents.withUnsafeBytes { all in
                let all = UnsafeRawBufferPointer(rebasing: all[..<count])
                for place in Self.places(of: bytes, in: all) {
                    let around = all[max(0, place - 24)..<min(count, place + bytes.count + 8)]
                    found.append("\(fields.last ?? "") \(String(decoding: around, as: UTF8.self))")
                }
            }
        }
        return found
    }

    private static func places(of bytes: [UInt8], in all: UnsafeRawBufferPointer) -> [Int] {
        guard let base = all.baseAddress, let first = bytes.first else { return [] }
        var places: [Int] = []
        var from = 0
        while all.count - from >= bytes.count, let hit = memchr(base + from, Int32(first), all.count - from) {
            let place = UnsafeRawPointer(hit) - base
            if all.count - place >= bytes.count, memcmp(hit, bytes, bytes.count) == 0 { places.append(place) }
            from = place + 1
        }
        return places
    }
}
