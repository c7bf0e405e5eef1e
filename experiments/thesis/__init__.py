"""The evaluation of Kopanski's thesis, repeated: its policies, its inputs, its figures, and how close we came."""
