"""One file a driver API, each behind `pykern.runtime.driver`."""
