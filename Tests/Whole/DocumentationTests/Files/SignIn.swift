// SignIn.swift
import Credentials
import Crypto

struct Form: Sendable {
    var account: String
    var password: String
}

enum Response: Sendable {
    case tooManyTries(Duration)
    case wrongPassword, busy
    case signedIn(SessionToken, device: String)
}

struct SignIn: Sendable {
    let hasher = PasswordHasher()
    let throttle: SignInThrottle
    let devices: DeviceTokens
    let tokens = SessionTokens(store: MemorySessionStore())
    /// Finds the stored hash of an account.
    let hash: @Sendable (String) async throws -> String?

    /// Makes it with a key that the keychain keeps; another key makes the tokens of all devices void.
    init(deviceKey: SymmetricKey, hash: @escaping @Sendable (String) async throws -> String?) throws {
        devices = try DeviceTokens(key: deviceKey)
        throttle = SignInThrottle(devices: devices)
        self.hash = hash
    }

    func signIn(_ form: Form, from address: String, device: String?) async throws -> Response {
        let account = form.account
        if let wait = throttle.begin(account: account, address: address, device: device) { return .tooManyTries(wait) }
        do {
            let stored = try await hash(account)
            let answer = try await hasher.verify(SignInPassword(form.password), against: stored)
            guard answer.isCorrect else { return .wrongPassword }
        } catch CredentialsError.Code.busy {
            throttle.notLookedAt(account: account, address: address, device: device)
            return .busy
        }
        throttle.succeeded(account: account, address: address, device: device)
        return .signedIn(try await tokens.issue(for: account), device: devices.make(for: account))
    }
}
