import Access
import Broker
import Bytes
import CommandKit
import Crypto
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// The owner's approval of a project's rules.
struct Approval: Codable {
    /// Of the file, SHA-256 in hexadecimal digits.
    var digest: String
    /// The rules in words, to show what changes.
    var words: [String]
    /// A key of the vault's enclave that only a person can use; none in a vault without a passcode.
    var key: Data?
    /// By that key, over the path, the digest and the words.
    var signature: Data?
}

/// What holds of the rules in a file.
enum ApprovalState: String, Encodable {
    case approved
    /// Another content was approved.
    case changed
    case notApproved = "not approved"
    /// It was approved when the vault had no passcode, or a program wrote the approval.
    case unproven
    /// The file is not there any more, or cannot be used.
    case gone
    /// The vault has to be unlocked to know it.
    case locked
}

/// The approvals in a vault. Each is a password of the service `broker-approval/PATH`.
///
/// Programs with the owner's rights can write such items, too. So an approval is a signature by a key of the enclave,
/// which signs when a person was there and not otherwise.
struct Approvals {
    private static let prefix = "broker-approval/"
    private static let control = AccessControl(
        protection: .whenUnlockedThisDeviceOnly, flags: [.userPresence, .privateKeyUsage])

    private let session: VaultSession
    /// The only group whose approvals count.
    private let group: String?

    init(_ session: VaultSession) throws {
        self.session = session
        group = try session.ownGroup ?? Client.groupForNewItem(in: session.client.accessGroups)
    }

    struct Named {
        var path: String
        var approval: Approval
        var item: StoredItem
    }

