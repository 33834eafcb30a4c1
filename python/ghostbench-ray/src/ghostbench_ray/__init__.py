"""Makes the requests of ``ghostbench replay --ray``, and the judgements, on the nodes of a Ray cluster.

``ghostbench`` starts ``python -m ghostbench_ray`` and talks to it in JSON Lines. This package carries batches of
cases to workers, and rows back; it knows neither cases nor engines, and decides nothing about a run: ``ghostbench``
notices what is missing or comes twice.

``driver``    connects to the cluster, keeps one worker on each node, spreads batches
``worker``    actor on a node: runs ``ghostbench ray-worker``
``limiter``   actor: lets requests to an engine start at a rate, over all nodes
``shipping``  the files that a node needs
"""

__version__ = "0.1.0"
