import Foundation

/// The keychain of one case, and the folder it may be in.
struct ConformanceWorld {
    let keychain: TestKeychain

    /// The groups of a case that names none: the first is the default.
    private static let accessGroups = ["TEAM.app", "TEAM.shared"]

    init(
        temporaryFolder: URL?, isServed: Bool, environment: [String: ConformanceJSON]
    ) throws(ConformanceProblem) {
        var arguments = ConformanceArguments(environment)
        var client = TestClient(name: "conformance", accessGroups: Self.accessGroups)
        if let groups = arguments.take("accessGroups") { client.accessGroups = try Self.groups(groups) }
        if let groups = try Self.entitledGroups(&arguments) { client.accessGroups = groups }
        let isPasscodeSet = try arguments.takeBoolean("passcodeSet") ?? true
        let folder = temporaryFolder?.appendingPathComponent("keychain-conformance-\(UUID().uuidString)").path
        do {
            keychain = try TestKeychain(
                client: client, isPasscodeSet: isPasscodeSet, folder: folder,
                isServed: isServed)
        } catch {
            throw ConformanceProblem(expected: "an empty keychain", got: "\(error)")
        }
        if let outcome = arguments.take("auth") { keychain.authentication = try Self.authentication(outcome) }
        if let biometry = arguments.take("biometry") { keychain.biometry = try Self.biometry(biometry) }
        if let state = arguments.take("lockState") { try enter(state) }
        try arguments.finish()
    }

    /// Removes what the case left on disk.
    func remove() {
        guard let folder = keychain.folder else { return }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The groups of a program by its entitlements, in Apple's order: `keychain-access-groups`,
    /// `application-identifier`, `com.apple.security.application-groups`. Nil if none of them is given.
    private static func entitledGroups(
        _ arguments: inout ConformanceArguments
    ) throws(ConformanceProblem) -> [String]? {
        let keychain = try arguments.take("keychainAccessGroups").map(groups)
        let application = try arguments.take("applicationIdentifier").map { json throws(ConformanceProblem) in
            guard let identifier = json.string else { throw .malformed("an application identifier", json) }
            return [identifier]
        }
        let shared = try arguments.take("applicationGroups").map(groups)
        guard keychain != nil || application != nil || shared != nil else { return nil }
        var effective: [String] = []
        for group in (keychain ?? []) + (application ?? []) + (shared ?? []) where !effective.contains(group) {
            effective.append(group)
        }
        return effective
    }

    static func groups(_ json: ConformanceJSON) throws(ConformanceProblem) -> [String] {
        guard let groups = json.strings else { throw .malformed("an array of access groups", json) }
        return groups
    }

    static func authentication(_ json: ConformanceJSON) throws(ConformanceProblem) -> TestAuthentication {
        guard let outcome = json.string.flatMap(TestAuthentication.init(rawValue:)) else {
            throw .unknown("outcome of authentication", json.description)
        }
        return outcome
    }

    static func biometry(_ json: ConformanceJSON) throws(ConformanceProblem) -> TestBiometry {
        guard let biometry = json.string.flatMap(TestBiometry.init(rawValue:)) else {
            throw .unknown("state of biometry", json.description)
        }
        return biometry
    }

    private func enter(_ state: ConformanceJSON) throws(ConformanceProblem) {
        do throws(TestKeychainError) {
            switch state {
            case .string("unlocked"): keychain.unlock()
            case .string("locked"): keychain.lock()
            case .string("beforeFirstUnlock"): keychain.reboot()
            default: throw TestKeychainError(reason: "unknown")
            }
        } catch {
            throw .unknown("lock state", state.description)
        }
    }
}
