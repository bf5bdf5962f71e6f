"""Workers whose sessions are opened over mTLS, and processes of several users. Running as another user needs root; without it these
tests are skipped."""
import os
import shutil
import subprocess
import unittest

import support
from support import Node, main, run, tls_files, tls_flags
from worker_support import Worker, WorkerCase, prompt, wait_until

# Users without a name: nothing on a machine belongs to them.
NODE_USER, A_USER, B_USER = 61001, 61002, 61003


class TlsCase(WorkerCase):
    """Nodes and workers that show certificates of one CA."""

    def setUp(self):
        super().setUp()
        self.ours = self.make_certificates("ours", "a", "b", "c", "admin")

    def start_node(self, **fields):
        node = Node(self, security=tls_files(self.ours, "server"), **fields)
        node.ctl_flags = tls_flags(self.ours, "admin")
        return self.start(node)

    def tls_worker(self, node, name, certificates=None, certificate=None):
        """A worker that shows `certificate` (default: its name) and trusts our CA."""
        security = tls_files(certificates or self.ours, certificate or name)
        security["tls"]["ca_file"] = f"{self.ours}/ca.pem"
        return Worker(self, name, node, cache={"node_grpc": node.grpc, "security": security})

    def check_reuse(self, first, *others):
        """What the first computes, each other one finds."""
        self.wait_connected(first, *others)
        self.assertEqual(self.ask(first, prompt(1, 2, 3)).span_tokens_reused, 0)
        first.wait_offers()
        for other in others:
            self.assertEqual(self.ask(other, prompt(3, 1)).span_tokens_reused, 200)

    def check_cacheless(self, worker, **values):
        """It is told why it gets no session, and answers all the same."""
        worker.wait_event("session_failed", **values)
        self.assertEqual(self.ask(worker, prompt(1, 2)).span_tokens_reused, 0)
        self.assertEqual(worker.health()["node"], "away")


class TlsWorkerTest(TlsCase):
    def test_workers_share_spans(self):
        node = self.start_node()
        a, b = (self.start(self.tls_worker(node, name)) for name in ("a", "b"))
        self.check_reuse(a, b)
        self.assertEqual({session["lane"] for session in node.status()["sessions"]}, {"same_user"})
        self.assertEqual(node.wait_event("admin_called", verb="OpenSession", peer="a").values["what"], "namespace , model tiny")

    def test_a_restarted_node_is_found_again(self):
        address = self.reserved_address()
        node = self.start_node(grpc_listen=address)
        a, b = (self.tls_worker(node, name) for name in ("a", "b"))
        for worker in (a, b):
            worker.env = {"GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS": "0"}  # it must look itself, as the session's attempts do
            self.start(worker)
        self.check_reuse(a, b)
        seen = {worker: len(worker.events) for worker in (a, b)}
        node.kill()
        self.wait_away(a, b)
        self.assertEqual(self.ask(a, prompt(1, 2)).span_tokens_reused, 0)
        for worker in (a, b):  # a line in 10 s: by then attempts are far apart, and gRPC's too
            worker.wait_event("session_failed", after=seen[worker], phase="token")
        self.start_node(grpc_listen=address)
        self.check_reuse(b, a)

    def test_a_certificate_of_strangers_opens_nothing(self):
        strangers = self.make_certificates("strangers", "a")
        node = self.start_node()
        worker = self.start(self.tls_worker(node, "a", certificates=strangers))
        self.check_cacheless(worker, phase="token")
        counters = node.counters()
        self.assertEqual((counters["sessions_opened"], counters["tokens"]), (0, 0))

    def test_without_a_certificate_there_is_no_session(self):
        node = self.start_node()
        worker = self.start(Worker(self, "a", node))  # in dev mode, which this node is not in
        self.check_cacheless(worker, phase="token")
        self.assertEqual(node.counters()["sessions_opened"], 0)

    def test_a_worker_without_certificate_files_does_not_start(self):
        node = self.start_node()
        worker = self.tls_worker(node, "a", certificate="none")
        ran = run("cairn-worker", "--config", worker.config_file)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("certificate_file: cannot read", ran.stderr)

    def test_a_worker_stops_while_it_asks_for_a_token(self):
        with support.socket.socket() as silent:  # connects, and never says anything
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            silent.settimeout(support.TIMEOUT)
            node = Node(self)  # never started
            node.grpc = f"127.0.0.1:{silent.getsockname()[1]}"
            for i in range(8):  # it is a race, and must never be lost
                worker = self.start(self.tls_worker(node, f"a{i}", certificate="a"))
                with silent.accept()[0]:
                    self.assertEqual(worker.stop(), 0, worker.log())


