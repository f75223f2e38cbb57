"""The scf dialect: loops and branches as operations with regions."""

from ...ir.dialect import registry
from .branches import *
from .loops import *
from .parallel import *

registry.dialect("scf").doc = __doc__ or ""
