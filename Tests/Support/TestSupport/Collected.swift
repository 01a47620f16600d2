import Synchronization

/// The arguments of a callback, in order.
package final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    package init() {}

    package func append(_ element: Element) { elements.withLock { $0.append(element) } }

    package var all: [Element] { elements.withLock { $0 } }
}
