"""The evaluation of Jeannot, Pallez and Vidal (IJHPCA 2023), repeated."""
