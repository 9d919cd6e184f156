print("apple-simulator")
