/// The open streams of a session, by identifier.
///
/// Asked for several times with each frame. Identifiers only grow (RFC 9113, 5.1.1), so that what is added stays in
/// order, and a search by halves is a tenth of what hashing them costs.
struct HTTP2Streams<Stream: HTTP2Stream> {
  private var identifiers: [Int32] = []
  private(set) var all: [Stream] = []

  var count: Int { identifiers.count }

  subscript(id: Int32) -> Stream? {
    let place = place(of: id)
    return place < identifiers.count && identifiers[place] == id ? all[place] : nil
  }

  /// Adds one; one that has its identifier makes room.
  mutating func insert(_ stream: consuming Stream) {
    let place = place(of: stream.id)
    if place == identifiers.count {
      identifiers.append(stream.id)
      all.append(stream)
    } else if identifiers[place] == stream.id {
      all[place] = stream
    } else {
      identifiers.insert(stream.id, at: place)
      all.insert(stream, at: place)
    }
  }

  mutating func remove(_ id: Int32) -> Stream? {
    let place = place(of: id)
    guard place < identifiers.count, identifiers[place] == id else { return nil }
    identifiers.remove(at: place)
    return all.remove(at: place)
  }

  /// Takes all of them out.
  mutating func removeAll() -> [Stream] {
    defer { self = HTTP2Streams() }
    return all
  }

  /// The first place whose identifier is not smaller.
  private func place(of id: Int32) -> Int {
    // Mostly the newest, or a new one after it.
    guard let last = identifiers.last, id <= last else { return identifiers.count }
    var (low, high) = (0, identifiers.count)
    while low < high {
      let middle = (low + high) / 2
      if identifiers[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
