"""The session and what it keeps: book, guard, queue, arrivals. Independent of policies and job models."""
