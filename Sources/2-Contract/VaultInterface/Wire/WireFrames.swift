import Frames

// The fields of the vault's protocol are those of every frame.

package typealias WireBuffer = FrameBuffer
package typealias WireReader = FrameReader
package typealias WireError = FrameError
