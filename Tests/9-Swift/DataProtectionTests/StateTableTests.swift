import DataProtection
import Foundation
import KeychainModel
import TestSupport
import Testing

/// What can be done with files of each class in each state of a daemon's vault: every cell.
@Suite(.timeLimit(.minutes(60))) struct StateTableTests {
    private static let classes: [(type: FileProtectionType, inVault: FileProtectionClass)] = [
        (.complete, .complete), (.completeUnlessOpen, .completeUnlessOpen),
        (.completeUntilFirstUserAuthentication, .completeUntilFirstUserAuthentication), (.none, .none),
    ]

    private let world: DaemonWorld
    private let differences = Collected<String>()

    init() throws { world = try DaemonWorld() }

    private func file(_ name: String) -> ProtectedFile { ProtectedFile(path: world.folder.path(of: name)) }

    private func enter(_ state: FileKeyState) throws {
        switch state {
        case .noPasscode, .unlocked: break
        case .lockedAfterUnlock: try world.lock()
        case .beforeFirstUnlock: try world.restart()
        }
    }

    /// Notes what does not go as it should.
    private func check(_ what: String, isPossible: Bool, _ body: () throws -> Void) {
        do {
            try body()
            if !isPossible { differences.append("\(what) works") }
        } catch {
            if isPossible || !(ProtectedFileError.Code.locked ~= error) { differences.append("\(what): \(error)") }
        }
    }

    @Test(arguments: [FileKeyState.unlocked, .lockedAfterUnlock, .beforeFirstUnlock])
    func withoutAHandle(_ state: FileKeyState) throws {
        try world.run {
            for (type, _) in Self.classes {
                try file("\(type.rawValue)").setContents("data", type)
                for (other, _) in Self.classes {
                    try file("\(type.rawValue) \(other.rawValue)").setContents("data", type)
                }
            }
            try enter(state)
            for (type, inVault) in Self.classes {
                let (opens, makes) = (state.opens.contains(inVault), state.makes.contains(inVault))
                let present = file(type.rawValue)
                #expect(try present.info()?.size == 4)
                #expect(try present.protection == type)
                check("open \(type)", isPossible: opens) { _ = try ProtectedFileHandle(forReadingFrom: present.url) }
                check("read \(type)", isPossible: opens) { _ = try present.data() }
                check("write \(type)", isPossible: opens) {
                    try ProtectedFileHandle(forWritingTo: present.url).write(contentsOf: Data("D".utf8))
                }
                check("append \(type)", isPossible: opens) {
                    try ProtectedFileHandle(forUpdating: present.url).append(contentsOf: Data("+".utf8))
                }
                check("create \(type)", isPossible: makes) {
                    let handle = try ProtectedFileHandle(creating: file("new \(type.rawValue)").url, protection: type)
                    try handle.append(contentsOf: Data("made".utf8))
                    guard try handle.read(upToCount: 9, at: 0) == Data("made".utf8) else { throw POSIXError(.EIO) }
                }
                check("replace \(type)", isPossible: makes) {
                    try file("replaced \(type.rawValue)").setContents("made", type)
                }
                for (other, otherInVault) in Self.classes {
                    let isPossible = opens && state.makes.contains(otherInVault) || type == other
                    check("\(type) to \(other)", isPossible: isPossible) {
                        try file("\(type.rawValue) \(other.rawValue)").setProtection(other)
                    }
                }
                check("rename \(type)", isPossible: true) {
                    try FileManager.default.moveItem(at: present.url, to: file("renamed \(type.rawValue)").url)
                }
            }
            #expect(differences.all == [])
            // Nothing was lost or half done.
            if state != .unlocked { try world.unlock() }
            for (type, inVault) in Self.classes {
                let whole = state.opens.contains(inVault) ? "Data+" : "data"
                #expect(try file("renamed \(type.rawValue)").data() == Data(whole.utf8))
                for name in ["new", "replaced"] where state.makes.contains(inVault) {
                    #expect(try file("\(name) \(type.rawValue)").data() == Data("made".utf8))
                }
                for (other, _) in Self.classes {
                    #expect(try file("\(type.rawValue) \(other.rawValue)").data() == Data("data".utf8))
                }
            }
        }
    }

    /// Opened while the vault was unlocked.
    @Test(arguments: [FileKeyState.unlocked, .lockedAfterUnlock, .beforeFirstUnlock])
    func withAnOpenHandle(_ state: FileKeyState) throws {
        try world.run {
            var handles: [ProtectedFileHandle] = []
            for (type, _) in Self.classes {
                try file(type.rawValue).setContents("data", type)
                handles.append(try ProtectedFileHandle(forUpdating: file(type.rawValue).url))
            }
            try enter(state)
            // What a daemon tells arrives a moment later.
            if state != .unlocked {
                try eventually("the handle closes") { (try? handles[0].length) == nil }
            }
            for ((type, inVault), handle) in zip(Self.classes, handles) {
                let isOpen = type != .complete || state == .unlocked
                check("read \(type)", isPossible: isOpen) { _ = try handle.read(upToCount: 4, at: 0) }
                check("write \(type)", isPossible: isOpen) { try handle.write(contentsOf: Data("D".utf8), at: 0) }
                check("append \(type)", isPossible: isOpen) { try handle.append(contentsOf: Data("+".utf8)) }
                check("truncate \(type)", isPossible: isOpen) { try handle.truncate(atOffset: 4) }
                check("synchronize \(type)", isPossible: isOpen) { try handle.synchronize() }
                for (other, otherInVault) in Self.classes where other != type {
                    // The key is opened and wrapped anew, which an open handle makes no difference for.
                    let isPossible = isOpen && state.opens.contains(inVault) && state.makes.contains(otherInVault)
                    check("\(type) to \(other)", isPossible: isPossible) {
                        try handle.setProtection(other)
                        // Back again, where that can be: a class that can be made and not opened is kept.
                        if state.opens.contains(otherInVault) { try handle.setProtection(type) }
                    }
                    guard try handle.file.protection == type else { break }
                }
            }
            #expect(differences.all == [])
            if state != .unlocked { try world.unlock() }
            for ((type, _), handle) in zip(Self.classes, handles) {
                let whole = type == .complete && state != .unlocked ? "data" : "Data"
                #expect(try handle.file.data() == Data(whole.utf8))
            }
        }
    }
}

extension ProtectedFile {
    fileprivate func setContents(_ text: String, _ type: FileProtectionType) throws {
        let writer = try ProtectedFileWriter(self, protection: type)
        try writer.write(contentsOf: Data(text.utf8))
        try writer.finish()
    }
}
