from . import leaf
