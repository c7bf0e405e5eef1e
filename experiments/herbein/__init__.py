"""The evaluation of Herbein et al. (HPDC 2016): ``run_experiments.py herbein``."""
