"""The evaluation of Zhang et al. (JSSPP 2003): ``run_experiments.py gang``."""
