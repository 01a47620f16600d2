import Foundation
import KeychainServices
import Testing

@Suite struct AccessControlTests {
    private func make(
        _ flags: SecAccessControlCreateFlags, _ protection: CFTypeRef = kSecAttrAccessibleWhenUnlocked
    ) -> (control: SecAccessControl?, code: Int?) {
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(nil, protection, flags, &error)
        return (control, error.map { CFErrorGetCode($0.takeRetainedValue()) })
    }

    @Test(
        arguments: [
            [], .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and,
            .privateKeyUsage, .applicationPassword, [.biometryAny, .or, .devicePasscode],
            [.biometryAny, .devicePasscode], [.userPresence, .applicationPassword],
            [.userPresence, .privateKeyUsage, .applicationPassword], [.biometryCurrentSet, .and, .applicationPassword],
        ] as [SecAccessControlCreateFlags])
    func takes(_ flags: SecAccessControlCreateFlags) {
        let made = make(flags)
        #expect(made.control != nil && made.code == nil)
    }

    @Test(
        arguments: [
            [.or, .and], [.biometryAny, .biometryCurrentSet], [.userPresence, .biometryAny], [.userPresence, .or],
            [.userPresence, .and], [.userPresence, .devicePasscode], [.userPresence, .companion],
            // Bits without a meaning, as another version of the flags may have.
            SecAccessControlCreateFlags(rawValue: 1 << 2),
            [.biometryAny, SecAccessControlCreateFlags(rawValue: 1 << 20)],
            SecAccessControlCreateFlags(rawValue: 1 << 40),
        ] as [SecAccessControlCreateFlags])
    func refuses(_ flags: SecAccessControlCreateFlags) {
        let made = make(flags)
        #expect(made.control == nil && made.code == -50)
    }

    @Test func refusesWhatIsNoProtection() {
        for protection in ["nope" as NSString, "" as NSString, NSNumber(value: 1), NSData()] as [AnyObject] {
            let made = make([], protection)
            #expect(made.control == nil && made.code == -50)
        }
    }

    @Test func equalityIsByProtectionAndFlags() throws {
        let one = try #require(make(.biometryAny).control)
        let same = try #require(make(.touchIDAny).control)
        let other = try #require(make(.devicePasscode).control)
        let elsewhere = try #require(make(.biometryAny, kSecAttrAccessibleAfterFirstUnlock).control)
        #expect(one == same && one.hashValue == same.hashValue && CFEqual(one, same))
        #expect(one != other && one != elsewhere)
        #expect(CFGetTypeID(one) == SecAccessControlGetTypeID())
        #expect(SecAccessControlGetTypeID() != CFDictionaryGetTypeID())
    }
}
