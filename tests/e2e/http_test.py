"""What a worker answers to bad requests, and how it refuses bad files."""
import json
import os
import socket
import struct

import tiny_model
from support import main, run, tls_files
from worker_support import Worker, WorkerCase, prompt, wait_until


class HttpErrorTest(WorkerCase):
    def setUp(self):
        super().setUp()
        self.worker = self.start(Worker(self))

    def refused(self, status, words, body, path="/v1/completions", method="POST"):
        got, text = self.worker.post(path, body if isinstance(body, (str, bytes, type(None))) else json.dumps(body), method)
        self.assertEqual(got, status, text)
        error = json.loads(text)["error"]
        self.assertEqual(sorted(error), ["code", "message", "param", "type"])
        self.assertEqual((error["type"], error["code"]), ("invalid_request_error", status))
        self.assertIn(words, error["message"])

    def test_what_is_no_json(self):
        for body in ("", "{", '{"prompt": "a"', '{"prompt": "a"} x', "[1, 2", b'{"prompt": "\xff\xfe"}', "[" * 5000,
                     '{"prompt": ' * 40):
            self.refused(400, "no JSON", body)
        self.refused(400, "no JSON object", "[]")

    def test_wrong_types_and_ranges_name_their_field(self):
        for body, words in (({"prompt": 7}, "prompt: expected"), ({"prompt": ["a", "b"]}, "prompt[0]: expected"),
                            ({"prompt": [-1]}, "prompt[0]: expected"), ({"prompt": [1e30]}, "prompt[0]: expected"),
                            ({"prompt": [999]}, "token 999 is not below the vocabulary"),
                            ({"prompt": "a", "max_tokens": "8"}, "max_tokens: expected"),
                            ({"prompt": "a", "max_tokens": -1}, "max_tokens: expected"),
                            ({"prompt": "a", "max_tokens": 1 << 40}, "max_tokens: "),
                            ({"prompt": "a", "temperature": 9}, "temperature: 9"),
                            ({"prompt": "a", "temperature": "hot"}, "temperature: expected"),
                            ({"prompt": "a", "stream": 1}, "stream: expected"),
                            ({"prompt": "a", "stop": [1]}, "stop: expected"),
                            ({"prompt": "a", "n": 2}, "n: not supported"),
                            ({"prompt": "a", "frob": 1}, "frob: unknown field"),
                            ({"segments": {}}, "segments: expected a list"),
                            ({"segments": [{"kind": "chunk", "text": "a"}]}, "segments[0].kind: expected"),
                            ({"segments": [{"kind": "span"}]}, "segments[0]: give either text or tokens"),
                            ({"segments": [{"kind": "span", "text": 1}]}, "segments[0].text: expected"),
                            ({}, "give either prompt or segments"), ({"prompt": "a", "segments": []}, "give either"),
                            ({"prompt": ""}, "the prompt is empty"), ({"segments": []}, "the prompt is empty")):
            self.refused(400, words, body)

    def test_an_unknown_model(self):
        self.refused(404, f'serves the model "{tiny_model.NAME}"', {"model": "gpt-9", "prompt": "a"})

    def test_a_prompt_too_long(self):
        self.refused(400, str(tiny_model.POSITIONS), {"prompt": "a" * (tiny_model.POSITIONS + 1)})
        self.refused(400, str(tiny_model.POSITIONS), {"prompt": "a" * 100, "max_tokens": tiny_model.POSITIONS - 50})

    def test_a_body_too_large(self):
        small = self.start(Worker(self, "small", http={"body_bytes_max": "1KiB"}))
        self.worker = small
        self.refused(413, "1024", {"prompt": "a" * 2000})

    def test_paths_and_methods(self):
        self.refused(404, "nothing at this path", {"prompt": "a"}, path="/v1/chat")
        self.refused(404, "nothing at this path", None, path="/", method="GET")
        self.refused(405, "use POST", None, method="GET")
        self.refused(405, "use GET", "{}", path="/health")
        self.refused(405, "use GET", "{}", path="/v1/models")

    def test_it_serves_on_after_all_of_that(self):
        self.refused(400, "no JSON", "}")
        self.ask(self.worker, prompt(1))
        self.assertEqual(json.loads(self.worker.post("/v1/models", None, "GET")[1])["data"][0]["id"], tiny_model.NAME)
        health = self.worker.health()
        self.assertEqual((health["status"], health["node"]), ("ok", "none"))

    def test_a_whole_answer_says_what_a_streamed_one_does(self):
        body = {"segments": prompt(1), "max_tokens": 8, "temperature": 0, "model": tiny_model.NAME}
        status, text = self.worker.post("/v1/completions", json.dumps(body))
        self.assertEqual(status, 200, text)
        whole = json.loads(text)
        self.assertEqual(whole["usage"]["cairn"]["completion_token_ids"], self.expected(prompt(1)))
        self.assertEqual((whole["object"], whole["choices"][0]["finish_reason"], whole["usage"]["completion_tokens"]),
                         ("text_completion", "length", 8))

    def test_a_sampled_answer_follows_its_seed(self):
        answers = [self.worker.ask(prompt(1), 16, temperature=1.0, seed=seed).tokens for seed in (5, 5, 6)]
        self.assertEqual(answers[0], answers[1])
        self.assertNotEqual(answers[0], answers[2])


