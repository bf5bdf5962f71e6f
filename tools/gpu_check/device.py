"""Which GPU is there, asked of the driver itself: libcuda, without the CUDA toolkit. Run as a program, it prints the answer."""
import ctypes
import json
import sys

_MAJOR, _MINOR = 75, 76   # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
WANTED = (9, 0)


def _name_of(cuda, code):
    text = ctypes.c_char_p()
    if cuda.cuGetErrorName(code, ctypes.byref(text)) != 0 or text.value is None:
        return f"error {code}"
    return text.value.decode()


def _facts(cuda, ordinal):
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    name, uuid = ctypes.create_string_buffer(128), (ctypes.c_ubyte * 16)()
    calls = (lambda: cuda.cuDeviceGet(ctypes.byref(device), ordinal),
             lambda: cuda.cuDeviceGetName(name, 128, device),
             lambda: cuda.cuDeviceGetAttribute(ctypes.byref(major), _MAJOR, device),
             lambda: cuda.cuDeviceGetAttribute(ctypes.byref(minor), _MINOR, device),
             lambda: cuda.cuDeviceGetUuid(ctypes.byref(uuid), device))
    for call in calls:
        code = call()
        if code != 0:
            return {"error": _name_of(cuda, code)}
    digits = bytes(uuid).hex()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return {"name": name.value.decode("utf-8", "replace"), "capability": [major.value, minor.value],
            "uuid": "GPU-" + "-".join(parts)}


def find():
    """{"devices": [...]} or {"error": why there is none}."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return {"error": str(error)}
    count = ctypes.c_int()
    for code in (cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(count))):
        if code != 0:
            return {"error": _name_of(cuda, code)}
    return {"devices": [_facts(cuda, i) for i in range(count.value)]}


def choose(found):
    """(device, "") or (None, why not) from what `find` returned."""
    if "error" in found:
        return None, f"no GPU: {found['error']}"
    known = [d for d in found["devices"] if "capability" in d]
    for device in known:
        if tuple(device["capability"]) == WANTED:
            return device, ""
    if not known:
        return None, "no GPU: " + "; ".join(d.get("error", "") for d in found["devices"]) if found["devices"] else "no GPU"
    others = ", ".join(f"{d['name']} ({d['capability'][0]}.{d['capability'][1]})" for d in known)
    return None, f"no GPU of compute capability 9.0 (Hopper): {others}"


if __name__ == "__main__":
    print(json.dumps(find()))
    sys.exit(0)
