"""Studies: a question, the runs that answer it, what is claimed about them, and one judge for all.

What the author of a study imports::

    from experiments.studies import Claim, Product, Study, at_least, mean, ratio, within
"""

from experiments.studies.claims import Choice as Choice
from experiments.studies.claims import Claim as Claim
from experiments.studies.claims import Parameter as Parameter
from experiments.studies.claims import Premise as Premise
from experiments.studies.claims import Region as Region
from experiments.studies.claims import at_least as at_least
from experiments.studies.claims import at_most as at_most
from experiments.studies.claims import between as between
from experiments.studies.claims import less_than as less_than
from experiments.studies.claims import more_than as more_than
from experiments.studies.claims import within as within
from experiments.studies.figures import Lines as Lines
from experiments.studies.measures import change as change
from experiments.studies.measures import difference as difference
from experiments.studies.measures import largest as largest
from experiments.studies.measures import mean as mean
from experiments.studies.measures import ratio as ratio
from experiments.studies.points import Point as Point
from experiments.studies.product import Product as Product
from experiments.studies.study import Computed as Computed
from experiments.studies.study import Study as Study
from experiments.studies.tables import Means as Means
from experiments.studies.tables import Ratios as Ratios
