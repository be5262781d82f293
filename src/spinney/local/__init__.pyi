from spinney.local.aggregation import ReportTally as ReportTally
from spinney.local.aggregation import aggregate as aggregate
from spinney.local.device import respond as respond
from spinney.local.refined import Refined as Refined
from spinney.local.session import Session as Session
from spinney.local.session import policy_of as policy_of
from spinney.local.stable import StableLocal as StableLocal