class BadFileTest(WorkerCase):
    def refused(self, name, content, words=""):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content)
        worker = Worker(self, "refuses", model=path)
        ran = run("cairn-worker", "--config", worker.config_file)
        self.assertEqual(ran.returncode, 1, f"{name}: {ran.stderr}")
        self.assertIn(f"cairn-worker: {path}: ", ran.stderr)
        self.assertIn(words, ran.stderr)

    def test_truncated_files(self):
        whole = tiny_model.gguf()
        for length in (0, 3, 4, 23, 24, 100, 1000, 5000, len(whole) // 2, len(whole) - 1):
            self.refused(f"cut-{length}.gguf", whole[:length])

    def test_hostile_files(self):
        whole = bytearray(tiny_model.gguf())

        def with_uint64(at, value):
            return bytes(whole[:at] + struct.pack("<Q", value) + whole[at + 8:])
        self.refused("magic.gguf", b"GGML" + whole[4:])
        self.refused("text.gguf", b"#!/bin/sh\necho this is no model\n" * 100)
        self.refused("version.gguf", bytes(whole[:4] + struct.pack("<I", 99) + whole[8:]))
        for value in (0, 1 << 20, 1 << 62, (1 << 64) - 1):
            self.refused(f"tensors-{value}.gguf", with_uint64(8, value))
            self.refused(f"pairs-{value}.gguf", with_uint64(16, value))
        self.refused("key.gguf", with_uint64(24, (1 << 64) - 8))  # the length of the first key
        heads = whole.index(b"llama.attention.head_count") + len("llama.attention.head_count") + 4
        for value in (0, 3, 0xffffffff):
            self.refused(f"heads-{value}.gguf", bytes(whole[:heads] + struct.pack("<I", value) + whole[heads + 4:]))
        shape = whole.index(b"token_embd.weight") + len("token_embd.weight") + 4
        for value in (0, 63, 1 << 40, 1 << 63):
            self.refused(f"shape-{value}.gguf", with_uint64(shape, value))
        self.refused("offset.gguf", with_uint64(shape + 20, 1 << 50))

    def test_no_file_and_a_folder(self):
        for path in (self.path("no-such.gguf"), self.folder):
            ran = run("cairn-worker", "--config", Worker(self, "refuses", model=path).config_file)
            self.assertEqual(ran.returncode, 1, ran.stderr)
            self.assertIn(path, ran.stderr)

    def test_bad_configurations_exit_with_2(self):
        good = {"model": {"file": self.tiny_model()}}
        for fields, words in (({"frob": 1}, "frob: unknown field"), ({"engine": {"kv_dtype": "int3"}}, "engine.kv_dtype"),
                              ({"engine": {"block_tokens": 17}}, "engine.block_tokens"),
                              ({"cache": {"node_run_dir": "x"}}, "cache.namespace"),
                              ({"cache": {"node_run_dir": "x", "single_tenant": True}}, "cache.security"),
                              ({"cache": {"node_run_dir": "x", "single_tenant": True, "node_grpc": "127.0.0.1:1",
                                          "security": tls_files("/no/such", "worker")}}, "cache.security.tls.ca_file"),
                              ({"drain_timeout": "2h"}, "drain_timeout"),
                              ({"http": {"listen": "localhost:0"}}, "http.listen"),
                              ({"http": {"listen": "127.0.0.1"}}, "http.listen"),
                              ({"http": {"idle_timeout": "1ns"}}, "http.idle_timeout"),
                              ({"engine": {"tier": "AVX2"}}, "engine.tier"),
                              ({"engine": {"tier": "cuda-fast"}}, "engine.tier"),
                              ({"engine": {"tier": "cuda", "kv_dtype": "f32"}}, "engine.kv_dtype"),
                              ({"engine": {"tier": "cuda-wgmma", "kv_dtype": "f32"}}, "engine.kv_dtype"),
                              ({"cache": {"offer_timeout": "8760h"}}, "cache.offer_timeout"),
                              ({"cache": {"acquire_timeout": "0s"}}, "cache.acquire_timeout"),
                              ({"cache": {"node_run_dir": "x", "single_tenant": True, "node_grpc": "here",
                                          "security": {"dev_mode_without_tls": True}}}, "cache.node_grpc")):
            path = self.write("bad.yaml", json.dumps({**good, **fields}))
            ran = run("cairn-worker", "--config", path, "--check_config")
            self.assertEqual(ran.returncode, 2, f"{words}: {ran.stderr}")
            self.assertIn(words, ran.stderr)
        self.assertEqual(run("cairn-worker", "--config", self.write("good.yaml", json.dumps(good)), "--check_config").returncode, 0)

    def test_idle_clients_leave_descriptors_for_the_rest(self):
        worker = Worker(self, "few")
        worker.arguments = ["bash", "-c", 'ulimit -n 300 && exec "$0" "$@"', *worker.arguments]
        self.start(worker)
        lowered = worker.wait_event("connections_max_lowered").values
        self.assertEqual((lowered["from"], lowered["to"], lowered["open_files_max"]), ("256", "150", "300"))
        host, port = worker.address.split(":")
        idle = [socket.create_connection((host, int(port))) for _ in range(200)]
        status, text = worker.post("/health", None, "GET")
        self.assertEqual(status, 503, text)
        self.assertIn("too many connections", text)
        for one in idle:
            one.close()
        wait_until(lambda: worker.post("/health", None, "GET")[0] == 200, worker.log)

    def test_without_a_gpu_or_nvcc_tier_cuda_says_why_not(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is a GPU")
        for tier in ("cuda", "cuda-wgmma-products", "cuda-wgmma"):
            worker = self.launch(Worker(self, tier, engine={"tier": tier}))
            self.assertEqual(worker.wait(), 1)
            # Which has heads of 16: the last tier has no kernels for them on any machine.
            self.assertRegex(worker.log(), r"(?i)built where there was no nvcc|GPU|CUDA driver|does not serve heads of 16")

    def test_a_taken_port_is_named(self):
        first = self.start(Worker(self, "first"))
        second = self.launch(Worker(self, "second", http={"listen": first.address}))
        self.assertEqual(second.wait(), 1)
        self.assertIn(first.address, second.log())

    def test_it_stops_in_order(self):
        worker = self.start(Worker(self))
        self.assertEqual(worker.stop(), 0, worker.log())


main()
