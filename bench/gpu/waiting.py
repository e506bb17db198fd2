"""A process that waits for requests: it reads lines from stdin and answers each with a line `NAME NUMBER`. Many such processes can start
together and then be asked one at a time, in turns, so that compared figures are measured within the same second."""
import os
import re
import signal
import subprocess
import tempfile
import threading


class Program:
    def __init__(self, command, seconds, more=None):
        """seconds: the maximum time of one answer. more: environment variables."""
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
        """Returns the answer to the earliest request that has none yet."""
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
        """The process then ends, without waiting for it."""
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def end(self):
        """Waits for the end; the files that it leaves are complete then."""
        try:
            self.close()
            self.process.wait(self.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def end_all(programs):
    """Ends all in parallel: a process with CUDA takes up to a second to end."""
    for program in programs:
        program.close()
    for program in programs:
        program.end()
