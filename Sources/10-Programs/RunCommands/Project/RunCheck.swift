import Access
import Broker
import CLibrary
import CommandKit
import FoundationEssentials
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface

/// What a run needs, and whether it is there. Reads no value, asks nobody, and starts nothing but the reader of a
/// project's rules.
struct RunCheck {
    private struct Secret: Encodable {
        var name: String
        var reference: String
        var state: State
        /// What to do, as a command where there is one.
        var remedy: String?
    }

    private enum State: String, Encodable {
        case present, missing, expired, ambiguous, locked
        case unknown
    }

    private struct Project: Encodable {
        var path: String
        var digest: String
        var state: ApprovalState
        var remedy: String?
    }

    private struct Tool: Encodable {
        var name: String
        var isPresent: Bool
        var remedy: String?

        enum CodingKeys: String, CodingKey {
            case name, remedy
            case isPresent = "present"
        }
    }

    private struct Report: Encodable {
        var ready: Bool
        var secrets: [Secret]
        var project: Project?
        var programs: [Tool]
    }

    private let session: VaultSession?
    /// Why there is no session.
    private var obstacle: String?
    private var secrets: [Secret] = []
    private var project: Project?
    private var programs: [Tool] = []

    init(_ passcode: PasscodeInput) {
        do {
            let session = try VaultSession.ofOwnerInPresentVault(passcode)
            // A passcode that is given asks nobody either.
            self.session = passcode.descriptor == nil ? session.withoutUnlocking : session
        } catch {
            session = nil
            let failure = Failure(error)
            if failure.status != errSecItemNotFound { obstacle = failure.message }
        }
    }

    // MARK: Looking

    mutating func look(for reference: SecretReference, named name: String) {
        let (state, remedy) = condition(of: reference)
        secrets.append(Secret(name: name, reference: reference.text, state: state, remedy: remedy))
    }

    private func condition(of reference: SecretReference) -> (State, String?) {
        if let obstacle { return (.unknown, obstacle) }
        // Without a vault there is no secret.
        guard let session else { return (.missing, Self.command(for: reference)) }
        let search = PasswordSearch(
            service: reference.service, account: reference.account, group: reference.group,
            synchronizable: reference.synchronizable)
        do {
            _ = try search.described(in: session)
            return (.present, nil)
        } catch {
            let failure = Failure(error)
            switch failure.status {
            case errSecItemNotFound: return (.missing, Self.command(for: reference))
            case errSecInteractionNotAllowed: return (.locked, Self.unlocking)
            case errSecParam: return (.ambiguous, failure.message)
            default:
                if case .itemExpired? = error as? VaultError { return (.expired, Self.command(for: reference)) }
                return (.unknown, failure.message)
            }
        }
    }

    private static let unlocking = "`keychain unlock` if keychaind runs, or add --passcode-fd"

    /// The command that stores the secret.
    private static func command(for reference: SecretReference) -> String {
        if let login = LoginName(reference), let name = ShellWord.quoted(login.name) {
            return "keychain token add \(name) --token-endpoint URL --client-id ID"
        }
        let words = [reference.service, reference.account].map(ShellWord.quoted)
        let group = reference.group.map(ShellWord.quoted)
        guard let service = words[0], let account = words[1], group == nil || group != .some(nil) else {
            return "store it with `keychain set`"
        }
        let first = [service, account].contains { $0.hasPrefix("'-") } ? "-- " : ""
        let options = group.flatMap(\.self).map { "--group \($0) " } ?? ""
        return "keychain set \(options)\(first)\(service) \(account)"
    }

    /// Looks at rules of a command line, and of a project.
    mutating func look(at texts: [String], of file: ProjectFile?) throws {
        let broker = try? BrokerProcess.program()
        programs.append(
            Tool(
                name: "keychain-broker", isPresent: broker != nil,
                remedy: broker == nil ? "install the package swift-keychain-network" : nil))
        if let file {
            let state = approval(of: file)
            project = Project(
                path: file.path, digest: file.digest, state: state,
                remedy: state == .approved ? nil : state == .locked ? Self.unlocking : Approvals.remedy(file.path))
        }
        // The rules of a file are read by keychain-broker.
        let brokered = try BrokeredSecrets(
            texts, of: broker == nil ? nil : file, others: nil, authority: nil)
        for (rule, reference) in brokered.rules { look(for: reference, named: rule.variable) }
    }

    private func approval(of file: ProjectFile) -> ApprovalState {
        guard let session else { return obstacle == nil ? .notApproved : .locked }
        do {
            return try Approvals(session).state(of: file)
        } catch {
            return .locked
        }
    }

    mutating func look(forProgram name: String) {
        let isPresent = name.contains("/") ? access(name, X_OK) == 0 : ToolProcess.exists(name)
        let package = ["bwrap": "bubblewrap", "unshare": "util-linux"][name]
        let remedy = package.map { "install the package \($0)" } ?? "name a program that is there"
        programs.append(Tool(name: name, isPresent: isPresent, remedy: isPresent ? nil : remedy))
    }

    // MARK: Telling

    private var isReady: Bool {
        secrets.allSatisfy { $0.state == .present } && programs.allSatisfy(\.isPresent)
            && project.map { $0.state == .approved } ?? true
    }

    /// The exit status.
    var status: Int32 {
        if isReady { return 0 }
        let isMissing = secrets.contains { $0.state == .missing }
        return isMissing ? ExitStatus.code(for: errSecItemNotFound) : ExitStatus.other
    }

    func report(asJSON: Bool) throws {
        if asJSON {
            return try StandardOutput.write(
                json: Report(ready: isReady, secrets: secrets, project: project, programs: programs))
        }
        var rows = secrets.map { [$0.name, $0.reference, $0.state.rawValue, $0.remedy ?? ""] }
        if let project { rows.append(["rules", project.path, project.state.rawValue, project.remedy ?? ""]) }
        rows += programs.map { ["program", $0.name, $0.isPresent ? "present" : "missing", $0.remedy ?? ""] }
        guard !rows.isEmpty else { return }
        // A remedy is for copying: it is not cut.
        let shown = rows.map { row in
            row.enumerated().map { $0.offset == 3 ? $0.element : $0.element.escapedForTerminal }
        }
        try StandardOutput.write(
            line: Table(shown, heads: ["name", "what", "state", "to do"]).text(aligned: StandardOutput.isTerminal))
    }
}
