/// Why conformance cases could not be read or run.
public enum ConformanceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file is not there or cannot be read; what the system says about it.
    case unreadableFile(path: String, reason: String)
    /// The file is not one of conformance cases, or one of its cases is not well-formed.
    case malformedFile(String)

    /// What happened and on what.
    public var description: String {
        switch self {
        case .unreadableFile(let path, let reason): "cannot read \(path): \(reason)"
        case .malformedFile(let reason): "not a file of conformance cases: \(reason)"
        }
    }
}
