"""Time sharing: the Ousterhout matrix, the steps that lay it out anew, and the arithmetic of slices. Pure, no wire."""
