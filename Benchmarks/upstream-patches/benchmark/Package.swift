// swift-tools-version: 6.1
import Foundation
import PackageDescription

// A package of its own: the gateway is built without it. SWIFT_NIO is the path of a checkout of swift-nio.
guard let checkout = ProcessInfo.processInfo.environment["SWIFT_NIO"] else {
  fatalError("set SWIFT_NIO to the path of a checkout of swift-nio")
}

let package = Package(
  name: "channel-benchmark",
  dependencies: [.package(name: "swift-nio", path: checkout)],
  targets: [
    .executableTarget(
      name: "channel-benchmark",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ])
  ])
