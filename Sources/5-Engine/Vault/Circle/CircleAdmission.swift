import Access
import Bytes
import Circle
import Crypto
import FoundationEssentials
import Items
import KeychainModel
import VaultInterface

/// Requests to join, and what lets vaults in.
struct CircleAdmission {
    let making: CircleMaking

    private var session: CircleSession { making.session }
    private var tables: CircleWriter { making.tables }

    init(_ making: CircleMaking) { self.making = making }

    /// The most requests that wait.
    private static let most = 256

    /// A request that waits.
    struct Waiting {
        var identifier: Data
        var since: Date
        var request: JoinRequest

        /// - Parameter state: When it came (8), and the request.
        init(_ name: String, _ state: Data) throws {
            guard let identifier = [UInt8](hexadecimal: name.dropFirst(CircleSession.State.requests.count).utf8),
                state.count > 8
            else { throw CircleError.malformed("request to join") }
            self.identifier = Data(identifier)
            since = Date(timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(bigEndianBytes: state.prefix(8))))
            request = try JoinRequest(decoding: Data(state.dropFirst(8)))
        }
    }

    static func waiting(_ tables: CircleReader) throws -> [Waiting] {
        try tables.states(withPrefix: CircleSession.State.requests).map { try Waiting($0.name, $0.value) }
    }

    // MARK: Requests

    /// A request, opened and checked: the vault knows the invitation, and its TPM attests its keys if it has to.
    struct Opened {
        let body: JoinRequest.Body
        let attestation: MemberAttestation?
        let terms: InvitationTerms
    }

    static func open(
        _ request: JoinRequest, _ offer: MembershipEntry.Offer, _ key: CircleKey, _ log: MembershipLog
    ) throws -> Opened {
        let requestKey = SymmetricKey(data: try key.open(offer.sealedRequestKey, in: log.circle))
        let body = try request.open(under: requestKey, key: offer.key)
        let terms = try InvitationTerms(decoding: key.open(offer.sealedTerms, in: log.circle))
        guard offer.flags.contains(.requiresAttestation) else {
            return Opened(body: body, attestation: nil, terms: terms)
        }
        guard !body.attestation.isEmpty else {
            throw CircleError.notPermitted("a request without the attestation of a TPM that its invitation asks for")
        }
        let attestation = try MemberAttestation(
            checking: body.attestation, of: body.keys,
            nonce: JoinRequest.attestationNonce(log.circle, request.invitation, body.keys))
        guard terms.attesters.isEmpty || terms.attesters.contains(attestation.attester) else {
            throw CircleError.notPermitted(
                "a request that a TPM attests which its invitation does not name: \(attestation.attester.hexadecimal())"
            )
        }
        return Opened(body: body, attestation: attestation, terms: terms)
    }

    /// Whether an invitation still admits somebody.
    private func isOpen(_ invitation: MembershipLog.OpenInvitation) -> Bool {
        !invitation.isEnded && invitation.left > 0 && invitation.offer.deadline.date > making.now
    }

    /// Keeps a request that came, for a person or for ``admitUnattended()``.
    ///
    /// - Returns: False if its invitation is not known yet.
    func keep(_ key: Identifier16, _ value: Data) throws -> Bool {
        let request = try JoinRequest(decoding: value)
        guard let log = session.log, request.circle == log.circle,
            session.member?.rights.contains(.admit) == true
        else { return true }
        guard let invitation = log.invitations[request.invitation] else { return false }
        // An invitation that was used is none any more.
        guard isOpen(invitation), let circleKey = try session.circleKey() else { return true }
        let body = try Self.open(request, invitation.offer, circleKey, log).body
        guard !log.members.values.contains(where: { $0.keys.signing == body.keys.signing }) else { return true }
        guard try tables.reader.state(CircleSession.State.refused + key.description) == nil else { return true }
        let name = CircleSession.State.requests + key.description
        guard try tables.reader.state(name) == nil else { return true }
        guard try tables.reader.states(withPrefix: CircleSession.State.requests).count < Self.most else {
            throw CircleError.notPermitted("more than \(Self.most) requests to join")
        }
        try tables.set(name, Data(making.now.timeIntervalSinceReferenceDate.bitPattern.bigEndianBytes) + value)
        return true
    }

    /// A request of those that wait.
    private func request(_ identifier: Data) throws -> JoinRequest {
        let name = CircleSession.State.requests + identifier.hexadecimal()
        guard let state = try tables.reader.state(name) else {
            throw VaultError.invalidRequest(reason: "no vault asks to join with this request")
        }
        return try Waiting(name, state).request
    }

    func refuse(_ identifier: Data) throws {
        let request = try request(identifier)
        try tables.set(CircleSession.State.requests + identifier.hexadecimal(), nil)
        // It is still in the store, and comes again.
        try tables.set(CircleSession.State.refused + identifier.hexadecimal(), request.invitation.bytes)
    }

    /// Forgets what was about invitations that admit nobody any more.
    func forgetOld() throws {
        // An admission that was not handed on may still give way to another one, and a person then admits again.
        guard let log = session.log, try !tables.reader.hasOutgoing(CircleObject.Kind.entry.rawValue) else { return }
        for (name, invitation) in try tables.reader.states(withPrefix: CircleSession.State.refused) {
            let open = Identifier16(invitation).flatMap { log.invitations[$0] }.map(isOpen)
            if open != true { try tables.set(name, nil) }
        }
        for (name, state) in try tables.reader.states(withPrefix: CircleSession.State.requests) {
            let request = try Waiting(name, state).request
            guard let invitation = log.invitations[request.invitation], isOpen(invitation),
                try !isAnswered(request, invitation.offer, log)
            else {
                try tables.set(name, nil)
                continue
            }
        }
    }

    /// Whether the vault that asks is, or was, a member.
    private func isAnswered(
        _ request: JoinRequest, _ offer: MembershipEntry.Offer, _ log: MembershipLog
    ) throws -> Bool {
        guard let key = try session.circleKey(), let body = try? Self.open(request, offer, key, log).body else {
            return false
        }
        return log.members.values.contains { $0.keys.signing == body.keys.signing }
    }

    // MARK: Admitting

    /// Admits a vault because a person says so.
    ///
    /// - Parameter groups: The access groups that it gets; nil for those of its invitation, or all that are here.
    func approve(_ identifier: Data, _ groups: [String]?) throws -> UInt32 {
        let (log, member) = try making.membership()
        guard member.rights.contains(.admit) else { throw CircleMaking.lacksRight }
        // It stays until the admission is certain.
        let request = try request(identifier)
        guard let invitation = log.invitations[request.invitation], let key = try session.circleKey() else {
            throw VaultCircle.noInvitation
        }
        guard isOpen(invitation) else {
            throw VaultError.invalidRequest(reason: "the invitation is over; make a new one")
        }
        let opened = try Self.open(request, invitation.offer, key, log)
        let held = try session.heldViews().values.sorted { $0.identifier < $1.identifier }
        let named = groups ?? (opened.terms.groups.isEmpty ? nil : opened.terms.groups)
        let given =
            named.map { groups in held.filter { view in groups.contains { $0.isSameGroup(as: view.body.name) } } }
            ?? held
        if let named, given.count < Set(named).count {
            throw VaultError.invalidRequest(
                reason: "this vault can give only the access groups that `circle list` shows")
        }
        return try admit(admission(request, opened.body, invitation.offer, key, log), to: given)
    }

    private func admission(
        _ request: JoinRequest, _ body: JoinRequest.Body, _ offer: MembershipEntry.Offer, _ key: CircleKey,
        _ log: MembershipLog
    ) throws -> MembershipEntry.Admission {
        MembershipEntry.Admission(
            number: log.nextNumber, rights: offer.rights, invitation: request.invitation, keys: body.keys,
            proof: request.proof, sealedName: try key.seal(Data(body.name.utf8), in: log.circle),
            attestation: body.attestation.isEmpty ? Data(count: 32) : body.attestation.sha256, formats: body.formats)
    }

    private func admit(
        _ admission: MembershipEntry.Admission, to views: [CircleSession.HeldView]
    ) throws -> UInt32 {
        let (log, member) = try making.membership()
        guard views.isEmpty || member.rights.contains(.views) else { throw CircleMaking.lacksRight }
        var admission = admission
        admission.number = log.nextNumber
        try making.append(.admit(admission))
        try making.deliverCircleKey(to: admission.number)
        for view in views { try making.admit(admission.number, to: view) }
        return admission.number
    }

    // MARK: Without a person

    /// How long each further member waits, in seconds, before it admits what another may be admitting: two that do it
    /// at once have to be brought together.
    private static let turn: TimeInterval = 30

    /// Admits the vaults whose invitations need no person.
    ///
    /// The vault is unlocked.
    func admitUnattended() throws {
        for waiting in try Self.waiting(tables.reader) {
            let name = CircleSession.State.requests + waiting.identifier.hexadecimal()
            guard let log = session.log, let key = try session.circleKey(),
                let invitation = log.invitations[waiting.request.invitation], isOpen(invitation)
            else {
                try tables.set(name, nil)
                continue
            }
            guard invitation.offer.flags.contains(.needsNoPerson) else { continue }
            guard let opened = try? Self.open(waiting.request, invitation.offer, key, log),
                !log.members.values.contains(where: { $0.keys.signing == opened.body.keys.signing })
            else {
                try tables.set(name, nil)
                continue
            }
            guard let (views, rank) = try views(for: invitation, opened.terms),
                making.now >= waiting.since.addingTimeInterval(Double(rank) * Self.turn)
            else { continue }
            try tables.set(name, nil)
            do {
                _ = try tables.attempt {
                    try admit(admission(waiting.request, opened.body, invitation.offer, key, log), to: views)
                }
            } catch is CircleError {
                // The log does not permit it: a request keeps nobody else from travelling.
            }
        }
    }

    /// What this vault gives to a vault with an invitation that needs no person.
    ///
    /// - Returns: Nil if a person has to decide, or another member can. Else also how many members come before this
    ///   one.
    private func views(
        for invitation: MembershipLog.OpenInvitation, _ terms: InvitationTerms
    ) throws -> (views: [CircleSession.HeldView], rank: Int)? {
        guard invitation.offer.flags.contains(.needsNoPerson), let log = session.log, let member = session.member else {
            return nil
        }
        let needed: MemberRights = terms.groups.isEmpty ? .admit : [.admit, .views]
        // Who invited decides in the place of a person, and gives nothing that it does not have.
        guard member.rights.isSuperset(of: needed),
            let inviter = log.member(invitation.inviter), inviter.rights.isSuperset(of: needed)
        else { return nil }
        let held = try session.heldViews().values.filter(making.hasKeys)
        let views = terms.groups.compactMap { group in
            held.first { $0.body.name.isSameGroup(as: group) && $0.body.holders.contains(inviter.number) }
        }
        guard views.count == terms.groups.count else { return nil }
        let before = log.present.filter { other in
            other.number < member.number && other.rights.isSuperset(of: needed)
                && views.allSatisfy { $0.body.holders.contains(other.number) }
        }
        return (views, before.count)
    }

    /// Notes an admission of this vault in whose place another entry counts.
    func noteDisplaced(_ entry: MembershipEntry) throws {
        try tables.set(CircleSession.State.displaced + entry.digest.hexadecimal(), entry.encoded)
    }

    static func displaced(
        _ tables: CircleReader
    ) throws -> [(state: String, admission: MembershipEntry.Admission)] {
        try tables.states(withPrefix: CircleSession.State.displaced).compactMap { name, encoded in
            guard case .admit(let admission) = try MembershipEntry(decoding: encoded).body else { return nil }
            return (name, admission)
        }
    }

    /// Admits those again whose admission by this vault another entry displaced, if their invitation needs no person.
    ///
    /// The vault is unlocked.
    func admitDisplaced() throws {
        let displaced = try Self.displaced(tables.reader)
        for (name, admission) in displaced {
            try tables.set(name, nil)
            // The number is another vault's, or nobody's.
            guard session.log?.members[admission.number]?.keys != admission.keys else { continue }
            for held in try session.heldViews().values where held.entry.signer == session.number {
                try making.withdraw(admission.number, from: held)
            }
        }
        for (_, admission) in displaced {
            guard let log = session.log else { return }
            guard !log.members.values.contains(where: { $0.keys.signing == admission.keys.signing }),
                let invitation = log.invitations[admission.invitation], isOpen(invitation),
                let key = try session.circleKey(),
                let (views, _) = try views(
                    for: invitation,
                    InvitationTerms(decoding: key.open(invitation.offer.sealedTerms, in: log.circle)))
            else { continue }
            _ = try admit(admission, to: views)
        }
    }
}
