import ArgumentParser
import KeychainModel

/// A custom attribute on the command line: `NAME=VALUE`.
package struct CustomAttribute: ExpressibleByArgument {
    package let name: String
    package let value: String

    package init?(argument: String) {
        guard let sign = argument.firstIndex(of: "="), sign > argument.startIndex else { return nil }
        name = String(argument[..<sign])
        value = String(argument[argument.index(after: sign)...])
    }
}

extension Sequence<CustomAttribute> {
    /// The attributes by name.
    ///
    /// - Throws: `ValidationError` for a name that is there twice, and for attributes that no item can have.
    package func dictionary() throws -> CustomAttributes {
        var attributes: CustomAttributes = [:]
        for attribute in self {
            guard attributes.updateValue(attribute.value, forKey: attribute.name) == nil else {
                throw ValidationError("--attribute names '\(attribute.name)' twice")
            }
        }
        if let problem = attributes.problem { throw ValidationError("--attribute: \(problem)") }
        return attributes
    }
}
