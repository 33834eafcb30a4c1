"""Writes the traces of a ``ghostbench collect`` server as Parquet files.

A copy has one file for each developer and day, so that a deletion on the server is the deletion of folders here: the
server gives what remains of a developer a new name. Every step may be repeated, and a killed one is.

``server``   pages of rows, and what the server has deleted
``table``    rows as a table
``copy``     the files: merging pages, deleting, and the cursor
"""

__version__ = "0.1.0"
