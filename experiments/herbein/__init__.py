"""The evaluation of Herbein et al. (HPDC 2016): ``spillway study herbein``."""
