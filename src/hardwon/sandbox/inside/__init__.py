"""What runs behind the wall: stdlib-only scripts that the sandbox binds read-only into each sandboxed interpreter.

Nothing here imports the rest of Hardwon, and only `hardwon.sandbox` may use it.
"""
