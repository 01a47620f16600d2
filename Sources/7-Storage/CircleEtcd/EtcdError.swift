#if HTTPClientSupport
/// Why nothing travels through etcd at the moment.
package enum EtcdError: Error, Equatable, CustomStringConvertible {
    /// No endpoint answers, or it is gone in the middle of a call. etcd may still have done what was asked for.
    case unreachable(endpoint: String, reason: String)
    /// etcd answers that it cannot do it now, such as without a leader or without space.
    case unavailable(endpoint: String, reason: String)
    /// etcd does not permit it to this user.
    case notPermitted(endpoint: String, reason: String)
    /// What was asked for was compacted away.
    case compacted
    /// An answer that does not have the form of etcd's answers.
    case malformed(endpoint: String, reason: String)
    /// An answer of more than 64 MiB.
    case tooLong(endpoint: String)
    /// The vault is in no circle.
    case noCircle
    /// No error: the carrier has to begin again, because the vault wants other ranges, or something was compacted, lost
    /// or decided otherwise.
    case beginAgain

    package var description: String {
        switch self {
        case .unreachable(let endpoint, let reason): "\(endpoint) cannot be reached: \(reason)"
        case .unavailable(let endpoint, let reason):
            reason.contains("database space exceeded")
                ? "\(endpoint) has no space left (\(reason)): everything waits in the vault until an operator compacts "
                    + "and defragments etcd, and ends the alarm with `etcdctl alarm disarm`"
                : "\(endpoint) cannot answer the request now: \(reason)"
        case .notPermitted(let endpoint, let reason):
            "\(endpoint) refuses the request: \(reason)"
                + (reason.contains("permission denied")
                    ? "; the user needs the right to read and write the circle's keys"
                    : reason.contains("CommonName")
                        ? "; make the client certificate without a common name, and name a user with --user" : "")
        case .compacted: "the revision was compacted"
        case .malformed(let endpoint, let reason): "\(endpoint) gives an answer that is not etcd's: \(reason)"
        case .tooLong(let endpoint): "\(endpoint) sends an answer of more than 64 MiB: somebody else writes to etcd"
        case .noCircle: "the vault is in no circle; make one with `keychain circle create`"
        case .beginAgain: "the carrier begins again"
        }
    }
}
#endif
