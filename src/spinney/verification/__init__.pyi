from spinney.verification.checking import verify as verify
from spinney.verification.keys import make_keys as make_keys
from spinney.verification.report import Check as Check
from spinney.verification.report import Verification as Verification
from spinney.verification.shape import schema as schema
