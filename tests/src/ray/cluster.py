"""A Ray cluster on this machine: lines of standard input kill nodes, or wait until none is in use, until the input ends.

Arguments: the number of nodes beside the head, which makes no requests.
"""

import json
import sys
import time

import ray
from ray.cluster_utils import Cluster

# Bytes of each node's object store: small, because tests move little.
OBJECT_STORE = 80 << 20

# A lost node is noticed after these two, multiplied.
SYSTEM = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}


def report(**message: object) -> None:
    sys.__stdout__.write(json.dumps(message) + "\n")
    sys.__stdout__.flush()


def wait_until_idle(address: str, nodes: int) -> None:
    ray.init(address=address, log_to_driver=False)
    while ray.available_resources().get("CPU", 0) < nodes:
        time.sleep(0.05)
    ray.shutdown()


def main() -> None:
    sys.stdout = sys.stderr
    head = {
        "num_cpus": 0,
        "object_store_memory": OBJECT_STORE,
        "include_dashboard": False,
        "_system_config": SYSTEM,
    }
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = []
    try:
        for _ in range(int(sys.argv[1])):
            nodes.append(cluster.add_node(num_cpus=1, object_store_memory=OBJECT_STORE))
        cluster.wait_for_nodes()
        report(address=cluster.address)
        for line in sys.stdin:
            command, _, number = line.strip().partition(" ")
            if command == "kill":
                cluster.remove_node(nodes[int(number)], allow_graceful=False)
            elif command == "add":
                nodes.append(cluster.add_node(num_cpus=1, object_store_memory=OBJECT_STORE))
            elif command == "idle":
                wait_until_idle(cluster.address, len(nodes))
            report(done=command)
    finally:
        cluster.shutdown()


main()
