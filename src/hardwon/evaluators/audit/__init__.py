"""The evaluators' own exam: attacks on them, and how far each can be trusted before a loop relies on it.

`audit_task` examines one task, `audit_all` many; the command line and the public functions use them. No model is asked.
"""

from __future__ import annotations

from hardwon.evaluators.audit.attack import Attack, Kind
from hardwon.evaluators.audit.exam import audit_task
from hardwon.evaluators.audit.finding import Exam, TaskAudit
from hardwon.evaluators.audit.summary import AuditSummary, audit_all, summarise_audit

__all__ = ["Attack", "AuditSummary", "Exam", "Kind", "TaskAudit", "audit_all", "audit_task", "summarise_audit"]
