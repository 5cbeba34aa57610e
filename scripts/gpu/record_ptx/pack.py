"""Packs what `record.py` wrote for tests/emu/recorded/results.txt.

usage: pack.py --results FILE --forms CUBINS/forms.txt --out FILE

A result of which more than LONGEST bytes were recorded is cut there. Results are stored as the difference (exclusive
or) from that of an earlier form of the same length, `like=N` forms before among these, if that is shorter, and with
runs of zeros counted: a count of zeros, a count of other bytes, these bytes, and so on. Forms that stop the GPU stay as
they are.
"""
import argparse
import base64

LONGEST = 4096
LOOK_BACK = 60


def runs(data):
    """The bytes with counted runs of zeros. A single zero is cheaper among the others."""
    out, i = bytearray(), 0
    while i < len(data):
        start = i
        while i < len(data) and data[i] == 0 and i - start < 255:
            i += 1
        zeros, start = i - start, i
        while i < len(data) and i - start < 255 and any(data[i:i + 2]):
            i += 1
        out += bytes([zeros, i - start]) + data[start:i]
    return bytes(out)


def pack(data, earlier):
    """(how many forms back, or 0; the bytes), the shortest."""
    choices = [(runs(data), 0)] + [(runs(bytes(a ^ b for a, b in zip(data, other))), n + 1) for n, other in enumerate(earlier)]
    packed, back = min(choices, key=lambda c: len(c[0]))
    return back, packed


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--results", required=True)
    ap.add_argument("--forms", required=True)
    ap.add_argument("--out", required=True)
    o = ap.parse_args()
    with open(o.results) as f:
        lines = [line.split() for line in f]
    with open(o.forms) as f:
        pools = [line for line in f if line.startswith("pool ")]
    earlier, used = {}, set()
    with open(o.out, "w") as out:
        for words in lines:
            if words[0] != "form":
                if words[0] == "stops":
                    used.update(p for p in words[6:] if not p.startswith("map="))
                if words[0] != "pool":
                    out.write(" ".join(words) + "\n")
                continue
            data = base64.b64decode(words[-1])[:LONGEST]
            same = earlier.setdefault(len(data), [])
            back, packed = pack(data, same[:-LOOK_BACK - 1:-1])
            same.append(data)
            operands = words[6:words.index("=")]
            used.update(p for p in operands if not p.startswith("map="))
            like = [f"like={back}"] if back else []
            out.write(" ".join(words[:6] + operands + like + ["=", base64.b64encode(packed).decode()]) + "\n")
        out.writelines(p for p in pools if p.split(" ", 2)[1] in used)


if __name__ == "__main__":
    main()
