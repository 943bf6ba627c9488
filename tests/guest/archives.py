"""Archives that nobody honest would send, and what is said of them."""

import tarfile
from collections.abc import Iterator
from io import BytesIO

END = bytes(1024)


def member(name: str, kind: bytes = tarfile.REGTYPE, data: bytes = b"", **fields: object) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    header = info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    return header + data + bytes(-len(data) % 512)


def link(name: str, target: str) -> bytes:
    return member(name, tarfile.SYMTYPE, linkname=target)


def folder(name: str) -> bytes:
    return member(name, tarfile.DIRTYPE)


def described(records: bytes, entry: bytes) -> bytes:
    return member("pax", tarfile.XHDTYPE, records) + entry


def compressed() -> bytes:
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        info = tarfile.TarInfo("zeros")
        info.size = 64 << 20
        archive.addfile(info, BytesIO(bytes(64 << 20)))
    return packed.getvalue()


UP = folder("a") + folder("a/b")
HOSTILE: dict[str, tuple[bytes, str]] = {
    "absolute": (member("/etc/passwd", data=b"x"), "absolute"),
    "up": (member("../x"), "plain path"),
    "up inside": (folder("a") + member("a/../../x"), "plain path"),
    "dot": (member("./x"), "plain path"),
    "nothing": (member(""), "plain path"),
    "double slash": (folder("a") + member("a//x"), "plain path"),
    "nul": (described(b"12 path=a\0b\n", member("x")), "plain path"),
    "long name": (member("x" * 256), "too long"),
    "long path": (member("/".join(["x" * 250] * 20)), "too long"),
    "deep": (b"".join(folder("d/" * depth + "d") for depth in range(33)), "deep"),
    "link to root": (link("x", "/etc"), "lead out"),
    "link up": (link("x", "../y"), "lead out"),
    "link up from below": (UP + link("a/b/x", "../../../y"), "lead out"),
    "link down and up": (link("x", "a/../../y"), "lead out"),
    "link by another link": (UP + link("a/b/x", "../.."), ""),
    "link through a link": (UP + link("a/b/top", "../..") + link("x", "a/b/top/../y"), "lead out"),
    "link to nothing": (link("x", ""), "nothing that can exist"),
    "file behind a link": (folder("a") + link("x", "a") + member("x/y"), "no directory"),
    "file over a link": (link("x", "y") + member("x", data=b"1"), "twice"),
    "file below a file": (member("x") + member("x/y"), "no directory"),
    "file without a directory": (member("a/b"), "no directory"),
    "twice": (member("x") + member("x"), "twice"),
    "directory twice": (folder("x") + folder("x"), "twice"),
    "hard link": (member("x") + member("y", tarfile.LNKTYPE, linkname="x"), "neither"),
    "hard link out": (member("y", tarfile.LNKTYPE, linkname="/etc/shadow"), "neither"),
    "fifo": (member("x", tarfile.FIFOTYPE), "neither"),
    "character device": (member("x", tarfile.CHRTYPE, devmajor=1, devminor=5), "neither"),
    "block device": (member("x", tarfile.BLKTYPE, devmajor=8, devminor=0), "neither"),
    "sparse": (member("x", tarfile.GNUTYPE_SPARSE), "neither"),
    "long name of GNU": (member("x", tarfile.GNUTYPE_LONGNAME, b"y"), "neither"),
    "global description": (member("x", tarfile.XGLTYPE, b"10 path=y\n"), "neither"),
    "huge description": (member("x", tarfile.XHDTYPE, bytes(20_000)), "too long"),
    "endless description": (member("x", tarfile.XHDTYPE, size=1 << 32), "too long"),
    "broken description": (described(b"99 path=y\n", member("x")), "broken"),
    "described twice": (described(b"10 path=y\n", described(b"10 path=z\n", member("x"))), "does not come"),
    "described end": (member("x", tarfile.XHDTYPE, b"10 path=y\n"), "does not come"),
    "size of a word": (described(b"10 size=y\n", member("x")), "size"),
    "a tebibyte": (described(b"22 size=1099511627776\n", member("x")), "more than"),
    "cut short": (member("x", size=5000), "too early"),
    "no tar": (b"GIF89a" + bytes(range(256)) * 4, "not a tar"),
    "compressed": (compressed(), "not a tar"),
    "more after the end": (member("x") + END + member("y"), "after its end"),
    "many": (b"".join(member(str(number)) for number in range(101)), "entries"),
}


def bomb(count: int) -> Iterator[bytes]:
    for number in range(count):
        yield member(f"{number:06}" + "-" * 100, data=b"x")
    yield END
