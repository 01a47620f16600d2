import SystemLibraries

/// The list of names below which anybody can register a domain, such as `co.uk` (publicsuffix.org).
package enum PublicSuffixes {
    private typealias Load = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?
    private typealias IsSuffix = @convention(c) (OpaquePointer?, UnsafePointer<CChar>, Int32) -> Int32

    /// libpsl with the newer one of the list that it was built with and the system's (psl_latest(3)).
    private struct Library: Sendable {
        // Safe to share between threads: the list is loaded once, never changed and never freed, and
        // psl_is_public_suffix2 takes it as const (libpsl.h).
        nonisolated(unsafe) let list: OpaquePointer
        let isSuffix: IsSuffix

        init?() {
            guard let library = try? SystemLibrary("libpsl.so.5", provides: "the list of public suffixes"),
                let load = try? library.function("psl_latest", as: Load.self),
                let isSuffix = try? library.function("psl_is_public_suffix2", as: IsSuffix.self), let list = load(nil)
            else { return nil }
            (self.list, self.isSuffix) = (list, isSuffix)
        }
    }

    private static let library = Library()

    /// Returns whether a registry gives out the names below `name`; false for every name where libpsl is missing.
    ///
    /// Names of companies that let others use names below theirs, such as `github.io`, are none here: these companies
    /// have certificates for all those names.
    static func contains(_ name: String) -> Bool {
        // PSL_TYPE_ICANN and PSL_TYPE_NO_STAR_RULE (libpsl.h): no unknown name of a single label.
        library.map { $0.isSuffix($0.list, name, 1 | 4) == 1 } ?? false
    }

    /// Returns whether the names below `name` may belong to different people: a registry gives them out, or a company
    /// such as that of `github.io`. A name of one label that no list has is such a name, too. Where libpsl is missing,
    /// every name is.
    package static func isShared(_ name: String) -> Bool {
        // PSL_TYPE_ICANN and PSL_TYPE_PRIVATE (libpsl.h).
        library.map { $0.isSuffix($0.list, name, 1 | 2) == 1 } ?? true
    }
}
