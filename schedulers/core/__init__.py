"""The session and its records: book, guard, queue, arrivals. Independent of policies and job models."""
