import Access
import FoundationEssentials
import KeychainModel
import Synchronization
import VaultInterface

/// Does what a call asks for, within what its caller holds.
struct RequestHandler {
    private let vault: any Vault
    private let grant: CallerGrant
    private let call: WireCall

    init(_ vault: any Vault, _ grant: CallerGrant, _ call: WireCall) {
        self.vault = vault
        self.grant = grant
        self.call = call
    }

    /// Appends the whole answer to `buffer`, or, before an error, what is told besides.
    func answer(to buffer: WireBuffer) throws(VaultError) {
        let reply: WireReply
        if case .copy(let query, let includingValues, let reports) = call.request {
            reply = try copy(query, includingValues, reports, to: buffer)
        } else if case .auditRecords(let query) = call.request {
            let records = try vault.auditRecords(query, as: client())
            for record in records { buffer.appendFrame(.auditRecord) { buffer.append(record) } }
            reply = .count(records.count)
        } else {
            reply = try self.reply()
        }
        buffer.appendFrame(.result) { reply.encode(to: buffer) }
    }

    private func copy(
        _ query: ItemQuery, _ includingValues: Bool, _ reports: SearchReports, to buffer: WireBuffer
    ) throws(VaultError) -> WireReply {
        try RequestCheck.check(query)
        var query = query
        let damage = Collector<String>()
        let withheld = Collector<WithheldItem>()
        if reports.damage { query.reportDamage = { damage.add($0) } }
        if reports.withheld { query.reportWithheld = { withheld.add($0) } }
        let client = client()
        let found = Result { () throws(VaultError) -> [StoredItem] in
            try vault.copy(query, includingValues: includingValues, as: client)
        }
        // What was left out is told of even if nothing else was found.
        for reason in damage.collected { buffer.appendFrame(.damage) { buffer.append(reason) } }
        for item in withheld.collected { buffer.appendFrame(.withheld) { buffer.append(item) } }
        let items = try found.get()
        for item in items { buffer.appendFrame(.item) { buffer.append(item) } }
        return .count(items.count)
    }

    private func reply() throws(VaultError) -> WireReply {
        switch call.request {
        case .add(let item):
            try RequestCheck.check(item)
            return .item(try vault.add(item, as: client()).withoutValue(knownFrom: item))
        case .addIdentity(let certificate, let key):
            try RequestCheck.check(certificate)
            try RequestCheck.check(key)
            try vault.addIdentity(certificate: certificate, key: key, as: client())
            return .done
        case .copy:
            throw .invalidRequest(reason: "a search has an answer of its own")
        case .update(let query, let changes):
            try RequestCheck.check(query)
            try RequestCheck.check(changes, of: query.itemClass)
            return .count(try vault.update(query, with: changes, as: client()))
        case .delete(let query):
            try RequestCheck.check(query)
            return .count(try vault.delete(query, as: client()))
        case .put(let item):
            try RequestCheck.check(item)
            return .item(try vault.put(item, as: client()).withoutValue(knownFrom: item))
        case .exchange(let item, let expected):
            try RequestCheck.check(item)
            return .flag(try vault.exchange(item, expecting: expected, as: client()))
        default:
            return try replyAboutVault()
        }
    }

    private func replyAboutVault() throws(VaultError) -> WireReply {
        switch call.request {
        case .status:
            return .status(try vault.status(as: client()))
        case .erase:
            try vault.erase(as: client())
        case .verify:
            return .report(try vault.verify(as: client()))
        case .deleteDamaged:
            return .count(try vault.deleteDamaged(as: client()))
        case .setPasscode(let passcode, let options):
            try vault.setPasscode(passcode, options: options, as: client())
        case .changePasscode(let passcode, let next, let options):
            try vault.changePasscode(from: passcode, to: next, options: options, as: client())
        case .removePasscode(let passcode):
            try vault.removePasscode(passcode, as: client())
        case .unlock(let passcode):
            try vault.unlock(with: passcode, as: client())
        case .lock(let grace):
            try vault.lock(after: grace, as: client())
        case .presenceAvailability:
            return .availability(try vault.presenceAvailability(as: client()))
        case .authenticate(let flags, let context, let options):
            try RequestCheck.check(flags)
            return .proofs(try vault.authenticate(flags, context: context, options: options, as: client()))
        case .endContext(let context):
            vault.endContext(context, as: client())
        case .makeEnclaveKey(let kind, let accessControl, let options):
            try RequestCheck.check(accessControl)
            return .enclaveKey(
                try vault.makeEnclaveKey(kind, accessControl: accessControl, options: options, as: client()))
        case .useEnclaveKey(let key, let operation, let options):
            return .bytes(try vault.useEnclaveKey(key, for: operation, options: options, as: client()))
        case .verifyAudit:
            return .auditReport(try vault.verifyAudit(as: client()))
        case .describeCaller:
            return .caller(grant.description)
        default:
            return try replyAboutFiles()
        }
        return .done
    }

    private func replyAboutFiles() throws(VaultError) -> WireReply {
        switch call.request {
        case .makeFileKey(let fileClass, let file):
            let made = try vault.makeFileKey(for: fileClass, file: file, as: client())
            return .fileKey(made.key, wrapped: made.wrapped)
        case .fileKey(let fileClass, let file, let wrapped):
            return .secret(try vault.fileKey(for: fileClass, file: file, wrapped: wrapped, as: client()))
        case .rewrapFileKey(let from, let to, let file, let wrapped):
            return .bytes(
                try vault.rewrapFileKey(from: from, to: to, file: file, wrapped: wrapped, as: client()))
        default:
            throw .unsupported(reason: "an operation that this daemon does not know")
        }
    }

    // MARK: Who asks

    private func client() -> Client { grant.client(claiming: call.claim.accessGroups) }
}

/// Collects what a search reports on the way.
private final class Collector<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var collected: [Element] { elements.withLock { $0 } }

    func add(_ element: Element) {
        elements.withLock { if $0.count < WireLimits.reports { $0.append(element) } }
    }
}

extension StoredItem {
    /// The item without the value that the client sent itself.
    fileprivate func withoutValue(knownFrom item: NewItem) -> StoredItem {
        guard item.value != nil else { return self }
        var copy = self
        copy.value = nil
        return copy
    }
}
