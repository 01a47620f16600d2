import Bytes
import CommandKit
import Dispatch
import ExchangeFormats
import FoundationEssentials
import Presence
import ProcessVault
import StatusCodes
import Synchronization
import VaultInterface

/// Answers the requests of one browser, until it closes the connection.
///
/// Requests for which a person may be asked wait for one another. The others are answered meanwhile, because the
/// extension takes a host that is silent for half a second for gone.
final class HostConversation: Sendable {
    /// The version that the extension is told: that of the KeePassXC whose protocol this is.
    static let version = "2.7.6"
    /// The most requests that wait.
    private static let mostWaiting = 16

    struct State {
        var client: HostClient?
        /// The name of the association that the extension has shown to know.
        var association: String?
        /// The sites whose logins a person refused, until the browser ends.
        var refused: Set<String> = []
        var isLockWatched = false
    }

    let state = Mutex(State())
    let prompt: BrowserPrompt
    let browser: String
    /// Returns a session of the vault; nil if there is no vault.
    let currentSession: @Sendable (BrowserPrompt) throws -> VaultSession?
    private let output: HostOutput
    private let queue = DispatchQueue(label: "browser-requests")
    private let room = DispatchSemaphore(value: mostWaiting)
    private let waiting = DispatchGroup()

    init(
        prompt: BrowserPrompt, output: HostOutput, browser: String,
        currentSession: @escaping @Sendable (BrowserPrompt) throws -> VaultSession? = {
            try ProcessVault.exists() ? .ofOwner(prompt: $0) : nil
        }
    ) {
        (self.prompt, self.output, self.browser) = (prompt, output, browser)
        self.currentSession = currentSession
    }

    /// Withdraws the questions to a person, and waits for the requests that are running.
    func end() {
        prompt.takeBack()
        _ = waiting.wait(timeout: .now() + 2)
    }

    // MARK: Requests

    /// Answers a message now, or queues it behind those before it.
    ///
    /// - Throws: ``Failure`` for a message that is not the protocol's.
    func take(_ bytes: Data) throws {
        guard let message = JSONValue(parsing: bytes), message.object != nil else {
            throw HostMessages.malformed("a message that is not a JSON object")
        }
        let name = message["action"]?.text ?? ""
        let number = message["requestID"]?.text
        do throws(HostError) {
            guard let action = HostRequest.Action(rawValue: name) else { throw .incorrectAction }
            if action == .changePublicKeys { return try changeKeys(message, number) }
            let request = try open(message, action, number)
            guard action.mayWait || request.unlocks else { return answer(request) }
            room.wait()
            queue.async(group: waiting) {
                self.answer(request)
                self.room.signal()
            }
        } catch {
            refuse(name, number, error)
        }
    }

    private func changeKeys(_ message: JSONValue, _ number: String?) throws(HostError) {
        guard let identifier = message["clientID"]?.text, let nonce = message["nonce"]?.text.flatMap(BoxNonce.init),
            let text = message["publicKey"]?.text, let peer = Data(base64Encoded: text),
            let keys = try? BoxKeys(with: peer)
        else { throw .keyChangeFailed }
        let client = HostClient(identifier, publicKey: text, keys)
        _ = client.use(nonce)
        state.withLock { $0.client = client }
        write(
            [
                "action": .string(HostRequest.Action.changePublicKeys.rawValue), "version": .string(Self.version),
                "publicKey": .string(keys.publicKey.base64EncodedString()), "nonce": .string(nonce.next.text),
                "success": .string("true"),
            ], number)
    }

    private func open(
        _ message: JSONValue, _ action: HostRequest.Action, _ number: String?
    ) throws(HostError) -> HostRequest {
        guard let client = state.withLock({ $0.client }), client.identifier == message["clientID"]?.text else {
            throw .publicKeyNotReceived
        }
        guard let text = message["message"]?.text else { throw .emptyMessage }
        guard let nonce = message["nonce"]?.text.flatMap(BoxNonce.init), let sealed = Data(base64Encoded: text),
            let opened = client.keys.open(sealed, nonce), client.use(nonce),
            let members = JSONValue(parsing: opened), members.object != nil
        else { throw .cannotDecrypt }
        guard members["action"]?.text == action.rawValue else { throw .incorrectAction }
        return HostRequest(
            action: action, members: members, nonce: nonce, client: client, number: number,
            unlocks: message["triggerUnlock"]?.isTrue == true)
    }

    // MARK: Answers

    private func answer(_ request: HostRequest) {
        do {
            var members = try perform(request)
            members["nonce"] = .string(request.nonce.next.text)
            members["version"] = .string(Self.version)
            members["success"] = .string("true")
            let plain = try JSONValue.object(members).encoded()
            guard let sealed = request.client.keys.seal(plain, request.nonce.next) else { throw HostError.unknown }
            let isWritten = write(
                [
                    "action": .string(request.action.rawValue), "nonce": .string(request.nonce.next.text),
                    "message": .string(sealed.base64EncodedString()),
                ], request.number)
            guard isWritten else { throw Self.tooLong }
        } catch {
            // The protocol has a number alone; the browser's log has the reason.
            if !(error is HostError) { _ = Failure(error).report(asJSON: false) }
            refuse(request.action.rawValue, request.number, HostError(error))
        }
    }

    private static let tooLong = Failure(
        status: errSecDataTooLarge,
        "the logins of the page are longer than the \(HostMessages.longest) bytes that browsers take: delete some, or "
            + "shorten them")

    private func refuse(_ action: String, _ number: String?, _ error: HostError) {
        write(
            [
                "action": .string(String(action.prefix(64))), "errorCode": .string("\(error.rawValue)"),
                "error": .string(error.message),
            ], number)
    }

    @discardableResult
    private func write(_ members: [String: JSONValue], _ number: String?) -> Bool {
        var members = members
        members["requestID"] = number.map { .string($0) }
        guard let bytes = try? JSONValue.object(members).encoded() else { return false }
        return output.write(bytes)
    }

    // MARK: The lock

    /// Tells the extension of the lock of a vault that is there already.
    func watchPresentVault() {
        if let session = try? currentSession(prompt) { watchLock(session) }
    }

    /// Tells the extension from now on whenever the vault is locked or unlocked.
    func watchLock(_ session: VaultSession) {
        let isWatched = state.withLock { state in
            defer { state.isLockWatched = true }
            return state.isLockWatched
        }
        guard !isWatched else { return }
        let events = session.vault.lockEvents()
        Task.detached { [weak self] in
            var isFirst = true
            for await event in events {
                defer { isFirst = false }
                guard !isFirst, event != .willLock else { continue }
                self?.write(["action": .string(event == .locked ? "database-locked" : "database-unlocked")], nil)
            }
        }
    }
}
