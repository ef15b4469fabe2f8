from pykern.testing import lit as pykern_lit

pykern_lit.configure(config, lit_config, __file__)  # noqa: F821 - both names are given by lit
