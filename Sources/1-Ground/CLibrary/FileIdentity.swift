/// Identifies an existing file of a file system. A name can lead to another file meanwhile.
package struct FileIdentity: Hashable, Sendable {
    private let device: dev_t
    private let number: ino_t

    package init(_ information: stat) { (device, number) = (information.st_dev, information.st_ino) }
}
