import Foundation

extension NSMutableDictionary {
    /// Sets the object for a key or, with nil, removes it.
    ///
    /// Key-value coding, from which programs for Apple systems have this method, does not exist here.
    public func setValue(_ value: Any?, forKey key: String) {
        if let value {
            setObject(value, forKey: key as NSString)
        } else {
            removeObject(forKey: key as NSString)
        }
    }
}
