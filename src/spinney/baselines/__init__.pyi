from spinney.baselines.balcan import Balcan as Balcan
from spinney.baselines.k_variates import KVariates as KVariates
from spinney.baselines.lloyd import Lloyd as Lloyd
from spinney.baselines.lsh import LSH as LSH
from spinney.baselines.pe_means import PEMeans as PEMeans
from spinney.baselines.point_coverage import PointCoverage as PointCoverage
from spinney.baselines.sample_aggregate import SampleAggregate as SampleAggregate
