// Transformer.swift
import Foundation
import SealedFields

/// Seals a text and opens it again, as a store that takes a transformer does.
func roundTrip(_ text: String) -> String? {
    let name = SealedValueTransformer.Name("NoteTransformer")
    let keys = FieldKeys("com.example.notes")
    SealedValueTransformer.setValueTransformer(SealedValueTransformer(keys: keys, for: name), forName: name)

    let transformer = SealedValueTransformer(forName: name)
    let sealed = transformer?.transformedValue(text)
    return transformer?.reverseTransformedValue(sealed) as? String
}