    /// Returns all of them in the order of their paths.
    func all() throws -> [Named] {
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: [.account: .string("")], accessGroup: group)
        return try session.described(query) { _ in }
            .filter { $0.text(.service)?.hasPrefix(Self.prefix) == true }
            .compactMap(read).sorted { $0.path < $1.path }
    }

    func named(_ path: String) throws -> Named? {
        let query = ItemQuery(
            itemClass: .genericPassword,
            attributes: [.service: .string(Self.prefix + path), .account: .string("")], accessGroup: group)
        return try session.described(query) { _ in }.first.flatMap(read)
    }

    private func read(_ item: StoredItem) throws -> Named? {
        var query = ItemQuery(item: item)
        query.authentication.interaction = .skip
        var value: Data?
        do throws(VaultError) {
            value = try session.perform(CopyItems(query, includingValues: true)).first?.value
        } catch {
            // Reading an approval never needs a person, so this item is none.
            guard error == .itemNotFound else { throw error }
        }
        guard let service = item.text(.service), let value,
            let approval = try? JSONDecoder().decode(Approval.self, from: value)
        else { return nil }
        return Named(path: String(service.dropFirst(Self.prefix.count)), approval: approval, item: item)
    }

    // MARK: What holds

    func state(of file: ProjectFile) throws -> ApprovalState {
        guard let named = try named(file.path) else { return .notApproved }
        guard named.approval.digest == file.digest else { return .changed }
        return try isProven(named) ? .approved : .unproven
    }

    /// Whether the vault asked a person for this approval, as far as it has a person to ask.
    func isProven(_ named: Named) throws -> Bool {
        guard try hasPasscode else { return true }
        guard let key = named.approval.key.flatMap(EnclaveKeyRecord.init(decoding:)),
            let signature = named.approval.signature, key.kind == .p256Signing, key.accessControl == Self.control,
            let publicKey = try? P256.Signing.PublicKey(x963Representation: key.publicKey),
            let proof = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            publicKey.isValidSignature(proof, for: Self.statement(named.path, named.approval))
        else { return false }
        // Whether that is such a key, and not one that a program made up.
        do throws(VaultError) {
            _ = try session.perform(
                UseEnclaveKey(key, for: .recognize, options: AuthenticationOptions(interaction: .fail)))
            return true
        } catch {
            guard case .invalidRequest = error else { throw error }
            return false
        }
    }

    /// Whether there is a passcode, without which no person can be asked.
    var hasPasscode: Bool {
        get throws { try session.perform(ReadPresenceAvailability()).isPasscodeSet }
    }

    private static func statement(_ path: String, _ approval: Approval) -> SHA256.Digest {
        // Each with its length, so that no two lists are the same bytes.
        let words = approval.words.map { "\($0.utf8.count):\($0)" }.joined()
        let digest = String(decoding: Data(SHA256.hash(data: Data(words.utf8))).hexadecimalDigits(), as: UTF8.self)
        return SHA256.hash(
            data: Data("swift-keychain/v2/broker-approval\0\(approval.digest)\0\(digest)\0\(path)".utf8))
    }

    /// Returns the rules that a person approved for this path before, in words.
    ///
    /// - Returns: Nil if there are none, or a program may have written them.
    func provenWords(of path: String) throws -> [String]? {
        guard try hasPasscode, let named = try named(path), try isProven(named) else { return nil }
        return named.approval.words
    }

    /// Fails unless the content of the file is approved.
    func require(_ file: ProjectFile) throws {
        let state = try state(of: file)
        guard state != .approved else { return }
        throw Failure(
            status: errSecAuthFailed, exitCode: ExitStatus.other,
            "\(file.path.escapedForTerminal): \(Self.reason(state)): read it, and run `\(Self.remedy(file.path))`")
    }

    static func reason(_ state: ApprovalState) -> String {
        switch state {
        case .approved: "its rules are approved"
        case .changed: "its rules are not those that you approved"
        case .notApproved: "its rules are not approved"
        case .unproven: "its rules were approved without the passcode that the vault has now"
        case .gone: "it is not there any more"
        case .locked: "the vault is locked, which knows whether its rules are approved"
        }
    }

    static func remedy(_ path: String) -> String {
        "keychain broker approve \(ShellWord.quoted(RulesFile.place(of: path)) ?? "FOLDER")"
    }

    // MARK: Changes

    /// Stores that the owner approves the content. Asks a person, if the vault has a passcode.
    ///
    /// - Parameters:
    ///   - words: The rules, as the person was shown them.
    ///   - purpose: What the question says.
    func approve(_ file: ProjectFile, _ words: [String], purpose: String) throws {
        var approval = Approval(digest: file.digest, words: words)
        if try hasPasscode {
            let key = try session.perform(
                MakeEnclaveKey(.p256Signing, accessControl: Self.control, options: AuthenticationOptions()))
            let options = AuthenticationOptions(prompt: purpose, context: UUID())
            let statement = Data(Self.statement(file.path, approval))
            approval.signature = try session.perform(
                UseEnclaveKey(key, for: .sign(digest: statement), options: options))
            if let context = options.context { _ = try? session.perform(EndContext(context)) }
            approval.key = key.encoded
        }
        var item = NewItem(
            itemClass: .genericPassword,
            attributes: [
                .service: .string(Self.prefix + file.path), .account: .string(""),
                .label: .string("Rules of \(file.path)"),
            ], accessGroup: try group ?? OtherTool.groupForNewItem,
            accessControl: AccessControl(protection: .whenUnlockedThisDeviceOnly),
            value: Data(try JSON.string(approval).utf8))
        // What was revoked must not come back from the history.
        item.kept = .atMost(0)
        _ = try session.perform(PutItem(item))
    }

    /// Deletes what any program stored as an approval of this path, whatever its account and its group.
    ///
    /// - Returns: Whether there was one.
    func revoke(_ path: String) throws -> Bool {
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(Self.prefix + path)], synchronizable: .any)
        do throws(VaultError) {
            return try session.perform(DeleteItems(query)) > 0
        } catch {
            guard error == .itemNotFound else { throw error }
            return false
        }
    }
}

extension StoredItem {
    fileprivate func text(_ name: AttributeName) -> String? {
        guard case .string(let text)? = attribute(name) else { return nil }
        return text
    }
}
