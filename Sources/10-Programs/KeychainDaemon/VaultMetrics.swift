import KeychainModel
import Metrics
import Vault
import VaultService

/// The metrics that tell of a state, and are taken when they are written.
struct VaultMetrics: Sendable {
    let vault: EmbeddedVault
    let entitlements: EntitlementsSource

    func record() {
        for state in LockState.allCases {
            Gauge(label: "keychain_lock_state", dimensions: [("state", state.label)])
                .record(vault.lockState == state ? 1 : 0)
        }
        if let attempts = vault.failedAttempts { Gauge(label: "keychain_wrong_passcodes").record(attempts) }
        Gauge(label: "keychain_device_secret_lost").record(vault.couldBeOpenedAgain ? 0 : 1)
        let (rules, mistake) = entitlements.inForce()
        Gauge(label: "keychain_entitlements_rules").record(rules)
        Gauge(label: "keychain_entitlements_rejected").record(mistake == nil ? 0 : 1)
    }

    /// What each metric of the daemon means, by its label.
    static let help = [
        "keychain_connections": "Connections that are open.",
        "keychain_connections_total": "Connections that were accepted.",
        "keychain_connections_rejected_total": "Connections that were rejected.",
        "keychain_damaged_total": "Requests that met a damaged item or vault.",
        "keychain_device_secret_lost":
            "1 if the vault could not be opened again after the daemon ends, because its device secret is not in its place.",
        "keychain_entitlements_rejected":
            "1 if the entitlements file has a mistake, so that earlier rules are in force.",
        "keychain_entitlements_rules": "Rules of the entitlements that are in force.",
        "keychain_lock_state": "1 for the state that the vault is in.",
        "keychain_request_duration_seconds": "Time from a request to its answer.",
        "keychain_requests_total": "Requests by operation and outcome.",
        "keychain_wrong_passcodes": "Wrong passcodes since the last right one.",
    ]
}

extension LockState {
    fileprivate var label: String {
        switch self {
        case .beforeFirstUnlock: "before-first-unlock"
        case .locked: "locked"
        case .unlocked: "unlocked"
        }
    }
}
