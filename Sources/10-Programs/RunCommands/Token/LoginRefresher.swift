import Access
import Broker
import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import StatusCodes
import VaultInterface

/// Gets access tokens of one login: from the vault, from another process that is about to get one, or from the server.
///
/// Among all processes that use the item, one asks the server at a time. It takes the lease in the item first, and what
/// the server gives is in the item before anybody gets the access token.
struct LoginRefresher {
    let store: LoginStore
    let program: String
    /// Shows a person a sentence.
    let note: @Sendable (String) -> Void

    /// How long a process waits for another one, in seconds: two leases.
    private static let patience = 2 * LoginLease.longest + 10
    /// If the vault cannot be written, storing the answer is tried again for so long, in seconds. Meanwhile a person
    /// can make room on the disk.
    private static let patienceOfStore = 600
    /// Of one request, in seconds.
    private static let requestTime = 45

    /// In seconds since 1970, as a login can have it, whatever the clock says.
    static var now: Int64 {
        max(0, min(Int64(clamping: Date().timeIntervalSince1970.rounded(.down)), StoredLogin.latest - 1))
    }

    func token(for need: StoredLogin.Need) throws -> StoredLogin.Access {
        var known: Int64?
        // The attempt of another process that this one waits for.
        var awaited: Int64?
        let end = ContinuousClock.now + .seconds(Self.patience)
        while true {
            let entry = try store.read()
            let login = entry.login
            if let access = login.access(for: need, now: Self.now, since: known ?? login.attempt) { return access }
            if let failure = login.failure, let awaited, failure.attempt >= awaited {
                throw Self.failure(failure, of: store.name)
            }
            // A program in a loop would ask again and again.
            if let failure = login.failure, failure.isEnd, login.lease == nil, !need.isInsisting, !need.isPrevious {
                throw Self.failure(failure, of: store.name)
            }
            guard !need.isPrevious || login.previousRefreshToken != nil else {
                throw Failure(
                    status: errSecItemNotFound,
                    "the login \(store.name.forTerminal) has no refresh token before the present one")
            }
            known = known ?? login.attempt
            if let lease = login.lease, !lease.isOver(now: Self.now) {
                guard ContinuousClock.now < end else {
                    throw Failure(
                        status: errSecIO, exitCode: ExitStatus.other,
                        "another process (\(lease.process)) refreshes the login \(store.name.forTerminal) and does not "
                            + "come to an end: end it and try again")
                }
                awaited = login.attempt
                // Its attempt was under way: its token is as good as one that this process would get.
                known = min(known ?? login.attempt, login.attempt - 1)
                usleep(useconds_t(UInt32.random(in: 30_000...90_000)))
                continue
            }
            var leased = login
            if let lease = login.lease { leased.unanswered = login.unanswered ?? lease.time }
            // What no reader takes must not be stored: the answer of the server could not be kept.
            guard let next = login.nextAttempt else {
                throw Failure(
                    status: errSecDecode,
                    "the login \(store.name.forTerminal) had more attempts than can be counted: store it again with "
                        + "`keychain token add`")
            }
            leased.attempt = next
            leased.lease = .ofThisProcess(now: Self.now)
            // Before anything goes out, the vault shows that it can be written.
            guard try store.replace(entry, with: leased) else { continue }
            return try refresh(leased, need)
        }
    }

    static func failure(_ failure: StoredLogin.Failure, of name: LoginName) -> Failure {
        Failure(
            status: failure.isEnd ? errSecAuthFailed : errSecIO,
            "the login \(name.forTerminal) got no access token: \(failure.reason)")
    }

