"""Whole trees of logs as a dataset in Parquet: made in shares that any process or host may do, asked in SQL."""
