import Access
import Bytes
import FoundationEssentials
import Frames

/// Makes a circle, joins one, or changes who is in it. For clients that may administer the vault, while it is unlocked.
///
/// What a change makes for the others is handed on by the next ``CollectCircleObjects``.
///
/// - Throws: ``VaultError/invalidRequest(reason:)`` for what the circle does not permit.
package struct ChangeCircle: UnaryOperation {
    package enum Change: Sendable {
        /// Makes a circle whose first member is this vault.
        ///
        /// - Parameters:
        ///   - groups: The access groups whose synchronizable items travel.
        ///   - location: Where carriers meet; the vault keeps it for them.
        case create(name: String, groups: [String], location: String)
        /// Invites vaults. The reply has the secret of the invitation, 16 bytes.
        ///
        /// - Parameters:
        ///   - flags: 1 if a TPM has to attest the keys of each, 2 if a member admits them without a person.
        ///   - groups: The access groups whose items they get; if it is empty, who admits them decides, and without a
        ///     person they get all that this vault has.
        ///   - attesters: The names of the attestation keys of their TPMs, 34 bytes each; empty if a person compares.
        case invite(
            count: UInt16, seconds: Int64, rights: UInt8, flags: UInt8 = 0, groups: [String] = [],
            attesters: [Data] = [])
        /// Asks to be admitted, with the secret of an invitation.
        ///
        /// - Parameter groups: The access groups whose items may travel here, if a member offers them.
        case join(secret: SecretBytes, name: String, location: String, groups: [String])
        /// Admits a vault that asked.
        ///
        /// - Parameter groups: The access groups whose items it gets; nil for those of its invitation, or all that this
        ///   vault has.
        case approve(request: Data, groups: [String]?)
        /// Forgets a request.
        case refuse(request: Data)
        /// Removes a member. What it could read gets new keys.
        case remove(member: UInt32)
        /// Leaves the circle. The items stay here.
        case leave
        /// Forgets the circle here, and tells nobody: for a copy of a vault whose original stays a member.
        case forget
        /// Lets the synchronizable items of an access group travel: one that another member offers, or a new one.
        case addView(group: String)
        /// Ends an invitation before its deadline.
        case end(invitation: Data)
        /// Says where carriers meet from now on.
        case move(location: String)
        /// Makes the recovery key of the circle, or another one in its place. The reply has it as it is written.
        case makeRecoveryKey
        /// Has this vault tell the others anew how far it has got. A person uses it to see that the carriers work.
        case tell
        /// Comes back to a circle with its recovery key, as it was typed.
        case recover(key: SecretBytes, name: String, location: String)
    }

    package var change: Change

    package init(_ change: Change) { self.change = change }

    package typealias Reply = CircleChanged

    package static let number: UInt8 = 51
    package static let name = "change-circle"
    package static let traits: OperationTraits = [.usesClassKeys, .changesItems]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.circle.change(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) {
        switch change {
        case .create(let name, let groups, let location):
            buffer.write(code: 1, name)
            buffer.write(list: groups)
            buffer.write(location)
        case .invite(let count, let seconds, let rights, let flags, let groups, let attesters):
            buffer.write(code: 2, count, seconds, rights, flags)
            buffer.write(list: groups)
            buffer.write(list: attesters)
        case .join(let secret, let name, let location, let groups):
            buffer.write(code: 3, secret, name, location)
            buffer.write(list: groups)
        case .approve(let request, let groups):
            buffer.write(code: 4, request, groups != nil)
            buffer.write(list: groups ?? [])
        case .refuse(let request): buffer.write(code: 5, request)
        case .remove(let member): buffer.write(code: 6, member)
        case .leave: buffer.append(UInt8(7))
        case .tell: buffer.append(UInt8(13))
        case .forget: buffer.append(UInt8(20))
        case .addView(let group): buffer.write(code: 8, group)
        case .end(let invitation): buffer.write(code: 9, invitation)
        case .move(let location): buffer.write(code: 10, location)
        case .makeRecoveryKey: buffer.append(UInt8(11))
        case .recover(let key, let name, let location): buffer.write(code: 12, key, name, location)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        let code: UInt8 = try reader.read()
        switch code {
        case 1:
            change = .create(
                name: try reader.read(), groups: try reader.list(limit: WireLimits.accessGroups),
                location: try reader.read())
        case 2:
            change = .invite(
                count: try reader.read(), seconds: try reader.read(), rights: try reader.read(),
                flags: try reader.read(), groups: try reader.list(limit: WireLimits.accessGroups),
                attesters: try reader.list(limit: 1_000))
        case 3:
            change = .join(
                secret: try reader.read(), name: try reader.read(), location: try reader.read(),
                groups: try reader.list(limit: WireLimits.accessGroups))
        case 4:
            let (request, isLimited): (Data, Bool) = (try reader.read(), try reader.read())
            let groups: [String] = try reader.list(limit: WireLimits.accessGroups)
            change = .approve(request: request, groups: isLimited ? groups : nil)
        case 5: change = .refuse(request: try reader.read())
        case 6: change = .remove(member: try reader.read())
        case 7: change = .leave
        case 8: change = .addView(group: try reader.read())
        case 9: change = .end(invitation: try reader.read())
        case 10: change = .move(location: try reader.read())
        case 11: change = .makeRecoveryKey
        case 12: change = .recover(key: try reader.read(), name: try reader.read(), location: try reader.read())
        case 13: change = .tell
        case 20: change = .forget
        default: throw FrameError("unknown change of a circle")
        }
    }
}

/// What a change of a circle made.
package struct CircleChanged: WireValue, Equatable {
    /// The secret of an invitation, or a recovery key as it is written; nil for every other change.
    package var secret: SecretBytes?
    /// The number of the member that was admitted or removed; 0 for every other change.
    package var member: UInt32 = 0
    /// How many items a removed member could read.
    package var items = 0

    package init(secret: SecretBytes? = nil, member: UInt32 = 0, items: Int = 0) {
        (self.secret, self.member, self.items) = (secret, member, items)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(secret, member, items) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(secret: try reader.read(), member: try reader.read(), items: try reader.read())
    }
}
