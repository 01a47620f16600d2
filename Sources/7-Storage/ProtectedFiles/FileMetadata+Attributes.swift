import CLibrary
import SystemLibraries

extension FileMetadata {
    /// An extended attribute. Access-control lists are among them.
    typealias Attribute = (name: String, value: [UInt8])

    static func attributes(of descriptor: Int32, path: String) throws(SealedFileError) -> [Attribute] {
        let names: [[UInt8]]
        do throws(ExtendedAttributes.Failure) {
            names = try ExtendedAttributes.names(of: .descriptor(descriptor))
        } catch {
            if error.errno == ENOTSUP { return [] }
            throw .last("read the extended attributes of", path, errno: error.errno)
        }
        var attributes: [Attribute] = []
        for name in names.map({ String(decoding: $0, as: UTF8.self) }) {
            do throws(ExtendedAttributes.Failure) {
                attributes.append((name, try ExtendedAttributes.value(name, of: .descriptor(descriptor))))
            } catch {
                throw .last("read the extended attribute '\(name)' of", path, errno: error.errno)
            }
        }
        return attributes
    }

    static func write(
        _ attributes: [Attribute], _ descriptor: Int32, path: String
    ) throws(SealedFileError) {
        for (name, value) in attributes {
            do throws(ExtendedAttributes.Failure) {
                try ExtendedAttributes.set(name, to: value, of: .descriptor(descriptor))
            } catch {
                throw .last("keep the extended attribute '\(name)' of", path, errno: error.errno)
            }
        }
    }
}
