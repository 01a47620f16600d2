import KeychainModel
import KeychainServices

/// The class of an access control alone.
enum SecAccessControlWithoutConditions {
    static func of(_ control: SecAccessControl) -> SecAccessControl {
        SecAccessControl(AccessControl(protection: control.control.protection))
    }
}
