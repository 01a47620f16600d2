import CLibrary
import SystemLibraries

/// An extended attribute of a file, with text.
struct ExtendedAttribute {
    /// Whether backups take the file, `true` or `false` (freedesktop.org, Common Extended Attributes).
    static let robotsBackup = ExtendedAttribute(name: "user.xdg.robots.backup")

    let name: String

    /// The value as text; nil if the file has no such attribute.
    func value(_ path: String) throws -> String? {
        do throws(ExtendedAttributes.Failure) {
            return String(decoding: try ExtendedAttributes.value(name, of: .path(path)), as: UTF8.self)
        } catch {
            if error.errno == ENODATA { return nil }
            throw failure("read", path, error)
        }
    }

    func set(_ value: String, _ path: String) throws {
        do throws(ExtendedAttributes.Failure) {
            try ExtendedAttributes.set(name, to: Array(value.utf8), of: .path(path))
        } catch {
            throw failure("set", path, error)
        }
    }

    func remove(_ path: String) throws {
        do throws(ExtendedAttributes.Failure) {
            try ExtendedAttributes.remove(name, of: .path(path))
        } catch {
            guard error.errno == ENODATA else { throw failure("remove", path, error) }
        }
    }

    private func failure(
        _ operation: String, _ path: String, _ error: ExtendedAttributes.Failure
    ) -> ProtectedFileError {
        ProtectedFileError("\(operation) the attribute '\(name)' of", path, errno: error.errno)
    }
}
