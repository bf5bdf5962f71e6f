"""The demo itself; tools/demo builds what it needs and starts it."""
import argparse
import contextlib
import json
import os
import queue
import shlex
import signal
import sys
import threading
import time

import report
from phases import MAX_TOKENS, Player
from services import Cluster, DemoFailed
from texts import FOLDER, prompts

REQUESTS = 24
NEW_REQUESTS = 8


def say(text, to=sys.stdout):
    print(f"demo: {text}", file=to, flush=True)


def print_what_to_try(cluster, bin_dir, asked):
    request = os.path.join(cluster.folder, "request.json")
    with open(request, "w", encoding="utf-8") as file:
        json.dump({"segments": asked, "max_tokens": MAX_TOKENS, "temperature": 0}, file)
    ctl = shlex.quote(os.path.join(bin_dir, "cairnctl"))
    at = f"--run-dir {shlex.quote(cluster.node.run_dir)}"
    pids = " ".join(str(s.pid) for s in cluster.all() if s.is_running())
    print(f"""
Left running, in {cluster.folder}. To try (twice: the second time usage.cairn tells what was reused):
  curl -s http://{cluster.worker_a.address}/v1/completions -d @{shlex.quote(request)}
  curl -s http://{cluster.worker_b.address}/v1/completions -d @{shlex.quote(request)}
  curl -s http://{cluster.worker_b.address}/health
  {ctl} status {at}
  {ctl} ls --limit 5 {at}
  {ctl} describe KEY {at}        (a KEY of the list above)
  {ctl} verify --all --yes {at}
  {ctl} plan show --placement {cluster.placement.address}
To end it:
  kill {pids}; rm -r {shlex.quote(cluster.folder)}""", flush=True)


def play(cluster, options):
    """All phases; the exit code."""
    begun = time.monotonic()
    asked, new = prompts(REQUESTS, NEW_REQUESTS)
    player = Player(cluster, asked, new, report.print_phase)
    say(f"{REQUESTS} requests a phase; the node and the workers live in {cluster.folder}")
    say("a passage is in three requests, about: also a cold cache warms up on the way; speed-up is over the cacheless worker")
    report.print_head()
    learnt = None
    try:
        player.play()
        learnt = report.Learnt.of(cluster, player.phases)
    finally:
        found = report.faults(player.phases, learnt)
        if options.json:
            report.write_json(options.json, player.phases, learnt, found, time.monotonic() - begun)
    report.print_learnt(learnt, say)
    for fault in found:
        say(f"failed: {fault}", sys.stderr)
    if found:
        return 1
    warm, new = (next(p for p in player.phases if p.name == name) for name in ("warm (worker B)", "warm, new prompts"))
    say(f"good in {time.monotonic() - begun:.0f} s: every answer equals the cacheless one, no request failed, and what another "
        f"worker computed made the first token come {warm.speed_up:.1f} times as fast; {new.speed_up:.1f} times where only "
        f"passages were known (aim: {report.SPEED_UP_AIM:.0f})")
    if options.keep:
        cluster.node.start()
        cluster.wait_connected()
        print_what_to_try(cluster, options.bin, asked[0])
    return 0


def play_and_tell(cluster, options, ends):
    """`play` on a thread of its own. An end that was asked for is what makes it fail then, and needs no word."""
    code = 1
    try:
        code = play(cluster, options)
    except DemoFailed as failure:
        if not cluster.ending.is_asked:
            say(f"failed: {failure}", sys.stderr)
    finally:
        ends.put(code)


def run(options, ends):
    if not os.path.isdir(FOLDER):
        raise DemoFailed(f"there is no {FOLDER}: the demo's texts are those of a Debian system")
    cluster = Cluster(options.bin, options.model)
    player = threading.Thread(target=play_and_tell, args=(cluster, options, ends))
    player.start()
    code = None
    while code is None:
        with contextlib.suppress(queue.Empty):
            code = ends.get(timeout=0.2)  # a signal that another thread took wakes no one: look again
    if code == 0 and options.keep:
        player.join()
        return 0
    cluster.stop()  # whatever the player waits for fails now
    player.join()
    cluster.remove_folder()
    return code


def main():
    parser = argparse.ArgumentParser(prog="demo")
    parser.add_argument("--bin", required=True, help="where the programs are")
    parser.add_argument("--model", required=True)
    parser.add_argument("--json")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    options.bin, options.model = os.path.abspath(options.bin), os.path.abspath(options.model)
    # A signal's handler may run between any two steps of this thread: so this thread only waits, for the first end that comes.
    ends = queue.SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: ends.put(128 + number))
    try:
        return run(options, ends)
    except DemoFailed as failure:
        say(f"failed: {failure}", sys.stderr)
        return 1


sys.exit(main())
