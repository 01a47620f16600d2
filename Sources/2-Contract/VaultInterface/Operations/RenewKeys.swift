import Access
import Bytes
import Frames

/// Gives the vault new class keys, and seals every item anew under them, while others read and write. A former keybag,
/// and a former recovery key, then open nothing of the vault. The vault is unlocked afterwards, unless somebody locked
/// it meanwhile.
///
/// A failure, or a kill at any moment, leaves either all of the former keys in force or all of the new ones.
///
/// - Throws: ``VaultError/busy`` while another program renews the keys, or if one changed the passcode meanwhile;
///   ``VaultError/corruptItem(row:reason:)`` if an item does not open, because renewing would lose it.
package struct RenewKeys: VaultOperation {
    /// The present passcode; nil if none is set.
    package var passcode: SecretBytes?
    /// The new passcode; nil to keep the present one.
    package var next: SecretBytes?
    /// Cost and tries of the new passcode.
    package var options: PasscodeOptions

    package init(passcode: SecretBytes?, next: SecretBytes? = nil, options: PasscodeOptions = PasscodeOptions()) {
        self.passcode = passcode
        self.next = next
        self.options = options
    }

    package typealias Part = RenewalProgress
    package typealias Reply = RenewalSummary

    package static let number: UInt8 = 40
    package static let name = "renew-keys"
    package static let traits: OperationTraits = []

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Part>) throws(VaultError) -> Reply {
        try engine.renewal.renew(self, as: client, send: send)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(passcode, next, options) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        passcode = try reader.read()
        next = try reader.read()
        options = try reader.read()
    }
}

/// How far a renewal of the keys has come.
package struct RenewalProgress: WireValue, Equatable {
    /// Rows compared so far: items and former versions.
    package var done: Int
    /// The estimated number of rows.
    package var all: Int

    package init(done: Int, all: Int) {
        self.done = done
        self.all = all
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(done, all) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(done: try reader.read(), all: try reader.read())
    }
}

/// What a renewal of the keys did.
package struct RenewalSummary: WireValue, Equatable {
    /// Items that are sealed under the new keys.
    package var items: Int
    /// Former versions and deleted items sealed under the new keys.
    package var formerVersions: Int
    /// Whether the vault had a recovery key, which opens nothing any more.
    package var hadRecoveryKey: Bool

    package init(items: Int, formerVersions: Int, hadRecoveryKey: Bool) {
        self.items = items
        self.formerVersions = formerVersions
        self.hadRecoveryKey = hadRecoveryKey
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(items, formerVersions, hadRecoveryKey) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(items: try reader.read(), formerVersions: try reader.read(), hadRecoveryKey: try reader.read())
    }
}
