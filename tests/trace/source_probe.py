"""Shared by the tests and measurements of source lines: the probe's interface, and a reader of its records."""

import ctypes
import struct
import sys

STRING, SOURCE, NOTE = 1, 7, 21  # enum le_trace_kind
PYTHON, NATIVE = 1, 2  # enum le_source_kinds
MOST_FRAMES = 32


class Probe:
    def __init__(self, path, kinds=PYTHON):
        library = ctypes.CDLL(path)
        library.probe_new.restype = ctypes.c_void_p
        library.probe_free.argtypes = [ctypes.c_void_p]
        library.probe_language.argtypes = [ctypes.c_void_p]
        library.probe_language.restype = ctypes.c_char_p
        library.probe_capture.argtypes = [ctypes.c_void_p]
        self.callback_type = ctypes.CFUNCTYPE(None)
        library.probe_capture_and_call.argtypes = [ctypes.c_void_p, self.callback_type]
        library.probe_capture_ns.argtypes = [ctypes.c_void_p, ctypes.c_int]
        library.probe_capture_ns.restype = ctypes.c_double
        library.probe_take.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        library.probe_take.restype = ctypes.c_size_t
        self.library = library
        self.probe = library.probe_new(kinds)
        self.texts, self.sources, self.notes = {0: None}, {}, []
        self.capture = library.probe_capture
        self.capture_ns = library.probe_capture_ns

    def language(self):
        return self.library.probe_language(self.probe)

    def take(self, most_bytes=1 << 16):
        """Reads all new records, and checks that references follow what they refer to."""
        buffer = ctypes.create_string_buffer(most_bytes)
        while True:
            length = self.library.probe_take(self.probe, buffer, most_bytes)
            if not length:
                return
            self.read(buffer.raw[:length])

    def read(self, records):
        at = 0
        while at < len(records):
            kind, _, size = struct.unpack_from("<HHI", records, at)
            assert size % 8 == 0 and at + size <= len(records), "not a whole record"
            body = records[at + 8 : at + size]
            if kind == STRING:
                number, length = struct.unpack_from("<II", body)
                assert number not in self.texts, "a text told twice"
                self.texts[number] = body[8 : 8 + length].decode()
            elif kind == SOURCE:
                number, parent, function, file, line, language = struct.unpack_from("<6I", body)
                assert number not in self.sources, "a source told twice"
                assert parent == 0 or parent in self.sources, "a parent that comes later"
                self.sources[number] = (parent, self.texts[function], self.texts[file], line, language)
            elif kind == NOTE:
                self.notes.append(self.texts[struct.unpack_from("<I", body)[0]])
            else:
                raise AssertionError("a record of kind %d" % kind)
            at += size

    def chain(self, number):
        """(function, file, line) of each frame, innermost first."""
        self.take()
        places = []
        while number:
            number, function, file, line, _ = self.sources[number]
            places.append((function, file, line))
        return places

    def free(self):
        self.library.probe_free(self.probe)


def frames(frame):
    """The same, according to the interpreter."""
    places = []
    while frame and len(places) < MOST_FRAMES:
        code = frame.f_code
        name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
        places.append((name, code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return places
