"""The evaluation of Singh & Carretero 2019, repeated, and malleable jobs on a whole machine."""
