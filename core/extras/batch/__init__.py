"""Whole trees of logs as a dataset in Parquet: in shares that any host may do, asked in SQL."""
