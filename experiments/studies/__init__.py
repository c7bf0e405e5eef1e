"""Studies: a question, the runs that answer it, claims about them, and one judge for all.

Imports for the author of a study::

    from spillway.experiments.studies import Claim, Product, Study, at_least, mean, ratio, within
"""

from spillway.experiments.studies.claims import Choice as Choice
from spillway.experiments.studies.claims import Claim as Claim
from spillway.experiments.studies.claims import Parameter as Parameter
from spillway.experiments.studies.claims import Premise as Premise
from spillway.experiments.studies.claims import Region as Region
from spillway.experiments.studies.claims import at_least as at_least
from spillway.experiments.studies.claims import at_most as at_most
from spillway.experiments.studies.claims import between as between
from spillway.experiments.studies.claims import less_than as less_than
from spillway.experiments.studies.claims import more_than as more_than
from spillway.experiments.studies.claims import within as within
from spillway.experiments.studies.figures import Lines as Lines
from spillway.experiments.studies.measures import difference as difference
from spillway.experiments.studies.measures import mean as mean
from spillway.experiments.studies.measures import ratio as ratio
from spillway.experiments.studies.points import Point as Point
from spillway.experiments.studies.product import Product as Product
from spillway.experiments.studies.study import SEEDS as SEEDS
from spillway.experiments.studies.study import ComputedPoints as ComputedPoints
from spillway.experiments.studies.study import Study as Study
from spillway.experiments.studies.tables import Means as Means
from spillway.experiments.studies.tables import Ratios as Ratios
