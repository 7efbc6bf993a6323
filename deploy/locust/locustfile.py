"""Loads a TLS server from several machines: Locust distributes, keymark's own client loads.

Master and workers are started as Locust's users know them, each with the address of the server to load:

    locust -f locustfile.py --master --connect www.example.org:443 --users 60 --spawn-rate 20 --run-time 60s --headless
    locust -f locustfile.py --worker --master-host MASTER --connect www.example.org:443

Each worker runs one `keymark tls bench --connect … --tell` with its share of the users, or of `--rate`, and passes on what
that tells of each second. The master notes when a line came and gives all to `keymark tls bench --connect … --told`,
which probes the server before the load, and afterwards adds histograms, saves one record and prints its tables.

A worker loads the address that *it* was started with: of a master it takes numbers, and never an address or a command.
"""

import json
import logging
import math
import signal
import time

import gevent
from gevent import subprocess
from gevent.event import Event
from locust import User, events, task
from locust.runners import STATE_MISSING, MasterRunner, WorkerRunner

LOG = logging.getLogger("keymark")
# What a master says to a worker, and a worker to its master.
LOAD, STOP, TOLD = "keymark_load", "keymark_stop", "keymark_told"
# Seconds that workers get for their last line.
PATIENCE = 15
# More users or arrivals per second than one worker's client could have.
MOST = 1_000_000
# So much longer than asked a client would load if nobody stopped it; a day where no end was asked for.
SPARE, LONGEST = 30, 86_400


class KeymarkUser(User):
    """Counts as a user for Locust. Its transactions are those of keymark's client."""

    @task
    def idle(self):
        gevent.sleep(LONGEST)


@events.init_command_line_parser.add_listener
def options(parser):
    group = parser.add_argument_group("keymark", "What is loaded. Give the same to the master and to each worker.")
    group.add_argument("--connect", metavar="HOST:PORT", default="", help="the server", env_var="KEYMARK_CONNECT")
    group.add_argument("--rate", type=float, default=0, help="open loop: arrivals per second of all workers together")
    group.add_argument("--kex", default="x25519", help="key exchange")
    group.add_argument("--path", default="/", help="what is requested")
    group.add_argument("--server-name", default="", help="the server's name, if that is not its host")
    group.add_argument("--authority", default="", help="PEM file of the authority that must have certified it")
    group.add_argument("--i-own-this-server", action="store_true", help="load a server that is not on this machine")
    group.add_argument("--allow-weak", action="store_true", help="accept keys of 1024 bits")
    group.add_argument("--client-threads", default="", help="threads of this machine's client")
    group.add_argument("--keymark", default="keymark", help="the program", env_var="KEYMARK")


@events.init.add_listener
def begin(environment, **_):
    """Options are read now: a master's would replace a worker's later."""
    chosen = environment.parsed_options
    if not chosen.connect:
        LOG.error("--connect HOST:PORT is missing: which server?")
        environment.runner.quit()
    elif isinstance(environment.runner, MasterRunner):
        Master(environment, command(chosen))
    elif isinstance(environment.runner, WorkerRunner):
        Worker(environment, command(chosen))
    else:
        LOG.error("start it with --master or --worker: one machine alone needs 'keymark tls bench --connect', not Locust")
        environment.runner.quit()


def command(chosen):
    """What is the same for all of keymark's processes."""
    words = [chosen.keymark, "tls", "bench", "--connect", chosen.connect, "--kex", chosen.kex, "--path", chosen.path]
    for name in ("server_name", "authority", "client_threads"):
        if value := getattr(chosen, name):
            words += ["--" + name.replace("_", "-"), value]
    for name in ("i_own_this_server", "allow_weak"):
        if getattr(chosen, name):
            words.append("--" + name.replace("_", "-"))
    return words


def demand(users, rate):
    return ["--rate", f"{rate:.6g}/s"] if rate else ["--workers", str(users)]


