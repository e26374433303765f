"""A learner's answer: graded, and the mistakes behind a wrong one."""
