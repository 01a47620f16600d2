import Bytes
import DatabasePages

/// The form of this library (Documentation/Specify/Formats/Databases.md).
struct SealedForm: PageForm {
    let key: SecretBytes
    /// The id for a database that is created; nil for a random one.
    let creating: DatabaseID?

    var reserved: Int { PageGeometry.reserved }

    func isSame(as other: any PageForm) -> Bool { (other as? SealedForm)?.key == key }

    func store(in file: OpenFile) -> any PageStore { SealedStore(file, self) }
}
