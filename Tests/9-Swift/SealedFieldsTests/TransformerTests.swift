import Foundation
import GRDB
import KeychainTesting
import SealedFields
import Synchronization
import TestSupport
import Testing

@Suite struct TransformerTests {
    private final class Failures: Sendable {
        let codes = Mutex<[SealedFieldsError.Code]>([])
    }

    private func transformer(
        _ keys: FieldKeys, _ name: String = "Notes"
    ) -> (SealedValueTransformer, Failures) {
        let failures = Failures()
        let transformer = SealedValueTransformer(keys: keys, for: SealedValueTransformer.Name(name)) { error in
            failures.codes.withLock { $0.append(error.code) }
        }
        return (transformer, failures)
    }

    @Test func stringsAndData() throws {
        let (transformer, failures) = transformer(try NoteStore().keys)
        for text in ["Dear diary", "", "🔑"] {
            let sealed = try #require(transformer.transformedValue(text) as? Data)
            #expect(transformer.reverseTransformedValue(sealed) as? String == text)
            #expect(transformer.reverseTransformedValue(sealed as NSData) as? String == text)
            let data = Data(text.utf8)
            #expect(transformer.reverseTransformedValue(transformer.transformedValue(data)) as? Data == data)
            #expect(
                transformer.reverseTransformedValue(transformer.transformedValue(text as NSString)) as? String == text)
        }
        #expect(transformer.transformedValue(nil) == nil)
        #expect(transformer.reverseTransformedValue(nil) == nil)
        #expect(failures.codes.withLock { $0 }.isEmpty)
        #expect(SealedValueTransformer.allowsReverseTransformation())
        #expect(SealedValueTransformer.transformedValueClass() is NSData.Type)
    }

    @Test func failuresAreReported() throws {
        let store = try NoteStore()
        let (transformer, failures) = transformer(store.keys)
        let (other, _) = self.transformer(store.keys, "Others")
        let sealed = try other.seal("x")
        #expect(transformer.reverseTransformedValue(sealed) == nil)
        #expect(transformer.reverseTransformedValue("x") == nil)
        #expect(transformer.transformedValue(7) == nil)
        store.world.lock()
        #expect(transformer.transformedValue("x") == nil)
        #expect(failures.codes.withLock { $0 } == [.notAuthentic, .notSealed, .unencodableValue, .locked])
    }

    @Test func names() throws {
        let (transformer, _) = transformer(try NoteStore().keys)
        let name = SealedValueTransformer.Name("TransformerTests")
        SealedValueTransformer.setValueTransformer(transformer, forName: name)
        #expect(SealedValueTransformer(forName: name) === transformer)
        #expect(SealedValueTransformer.valueTransformerNames().contains(name))
        SealedValueTransformer.setValueTransformer(nil, forName: name)
        #expect(SealedValueTransformer(forName: name) == nil)
    }
}
