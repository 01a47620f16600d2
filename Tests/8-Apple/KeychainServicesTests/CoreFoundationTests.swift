import Foundation
import KeychainServices
import Testing

@Suite struct CoreFoundationTests {
    @Test func aBooleanIsNoNumber() {
        let booleans: [AnyObject] = [kCFBooleanTrue, kCFBooleanFalse, NSNumber(value: true), true as NSNumber]
        for boolean in booleans { #expect(CFGetTypeID(boolean) == CFBooleanGetTypeID()) }
        let numbers: [AnyObject] = [
            NSNumber(value: 1), NSNumber(value: 0), NSNumber(value: Int8(1)), NSNumber(value: 1.0), 5 as NSNumber,
        ]
        for number in numbers { #expect(CFGetTypeID(number) == CFNumberGetTypeID()) }
        #expect(CFBooleanGetValue(kCFBooleanTrue) && !CFBooleanGetValue(kCFBooleanFalse))
    }

    @Test func typesAreTold() {
        let types: [(AnyObject, CFTypeID)] = [
            ("a" as NSString, CFStringGetTypeID()), (NSMutableString(string: ""), CFStringGetTypeID()),
            (NSData(), CFDataGetTypeID()), (NSMutableData(), CFDataGetTypeID()),
            (NSDictionary(), CFDictionaryGetTypeID()), (NSMutableDictionary(), CFDictionaryGetTypeID()),
            (NSArray(), CFArrayGetTypeID()), (NSSet(), CFSetGetTypeID()), (NSDate(), CFDateGetTypeID()),
            (NSNull(), CFNullGetTypeID()), (NSError(domain: "d", code: 1), CFErrorGetTypeID()),
            (NSURL(fileURLWithPath: "/"), CFURLGetTypeID()), (kCFBooleanTrue, CFBooleanGetTypeID()),
            (NSNumber(value: 2), CFNumberGetTypeID()),
        ]
        for (object, type) in types { #expect(CFGetTypeID(object) == type) }
        #expect(Set(types.map(\.1)).count == 11)
    }

    @Test func equality() {
        #expect(CFEqual("a" as NSString, NSMutableString(string: "a")))
        #expect(CFHash("a" as NSString) == CFHash(NSMutableString(string: "a")))
        #expect(!CFEqual("a" as NSString, "b" as NSString))
        #expect(!CFEqual("a" as NSString, NSData()))
        #expect(!CFEqual(kCFBooleanTrue, NSNumber(value: 1)))
        #expect(CFEqual(NSNumber(value: 1), NSNumber(value: 1.0)))
    }

    @Test func errorsAreTakenApart() {
        let error = NSError(
            domain: "d", code: -7,
            userInfo: [NSLocalizedDescriptionKey: "what", NSLocalizedFailureReasonErrorKey: "why"])
        #expect(CFErrorGetDomain(error) == "d" && CFErrorGetCode(error) == -7)
        #expect(CFErrorCopyDescription(error) == "what" && CFErrorCopyFailureReason(error) == "why")
        #expect(CFErrorCopyUserInfo(error)?.count == 2)
    }

    @Test func errorsAreMade() {
        let facts = [
            kCFErrorLocalizedDescriptionKey as String: "what", kCFErrorLocalizedFailureReasonKey as String: "why",
        ]
        let error = CFErrorCreate(
            kCFAllocatorDefault, kCFErrorDomainOSStatus, Int(errSecAuthFailed), facts as CFDictionary)
        #expect(CFErrorGetDomain(error) == kCFErrorDomainOSStatus && CFErrorGetCode(error) == -25293)
        #expect(CFErrorCopyDescription(error) == "what" && CFErrorCopyFailureReason(error) == "why")
        #expect((error as (any Error)?)?.localizedDescription == "what")
        #expect(CFErrorCopyUserInfo(CFErrorCreate(nil, kCFErrorDomainPOSIX, 2, nil))?.count == 0)
        #expect(CFErrorCreate(nil, nil, 1, nil) == nil)
        #expect(kCFErrorDomainOSStatus as String == NSOSStatusErrorDomain)
        #expect(kCFErrorDomainPOSIX as String == NSPOSIXErrorDomain)
        #expect(kCFErrorDomainCocoa as String == NSCocoaErrorDomain)
    }

    @Test func dataOverMemoryOfSomebodyElse() {
        var bytes: [UInt8] = [1, 2, 3]
        bytes.withUnsafeMutableBufferPointer { memory in
            let data = CFDataCreateWithBytesNoCopy(nil, memory.baseAddress, memory.count, kCFAllocatorNull)
            #expect(CFDataGetLength(data) == 3 && CFDataGetBytePtr(data) == UnsafePointer(memory.baseAddress))
            memory[1] = 7
            #expect(CFDataGetBytePtr(data)?[1] == 7)
        }
        #expect(CFDataGetLength(CFDataCreateWithBytesNoCopy(nil, nil, 0, kCFAllocatorNull)) == 0)
        #expect(CFDataGetLength(nil) == 0 && CFDataGetBytePtr(nil) == nil)
        #expect(CFArrayGetCount(["a", "b"] as NSArray) == 2 && CFArrayGetCount(nil) == 0)
    }

    @Test func booleansBehindAPointer() {
        var boolean: DarwinBoolean = false
        withUnsafeMutablePointer(to: &boolean) { $0.pointee = DarwinBoolean(true) }
        #expect(boolean.boolValue && boolean == true && boolean.description == "true")
    }

    @Test func keyValueCodingOfADictionary() {
        let dictionary = NSMutableDictionary()
        dictionary.setValue(1, forKey: "a")
        #expect(dictionary["a"] as? Int == 1)
        dictionary.setValue(nil, forKey: "a")
        #expect(dictionary.count == 0)
    }
}