    /// Asks the server, under a lease of this process.
    private func refresh(_ login: StoredLogin, _ need: StoredLogin.Need) throws -> StoredLogin.Access {
        // Only --previous uses a token that has a successor: a server that takes that for a theft ends the login.
        let used = need.isPrevious ? login.previousRefreshToken ?? login.refreshToken : login.refreshToken
        let outcome = ask(login, with: used)
        guard try keep(outcome, of: login, used: used) else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "another login was stored as \(store.name.forTerminal) while this one was refreshed: try again")
        }
        guard let answer = outcome.answer, let token = answer.access else {
            throw Self.failure(failed(outcome, login), of: store.name)
        }
        if answer.isLoss { note("the login \(store.name.forTerminal): \(failed(outcome, login).reason)") }
        return StoredLogin.Access(
            token: token, attempt: login.attempt, issued: Self.now, lifetime: answer.lifetime)
    }

    /// Stores what came of a request.
    ///
    /// - Returns: False if the item has another login now.
    private func keep(_ outcome: Outcome, of login: StoredLogin, used: HeldSecret) throws -> Bool {
        let end = ContinuousClock.now + .seconds(Self.patienceOfStore)
        var isTold = false
        while true {
            do {
                let entry = try store.read()
                let isSame =
                    entry.login.lease?.holder == login.lease?.holder
                    || entry.login.refreshToken == login.refreshToken && entry.login.attempt >= login.attempt
                guard isSame else { return false }
                if try store.replace(entry, with: changed(entry.login, by: outcome, login, used)) { return true }
            } catch {
                if let reason = removed(Failure(error).status) { throw reason }
                // An answer with a new refresh token must not get lost.
                let isLoss = outcome.answer?.refresh != nil
                guard isLoss, ContinuousClock.now < end else { throw error }
                if !isTold {
                    note(
                        "the new refresh token of the login \(store.name.forTerminal) cannot be stored: "
                            + "\(Failure(error).message); this is tried again for \(Self.patienceOfStore / 60) minutes")
                }
                isTold = true
                sleep(1)
            }
        }
    }

    /// Why an answer has no place to be kept in, and will have none; nil for other errors.
    private func removed(_ status: Int32) -> Failure? {
        let what: String
        switch status {
        case errSecItemNotFound: what = "was removed"
        case errSecDecode: what = "was replaced by something that is no login of this version"
        default: return nil
        }
        return Failure(
            status: status,
            "the login \(store.name.forTerminal) \(what) while it was refreshed: what its server answered is not kept")
    }

    private func changed(
        _ present: StoredLogin, by outcome: Outcome, _ login: StoredLogin, _ used: HeldSecret
    ) -> StoredLogin {
        var changed = present
        if present.lease?.holder == login.lease?.holder { changed.lease = nil }
        guard let answer = outcome.answer else {
            changed.unanswered = present.unanswered ?? login.lease?.time
            changed.failure = failed(outcome, login)
            return changed
        }
        if let refresh = answer.refresh, refresh != used {
            (changed.refreshToken, changed.previousRefreshToken) = (refresh, used)
        } else if answer.access != nil, !answer.isLoss {
            // It stays, and works.
            (changed.refreshToken, changed.previousRefreshToken) = (used, nil)
        }
        if let token = answer.access {
            changed.access = StoredLogin.Access(
                token: token, attempt: login.attempt, issued: Self.now, lifetime: answer.lifetime)
            if !answer.isLoss { (changed.failure, changed.unanswered) = (nil, nil) }
        }
        if answer.isLoss { changed.unanswered = present.unanswered ?? login.lease?.time }
        if answer.access == nil || answer.isLoss { changed.failure = failed(outcome, login) }
        return changed
    }

    private func failed(_ outcome: Outcome, _ login: StoredLogin) -> StoredLogin.Failure {
        var reason = outcome.answer?.reason ?? outcome.reason ?? "there is no answer"
        let isEnd = outcome.answer?.isEnd == true
        if isEnd {
            if let time = login.unanswered {
                let moment = Timestamp(Date(timeIntervalSince1970: Double(time))).iso8601
                reason += "; the answer to a refresh at \(moment) was not kept, and may have used the token up"
            }
            if login.previousRefreshToken != nil {
                reason += ". If the server was set back, `keychain token get --previous` tries the refresh token before"
            }
            reason +=
                ". Log in again, and store the new refresh token with `keychain token add`; `--refresh` asks the server "
                + "once more"
        } else {
            reason += ". The login is kept: try again later"
        }
        return StoredLogin.Failure(attempt: login.attempt, time: Self.now, reason: reason, isEnd: isEnd)
    }

    // MARK: The request

    private struct Outcome {
        /// Nil if none came.
        var answer: TokenAnswer?
        var reason: String?
    }

    private func ask(_ login: StoredLogin, with token: HeldSecret) -> Outcome {
        do {
            let request = try TokenRequest(refreshing: login, with: token.bytes)
            let secrets = [login.refreshToken, login.previousRefreshToken, login.clientSecret, login.access?.token]
            let call = TokenCall(login, seconds: Self.requestTime)
            let (answer, body) = try call.make(request)
            record(answer, call)
            guard let status = answer.status, answer.end == nil else {
                let reason = answer.end ?? "there is no answer"
                return Outcome(reason: "\(call.host): \(reason)")
            }
            // Beyond the length that an answer may have, or cut off, it came with an end.
            return Outcome(
                answer: TokenAnswer(
                    status: status, body: body, from: call.host, hiding: secrets.compactMap { $0?.bytes }))
        } catch {
            return Outcome(reason: Failure(error).message)
        }
    }

    /// Records the request in the audit log. One that cannot be recorded happened all the same.
    private func record(_ answer: BrokerAnswer, _ call: TokenCall) {
        guard var record = answer.record else { return }
        record.program = program
        record.secrets = ["refresh token of \(store.name.name)"]
        if record.outcome == .passed { record.outcome = .placed }
        let item = AuditQuery.Item(service: StoredLogin.service, account: store.name.name)
        do {
            try store.session.perform(RecordRequest(record, items: [item]))
        } catch {
            note("a refresh is not in the audit log: \(Failure(error).message)")
        }
    }
}