@unittest.skipUnless(os.geteuid() == 0, "running processes as other users needs root")
class OtherUsersTest(TlsCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self._copies = {}

    def as_user(self, process, user):
        """The same process, able to run as that user: its files are readable, and its program too."""
        process.identity = {"user": user, "group": user, "extra_groups": []}
        process.arguments[0] = self.program_for(user, process.arguments[0])
        return process

    def program_for(self, user, program):
        """The program, or a copy of it: a tree in a private folder is out of that user's reach."""
        try:
            subprocess.run([program, "--help"], user=user, group=user, extra_groups=[], capture_output=True, check=True)
            return program
        except PermissionError:
            copy = self._copies.setdefault(program, self.path(os.path.basename(program)))
            if not os.path.exists(copy):
                shutil.copy(program, copy)
                os.chmod(copy, 0o755)
            return copy

    def give(self, path, user):
        os.chown(path, user, user)
        return path

    def home_of(self, user):
        path = self.path(f"home-{user}")
        os.mkdir(path, 0o755)
        return self.give(path, user)

    def start_node_as(self, user, **fields):
        self.give(f"{self.ours}/server.key", user)
        node = Node(self, f"{self.home_of(user)}/node", security=tls_files(self.ours, "server"), **fields)
        node.ctl_flags = tls_flags(self.ours, "admin")
        return self.start(self.as_user(node, user))

    def start_worker_as(self, user, node, name):
        self.give(f"{self.ours}/{name}.key", user)
        self.tiny_model()
        return self.start(self.as_user(self.tls_worker(node, name), user))

    def test_node_and_workers_of_three_users_and_root(self):
        node = self.start_node_as(NODE_USER, sessions={"serve_other_users": True})
        a, b, root = (self.start_worker_as(user, node, name) for user, name in ((A_USER, "a"), (B_USER, "b"), (0, "c")))
        self.check_reuse(a, b, root)
        sessions = node.status()["sessions"]
        self.assertEqual({(s["uid"], s["lane"]) for s in sessions}, {(uid, "other_user") for uid in (A_USER, B_USER, 0)})
        node.wait_event("lane_opened", lane="other_user")
        for process in (node, a, b, root):
            self.assertEqual({address for address, _ in process.listening_at()}, {"127.0.0.1"})
        b.kill()
        node.wait_counters(sessions=2, pins=0)

    def test_a_node_of_root_and_a_worker_of_another_user(self):
        node = self.start_node_as(0, sessions={"serve_other_users": True})
        a, own = (self.start_worker_as(user, node, name) for user, name in ((A_USER, "a"), (0, "b")))
        self.check_reuse(own, a)
        self.assertEqual({(s["uid"], s["lane"]) for s in node.status()["sessions"]}, {(A_USER, "other_user"), (0, "same_user")})

    def test_a_node_for_its_own_user_refuses_others(self):
        node = self.start_node_as(NODE_USER)
        a = self.start_worker_as(A_USER, node, "a")
        self.check_cacheless(a)  # the run folder is closed to it
        root = self.start_worker_as(0, node, "b")
        self.check_cacheless(root)  # the folder is not, but the node looks at who it is
        wait_until(lambda: node.counters()["hello_refused.other_user"] > 0, root.log)
        own = self.start_worker_as(NODE_USER, node, "c")
        self.wait_connected(own)

    def test_dev_mode_serves_its_own_user_only(self):
        node = self.start(self.as_user(Node(self, f"{self.home_of(NODE_USER)}/node"), NODE_USER))
        self.tiny_model()
        a = self.start(self.as_user(Worker(self, "a", node), A_USER))
        self.check_cacheless(a, phase="token")  # which it cannot read
        root = self.start(Worker(self, "root", node))  # which root can
        self.check_cacheless(root)
        wait_until(lambda: node.counters()["hello_refused.other_user"] > 0, root.log)
        self.assertEqual(node.counters()["sessions_opened"], 0)
        own = self.start(self.as_user(Worker(self, "own", node), NODE_USER))
        self.wait_connected(own)


main()
