#!/usr/bin/env bash
# Ray 2.60.0 runs the code of tasks, actors and Ray Data's stages at niceness 15; only the driver keeps its own.
#
# A worker lowers its priority as it starts (`worker_niceness`, 15 by default: ray-project/ray, pull request 24928 and issue
# 33287). On a machine that does nothing else nobody sees it. Beside any other work at the usual priority (a server of
# models, a benchmark of the same code without Ray, a test suite) the scheduler gives a worker about a thirtieth of the
# share of a core that the other gets, so that a pipeline which takes seconds alone takes minutes, and a comparison
# with a plain loop on busy cores measures the priority. Ray says nothing of it, and neither `num_cpus` nor `ray_remote_args`
# changes it: `RAY_worker_niceness=0` in the environment of the node does.
#
# Seen on 30 November 2026, with Python 3.11 on Linux:
#   driver 0, task 15, actor 15, stage of Ray Data 15
#   with RAY_worker_niceness=0: driver 0, task 0, actor 0, stage of Ray Data 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "ray[data]==2.60.0"

cat > "$folder/levels.py" <<'PYTHON'
import os
import sys

import ray

ray.init("local", num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
ray.data.DataContext.get_current().enable_progress_bars = False


@ray.remote
def task():
    return os.nice(0)


@ray.remote
class Actor:
    def level(self):
        return os.nice(0)


stage = ray.data.range(1).map(lambda row: {"level": os.nice(0)}).take_all()[0]["level"]
levels = os.nice(0), ray.get(task.remote()), ray.get(Actor.remote().level.remote()), stage
print("driver {}, task {}, actor {}, stage of Ray Data {}".format(*levels))
sys.exit(0 if set(levels[1:]) == {int(sys.argv[1])} else "this has changed")
PYTHON
"$folder/venv/bin/python" "$folder/levels.py" 15 2>/dev/null
echo -n "with RAY_worker_niceness=0: "
RAY_worker_niceness=0 "$folder/venv/bin/python" "$folder/levels.py" 0 2>/dev/null
