print("cordon")
