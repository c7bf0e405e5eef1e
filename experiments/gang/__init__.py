"""The evaluation of Zhang et al. (JSSPP 2003): ``spillway study gang``."""
