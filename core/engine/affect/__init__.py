"""The seventh field: seven control fields under a policy, with a lineage, and what they bend."""