class Master:
    """Divides a load, and writes down what its clients tell."""

    def __init__(self, environment, words):
        self.environment, self.words = environment, words
        self.keymark, self.left, self.names = None, {}, {}
        self.all_ended = Event()
        environment.runner.register_message(TOLD, self.told)
        events.test_start.add_listener(self.start)
        events.test_stopping.add_listener(self.stop)

    def start(self, **_):
        runner, rate = self.environment.runner, self.environment.parsed_options.rate
        users = runner.target_user_count
        clients = sorted(client.id for client in runner.clients.ready)
        if not rate:
            clients = clients[:users]
        LOG.info("%s from %d workers", f"{rate:g}/s" if rate else f"{users} users", len(clients))
        # Of worker n, the run's own and n: the record has the run's.
        seed = time.time_ns() // 1000
        self.keymark = subprocess.Popen(
            [*self.words, *demand(users, rate), "--seed", str(seed), "--told", "/dev/stdin"], stdin=subprocess.PIPE, start_new_session=True
        )
        self.left, self.names = {}, {}
        self.all_ended.clear()
        ramp = users / runner.spawn_rate if runner.spawn_rate else 0
        seconds = self.environment.parsed_options.run_time or LONGEST
        for number, client in enumerate(clients):
            share = {
                "users": users // len(clients) + (number < users % len(clients)),
                "rate": rate / len(clients),
                "ramp": ramp,
                "seconds": seconds + SPARE,
                "seed": seed + runner.get_worker_index(client) + 1,
            }
            # No host's name: a record may be shown to anybody.
            self.names[client] = f"worker {runner.get_worker_index(client) + 1}"
            LOG.info("%s is %s, with %d users", self.names[client], client, share["users"])
            self.left[client] = "reported no end"
            runner.send_message(LOAD, share, client)

    def told(self, environment, msg, **_):
        client, data = msg.node_id, msg.data
        if client not in self.left or not isinstance(data, dict):
            return
        if "failed" in data:
            LOG.error("%s: %s", self.names[client], data["failed"])
            self.write(client, {"lost": f"its client failed: {data['failed']}"})
            self.environment.process_exit_code = 1
            del self.left[client]
        else:
            self.write(client, data)
            if "end" in data:
                del self.left[client]
        if not self.left:
            self.all_ended.set()

    def write(self, client, told):
        line = {"client": self.names[client], "at_ns": time.monotonic_ns(), "told": told}
        try:
            self.keymark.stdin.write(json.dumps(line).encode() + b"\n")
            self.keymark.stdin.flush()
        except OSError:
            # It has ended, and said why.
            self.environment.process_exit_code = 1

    def stop(self, **_):
        if not self.keymark:
            return
        keymark, clients = self.keymark, self.environment.runner.clients
        for client in self.left:
            self.environment.runner.send_message(STOP, None, client)
        if self.left:
            self.all_ended.wait(PATIENCE)
        for client, why in self.left.items():
            node = clients.get(client)
            gone = node is None or node.state == STATE_MISSING
            why = "its worker was lost" if gone else why
            self.write(client, {"lost": why})
            LOG.warning("%s: %s", self.names[client], why)
            self.environment.process_exit_code = 1
        keymark.stdin.close()
        if keymark.wait() != 0:
            self.environment.process_exit_code = 1
        self.keymark = None


class Worker:
    """Runs one client, and passes on what it tells."""

    def __init__(self, environment, words):
        self.environment, self.words = environment, words
        self.client = None
        environment.runner.register_message(LOAD, self.load, concurrent=True)
        environment.runner.register_message(STOP, self.stop)
        events.test_stopping.add_listener(self.stop)
        events.quitting.add_listener(self.stop)

    def load(self, environment, msg, **_):
        try:
            arguments = self.arguments(msg.data)
        except (TypeError, KeyError, ValueError) as error:
            return self.tell({"failed": f"the master asked for nonsense: {error}"})
        if self.client:
            return self.tell({"failed": "the master asked for two loads at once"})
        try:
            self.client = subprocess.Popen(
                [*self.words, *arguments, "--tell"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return self.tell({"failed": str(error)})
        client, ended = self.client, False
        for line in client.stdout:
            told = json.loads(line)
            ended = "end" in told
            self.tell(told)
            if "second" in told:
                self.show(told["second"]["second"])
        words = client.stderr.read().decode(errors="replace").strip()
        client.wait()
        self.client = None
        if not ended:
            self.tell({"failed": words or f"it ended with {client.returncode}"})

    @staticmethod
    def arguments(data):
        """Numbers alone, within bounds."""
        users, seconds = int(data["users"]), float(data["seconds"])
        rate, ramp = float(data["rate"]), float(data["ramp"])
        for number in (users, seconds, rate, ramp):
            if not (math.isfinite(number) and 0 <= number <= MOST):
                raise ValueError(f"{number} is out of range")
        words = demand(users, rate) + ["--case-time", f"{seconds:.3f}s", "--seed", str(int(data["seed"]))]
        return words + (["--ramp", f"{ramp:.3f}s"] if ramp and not rate else [])

    def stop(self, *_, **__):
        if self.client:
            self.client.send_signal(signal.SIGINT)

    def tell(self, told):
        self.environment.runner.send_message(TOLD, told)

    def show(self, second):
        """A second's counts for Locust's own page, which knows milliseconds. It is the record that counts."""
        stats = self.environment.stats
        entries = (stats.total, stats.get("transaction", "TLS"))
        now = int(time.time())
        for nanoseconds, count in second["whole"]:
            milliseconds = round(nanoseconds / 1e6)
            for entry in entries:
                entry.num_requests += count
                entry.num_reqs_per_sec[now] += count
                entry.last_request_timestamp = time.time()
                entry.total_response_time += milliseconds * count
                entry.response_times[milliseconds] += count
                entry.min_response_time = min(entry.min_response_time or milliseconds, milliseconds)
                entry.max_response_time = max(entry.max_response_time, milliseconds)
        for failure, count in second.get("failures", {}).items():
            for _ in range(count):
                stats.log_error("TLS", "transaction", failure)
            for entry in entries:
                entry.num_requests += count
