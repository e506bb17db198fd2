"""A process that waits to be told what to do: it reads lines from stdin, and answers each with a line `NAME NUMBER`. Many can start side
by side and then be asked one at a time, in turns, so that what is compared is measured within the same second."""
import os
import re
import signal
import subprocess
import tempfile
import threading


class Program:
    def __init__(self, command, seconds, more=None):
        """seconds: the longest that one answer may take. more: environment."""
        self.seconds, self.errors = seconds, tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        start_new_session=True, env=dict(os.environ, **(more or {})))

    def ask(self, line):
        try:
            self.process.stdin.write(line + '\n')
            self.process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError(self.last_words()) from None

    def answer(self):
        """To the line that was asked first of those without one."""
        watch = threading.Timer(self.seconds, os.killpg, (self.process.pid, signal.SIGKILL))
        watch.start()
        try:
            for line in self.process.stdout:
                found = re.match(r'\w+ ([\d.]+)$', line)
                if found:
                    return float(found.group(1))
        finally:
            watch.cancel()
        raise RuntimeError(self.last_words())

    def told(self, line):
        self.ask(line)
        return self.answer()

    def last_words(self):
        self.end()
        self.errors.seek(0)
        own = [line.strip() for line in self.errors if line.strip() and not line.startswith('leat: ')]
        return own[-1] if own else 'status %d' % self.process.returncode

    def close(self):
        """It ends then, by and by."""
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def end(self):
        """What it leaves behind is whole then."""
        try:
            self.close()
            self.process.wait(self.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def end_all(programs):
    """Side by side: to end takes a process with CUDA up to a second."""
    for program in programs:
        program.close()
    for program in programs:
        program.end()
