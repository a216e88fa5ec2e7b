"""A radix prefix cache may only evict leaves; this package measures what that rule costs."""
