"""Time sharing: the Ousterhout matrix, the steps that recompute it, and the arithmetic of slices. Pure, no wire."""
