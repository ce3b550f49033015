"""Instances in SWE-bench format over one small repository, for the tests of the suite and of what a batch leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.sandbox.repositories import git, make

FILES = {
    "total.py": "def total(numbers):\n    return max(numbers)\n",
    "test_total.py": """import unittest

from total import total


class T(unittest.TestCase):
    def test_one(self):
        self.assertEqual(total([4]), 4)
""",
}
HIDDEN = """diff --git a/test_more.py b/test_more.py
new file mode 100644
--- /dev/null
+++ b/test_more.py
@@ -0,0 +1,11 @@
+import unittest
+
+from total import total
+
+
+class More(unittest.TestCase):
+    def test_many(self):
+        self.assertEqual(total([1, 2, 3]), 6)
+
+    def test_alone(self):
+        self.assertEqual(total([7]), 7)
"""
PATCH = """diff --git a/total.py b/total.py
--- a/total.py
+++ b/total.py
@@ -1,2 +1,2 @@
 def total(numbers):
-    return max(numbers)
+    return sum(numbers)
"""
ISSUE_TEST = """diff --git a/test_issue.py b/test_issue.py
new file mode 100644
--- /dev/null
+++ b/test_issue.py
@@ -0,0 +1,8 @@
+import unittest
+
+from total import total
+
+
+class Issue(unittest.TestCase):
+    def test_it(self):
+        self.assertEqual(total([1, 2]), 3)
"""


def make_checkout(folder: Path) -> Path:
    """The repository, and the mapping file that names it."""
    make(folder / "totals", FILES)
    mapping = folder / "checkouts.json"
    mapping.write_text(json.dumps({"acme/totals": {"path": "totals", "test": "python -m unittest -v {files}"}}))
    return mapping


def instance(folder: Path, number: int = 1, **changed: Any) -> dict[str, Any]:
    """One instance; `changed` sets fields, and None takes one out."""
    known = {
        "instance_id": f"acme__totals-{number}",
        "repo": "acme/totals",
        "base_commit": git(folder / "totals", "rev-parse", "HEAD"),
        "version": "1.0",
        "problem_statement": "total([1, 2]) is 2, and should be 3.",
        "hints_text": "",
        "patch": PATCH,
        "test_patch": HIDDEN,
        "FAIL_TO_PASS": json.dumps(["test_more.More.test_many"]),
        "PASS_TO_PASS": json.dumps(["test_more.More.test_alone"]),
    }
    return {name: value for name, value in (known | changed).items() if value is not None}
